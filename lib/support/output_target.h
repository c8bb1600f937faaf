// Resolves an output path to the file, device or descriptor that a write to it reaches.
// Private to lib/support.
#ifndef GRAPNEL_LIB_SUPPORT_OUTPUT_TARGET_H_
#define GRAPNEL_LIB_SUPPORT_OUTPUT_TARGET_H_

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct OutputTarget {
  enum class Kind {
    kFile,        // an existing or new regular file
    kSpecial,     // a device or a pipe: written directly, because other processes use it
    kDescriptor,  // an open file of this process: /dev/stdout, /dev/fd/3, >(a process)
  };
  Kind kind = Kind::kFile;
  std::string path, folder;  // with symbolic links resolved; `path` is in `folder`
  int descriptor = -1;
};

// Follows the symbolic links of `path`; a link to a file that does not exist names a new file.
// Errors: the target is a directory or not writable, or there are too many links. The errors do not
// name the path.
Expected<OutputTarget> FindOutputTarget(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_OUTPUT_TARGET_H_
