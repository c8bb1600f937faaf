// Names files in reports for code hosts.
#ifndef GRAPNEL_LIB_POLICY_FILE_URI_H_
#define GRAPNEL_LIB_POLICY_FILE_URI_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns an RFC 3986 reference to a file, relative to the root of the working directory's git
// repository, else of the file's repository; symbolic links to directories are resolved. Without a
// repository, the reference is relative to the working directory; files outside it are
// "file:///...". A path that does not exist is only percent-encoded and, if absolute, prefixed with
// "file://".
std::string FileUri(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_FILE_URI_H_
