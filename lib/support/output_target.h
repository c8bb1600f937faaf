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
    kSpecial,     // another file, such as a device or a pipe: written directly
    kDescriptor,  // an open file of this process: /dev/stdout, /dev/fd/3, >(a process)
  };
  Kind kind = Kind::kFile;
  std::string path, folder;  // of a kFile or kSpecial, with links resolved; `path` is in `folder`
  int descriptor = -1;
};

// Follows the symbolic links of `path`; a link to a file that does not exist names a new file.
// Errors, for example that the target is a directory, do not name the path.
Expected<OutputTarget> FindOutputTarget(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_OUTPUT_TARGET_H_
