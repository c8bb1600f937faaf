// The embedded files of the page: those in lib/serve/web/, and those for pictures in
// lib/render/web/.
#ifndef GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_
#define GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_

#include <string>

#include "lib/render/web/web_file.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

llvm::ArrayRef<WebFile> WebFiles();
// Returns the file of that name; nullptr if there is none.
const WebFile* FindWebFile(llvm::StringRef name);

// Returns the modules that the page loads: NAME_tab.js of each tab, then page.js, which shows the
// tabs.
llvm::ArrayRef<llvm::StringRef> PageScripts();
// The element of index.html that loads page.js.
inline constexpr llvm::StringLiteral kScriptOfPage =
    "<script type=\"module\" src=\"page.js\"></script>";
// The elements of index.html that load the style sheets.
inline constexpr llvm::StringLiteral kStylesOfPage =
    "<link rel=\"stylesheet\" href=\"theme.css\">\n<link rel=\"stylesheet\" href=\"page.css\">";
// Returns the hash by which a Content-Security-Policy allows an inline script or style.
std::string PolicyHash(llvm::StringRef text);

// index.html with all files inlined, so that a browser needs only one request. Documents are
// inserted between `before` and `after`.
struct PageInOne {
  std::string before, after;
  std::string script_hash, style_hash;
};
const PageInOne& WholePage();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_
