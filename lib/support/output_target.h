// Where the bytes go that are written to a path. Private to lib/support.
#ifndef GRAPNEL_LIB_SUPPORT_OUTPUT_TARGET_H_
#define GRAPNEL_LIB_SUPPORT_OUTPUT_TARGET_H_

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct OutputTarget {
  enum class Kind {
    kFile,        // there already, or new
    kSpecial,     // a device or a pipe: replacing it would take it from others
    kDescriptor,  // an open file of this process: /dev/stdout, /dev/fd/3, >(a process)
  };
  Kind kind = Kind::kFile;
  std::string path, folder;  // without links; `path` is in `folder`
  int descriptor = -1;
};

// Follows links; one that leads nowhere yet names a new file. Errors: a folder, a file that may not
// be written, more links than make sense. They do not name the path.
Expected<OutputTarget> FindOutputTarget(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_OUTPUT_TARGET_H_
