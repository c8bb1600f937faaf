// Puts lib/serve/web/ into the binary.
#include "lib/serve/web/web_files.h"

#include <vector>

#include "lib/support/embed.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

// The build lists the files: X(symbol, name) for each.
#define X(symbol, file) GRAPNEL_EMBED_FILE("grapnel_web_" #symbol, "lib/serve/web/" file);
#include "lib/serve/web_files.inc"
#undef X

extern "C" {
#define X(symbol, file)                             \
  extern const char grapnel_web_##symbol##_begin[]; \
  extern const char grapnel_web_##symbol##_end[];
#include "lib/serve/web_files.inc"
#undef X
}

namespace grapnel {
llvm::ArrayRef<WebFile> WebFiles() {
#define X(symbol, file) \
  EmbeddedWebFile(file, grapnel_web_##symbol##_begin, grapnel_web_##symbol##_end),
  static const std::vector<WebFile> files = [] {
    std::vector<WebFile> all = PictureFiles().vec();
    all.insert(all.end(), {
#include "lib/serve/web_files.inc"
                          });
    return all;
  }();
#undef X
  return files;
}

const WebFile* FindWebFile(llvm::StringRef name) {
  const auto* found =
      llvm::find_if(WebFiles(), [&](const WebFile& file) { return file.name == name; });
  return found == WebFiles().end() ? nullptr : found;
}

llvm::ArrayRef<llvm::StringRef> PageScripts() {
  static const std::vector<llvm::StringRef> scripts = [] {
    std::vector<llvm::StringRef> names;
    for (const WebFile& file : WebFiles())
      if (file.name.ends_with("_tab.js")) names.push_back(file.name);
    llvm::sort(names);
    names.push_back("page.js");
    return names;
  }();
  return scripts;
}

std::string PageHtml() {
  auto [before, after] = FindWebFile("index.html")->text.split(kScriptOfPage);
  std::string html = before.str();
  for (llvm::StringRef script : PageScripts())
    html += ("<script type=\"module\" src=\"" + script + "\"></script>\n").str();
  return html + after.str();
}

}  // namespace grapnel
