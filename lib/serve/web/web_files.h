// The files of the page (lib/serve/web/), in the binary.
#ifndef GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_
#define GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct WebFile {
  llvm::StringRef name;  // "page.js"
  llvm::StringRef type;  // "text/javascript; charset=utf-8"
  llvm::StringRef text;
};

llvm::ArrayRef<WebFile> WebFiles();
// nullptr when there is none of that name.
const WebFile* FindWebFile(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_
