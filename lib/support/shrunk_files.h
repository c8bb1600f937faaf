// Files that others cut short while they are mapped.
#ifndef GRAPNEL_LIB_SUPPORT_SHRUNK_FILES_H_
#define GRAPNEL_LIB_SUPPORT_SHRUNK_FILES_H_

namespace grapnel {

// From now on, what is read of a mapping behind the end of its file is zeros, where it would end
// the process (SIGBUS). For programs that keep files open for long; what was read from such a file
// means nothing any more. Once is enough.
void ReadZerosBehindFileEnds();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_SHRUNK_FILES_H_
