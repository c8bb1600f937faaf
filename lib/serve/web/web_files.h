// The files of the page (lib/serve/web/, and those of pictures in lib/render/web/), in the binary.
#ifndef GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_
#define GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_

#include <string>

#include "lib/render/web/web_file.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

llvm::ArrayRef<WebFile> WebFiles();
// nullptr when there is none of that name.
const WebFile* FindWebFile(llvm::StringRef name);

// The modules that a page begins with: each tab's (NAME_tab.js), then page.js, which shows them.
llvm::ArrayRef<llvm::StringRef> PageScripts();
// Where index.html names page.js alone.
inline constexpr llvm::StringLiteral kScriptOfPage =
    "<script type=\"module\" src=\"page.js\"></script>";
// And its style sheets.
inline constexpr llvm::StringLiteral kStylesOfPage =
    "<link rel=\"stylesheet\" href=\"theme.css\">\n<link rel=\"stylesheet\" href=\"page.css\">";
// How a Content-Security-Policy names a script or a style that stands in the page itself.
std::string PolicyHash(llvm::StringRef text);

// index.html with all of them in it, so that a browser asks once. Documents stand between the two
// parts.
struct PageInOne {
  std::string before, after;
  std::string script_hash, style_hash;
};
const PageInOne& WholePage();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_
