// The embedded files of the page (lib/serve/web/, and those for pictures in lib/render/web/).
#ifndef GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_
#define GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_

#include <string>

#include "lib/render/web/web_file.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

llvm::ArrayRef<WebFile> WebFiles();
// nullptr if there is no file of that name.
const WebFile* FindWebFile(llvm::StringRef name);

// The modules that the page loads: each tab's (NAME_tab.js), then page.js, which shows them.
llvm::ArrayRef<llvm::StringRef> PageScripts();
// The element of index.html that loads page.js.
inline constexpr llvm::StringLiteral kScriptOfPage =
    "<script type=\"module\" src=\"page.js\"></script>";
// The elements that load its style sheets.
inline constexpr llvm::StringLiteral kStylesOfPage =
    "<link rel=\"stylesheet\" href=\"theme.css\">\n<link rel=\"stylesheet\" href=\"page.css\">";
// Returns the hash by which a Content-Security-Policy allows an inline script or style.
std::string PolicyHash(llvm::StringRef text);

// index.html with all files inlined, so that a browser needs one request. Documents are inserted
// between the two parts.
struct PageInOne {
  std::string before, after;
  std::string script_hash, style_hash;
};
const PageInOne& WholePage();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WEB_WEB_FILES_H_
