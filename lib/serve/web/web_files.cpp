// Puts lib/serve/web/ into the binary. The assembler finds the files by the compiler's -I; ccache
// never keeps a file with .incbin.
#include "lib/serve/web/web_files.h"

#include "llvm/ADT/STLExtras.h"

#define GRAPNEL_WEB_FILE(symbol, file)                   \
  asm(".section .rodata.grapnel_web, \"a\", %progbits\n" \
      ".globl grapnel_web_" symbol                       \
      "_begin\n"                                         \
      ".hidden grapnel_web_" symbol                      \
      "_begin\n"                                         \
      "grapnel_web_" symbol                              \
      "_begin:\n"                                        \
      ".incbin \"lib/serve/web/" file                    \
      "\"\n"                                             \
      ".globl grapnel_web_" symbol                       \
      "_end\n"                                           \
      ".hidden grapnel_web_" symbol                      \
      "_end\n"                                           \
      "grapnel_web_" symbol                              \
      "_end:\n"                                          \
      ".byte 0\n"                                        \
      ".text\n");

// The build lists the files: X(symbol, name) for each.
#define X(symbol, file) GRAPNEL_WEB_FILE(#symbol, file)
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
namespace {

llvm::StringRef TypeOf(llvm::StringRef name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/javascript; charset=utf-8";
}

WebFile MakeFile(llvm::StringRef name, const char* begin, const char* end) {
  return {name, TypeOf(name), llvm::StringRef(begin, end - begin)};
}

}  // namespace

llvm::ArrayRef<WebFile> WebFiles() {
#define X(symbol, file) MakeFile(file, grapnel_web_##symbol##_begin, grapnel_web_##symbol##_end),
  static const WebFile files[] = {
#include "lib/serve/web_files.inc"
  };
#undef X
  return files;
}

const WebFile* FindWebFile(llvm::StringRef name) {
  const auto* found =
      llvm::find_if(WebFiles(), [&](const WebFile& file) { return file.name == name; });
  return found == WebFiles().end() ? nullptr : found;
}

}  // namespace grapnel
