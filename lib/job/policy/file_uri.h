// How a report that a code host reads names a file.
#ifndef GRAPNEL_LIB_JOB_POLICY_FILE_URI_H_
#define GRAPNEL_LIB_JOB_POLICY_FILE_URI_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// A reference (RFC 3986) from the root of the repository on, wherever in it the program runs, and
// whatever link leads there: that of the working folder, else the file's own. Where there is no
// repository, from the working folder on; a file elsewhere is "file:///...". What is not
// there is named as it is given.
std::string FileUri(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_POLICY_FILE_URI_H_
