// Files of the web page that are embedded in the binary, and the list of those that draw pictures.
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

// Makes a file from its name and its bytes (lib/support/embed.h).
WebFile EmbeddedWebFile(llvm::StringRef name, const char* begin, const char* end);

// Returns the embedded files of lib/render/web: layout, drawing and colors of boxes and lines.
llvm::ArrayRef<WebFile> PictureFiles();
// Returns the file of that name in PictureFiles(); nullptr if there is none.
const WebFile* FindPictureFile(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_WEB_WEB_FILE_H_
