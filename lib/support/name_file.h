// Puts a file's path before errors about the file.
#ifndef GRAPNEL_LIB_SUPPORT_NAME_FILE_H_
#define GRAPNEL_LIB_SUPPORT_NAME_FILE_H_

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Prefixes the text of `error` with "path: ", unless it begins with the path: some functions below
// a job know the file and name it, others do not. Success stays success.
Error NameFile(llvm::StringRef path, Error error);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_NAME_FILE_H_
