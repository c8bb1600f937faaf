// The files of a page, in the binary: here those that pictures need too.
#ifndef GRAPNEL_LIB_RENDER_WEB_WEB_FILE_H_
#define GRAPNEL_LIB_RENDER_WEB_WEB_FILE_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct WebFile {
  llvm::StringRef name;  // "page.js"
  llvm::StringRef type;  // "text/javascript; charset=utf-8"
  llvm::StringRef text;
};

// A file by its name and its bytes, as lib/support/embed.h has them.
WebFile EmbeddedWebFile(llvm::StringRef name, const char* begin, const char* end);

// Those of lib/render/web: how boxes and lines are placed and drawn, and the colors of both.
llvm::ArrayRef<WebFile> PictureFiles();
// nullptr when there is none of that name.
const WebFile* FindPictureFile(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_WEB_WEB_FILE_H_
