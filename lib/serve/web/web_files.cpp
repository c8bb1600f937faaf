// Embeds lib/serve/web/ in the binary.
#include "lib/serve/web/web_files.h"

#include <array>
#include <vector>

#include "lib/render/web/script_bundle.h"
#include "lib/support/embed.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"

// web_files.inc, which the build writes, has X(symbol, name) for each file.
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

std::string PolicyHash(llvm::StringRef text) {
  std::array<uint8_t, 32> hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return "'sha256-" + llvm::encodeBase64(hash) + "'";
}

const PageInOne& WholePage() {
  static const PageInOne page = [] {
    // The embedded modules are the same in every run, so bundling them cannot fail.
    std::string script = llvm::cantFail(BundleScripts(PageScripts(), FindWebFile));
    std::string style = (FindWebFile("theme.css")->text + FindWebFile("page.css")->text).str();
    auto [before_style, after_style] = FindWebFile("index.html")->text.split(kStylesOfPage);
    auto [before_script, after_script] = after_style.split(kScriptOfPage);
    return PageInOne{(before_style + "<style>" + style + "</style>" + before_script).str(),
                     ("<script>" + script + "</script>" + after_script).str(), PolicyHash(script),
                     PolicyHash(style)};
  }();
  return page;
}

}  // namespace grapnel
