// Names files in reports for code hosts.
#ifndef GRAPNEL_LIB_JOB_POLICY_FILE_URI_H_
#define GRAPNEL_LIB_JOB_POLICY_FILE_URI_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns an RFC 3986 reference relative to the repository's root, regardless of the working
// directory inside it and of symbolic links: the repository of the working directory, else the
// file's own. Without a repository, relative to the working directory; files elsewhere are
// "file:///...". A path that does not exist is returned as given.
std::string FileUri(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_POLICY_FILE_URI_H_
