// Embeds lib/render/web/ in the binary.
#include "lib/render/web/web_file.h"
#include "lib/support/embed.h"
#include "llvm/ADT/STLExtras.h"

// web_files.inc, which the build writes, has X(symbol, name) for each file.
#define X(symbol, file) GRAPNEL_EMBED_FILE("grapnel_picture_" #symbol, "lib/render/web/" file);
#include "lib/render/web_files.inc"
#undef X

extern "C" {
#define X(symbol, file)                                 \
  extern const char grapnel_picture_##symbol##_begin[]; \
  extern const char grapnel_picture_##symbol##_end[];
#include "lib/render/web_files.inc"
#undef X
}

namespace grapnel {
namespace {

llvm::StringRef TypeOf(llvm::StringRef name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/javascript; charset=utf-8";
}

}  // namespace

WebFile EmbeddedWebFile(llvm::StringRef name, const char* begin, const char* end) {
  return {name, TypeOf(name), llvm::StringRef(begin, end - begin)};
}

llvm::ArrayRef<WebFile> PictureFiles() {
#define X(symbol, file) \
  EmbeddedWebFile(file, grapnel_picture_##symbol##_begin, grapnel_picture_##symbol##_end),
  static const WebFile files[] = {
#include "lib/render/web_files.inc"
  };
#undef X
  return files;
}

const WebFile* FindPictureFile(llvm::StringRef name) {
  llvm::ArrayRef<WebFile> files = PictureFiles();
  const auto* found = llvm::find_if(files, [&](const WebFile& file) { return file.name == name; });
  return found == files.end() ? nullptr : found;
}

}  // namespace grapnel
