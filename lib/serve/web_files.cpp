// Puts lib/serve/web/ into the binary. The assembler finds the files by the compiler's -I; ccache
// never keeps a file with .incbin.
#include "lib/serve/web_files.h"

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

// name of the symbol, file name
#define GRAPNEL_WEB_FILES(X)                   \
  X(index, "index.html")                       \
  X(page_css, "page.css")                      \
  X(colours, "colours.js")                     \
  X(debugger_card, "debugger_card.js")         \
  X(debugger_source, "debugger_source.js")     \
  X(debugger_tab, "debugger_tab.js")           \
  X(debugger_timeline, "debugger_timeline.js") \
  X(diff_tab, "diff_tab.js")                   \
  X(dom, "dom.js")                             \
  X(draw, "draw.js")                           \
  X(frames, "frames.js")                       \
  X(functions_tab, "functions_tab.js")         \
  X(graph_view, "graph_view.js")               \
  X(layout, "layout.js")                       \
  X(nodes_tab, "nodes_tab.js")                 \
  X(page, "page.js")                           \
  X(panel, "panel.js")                         \
  X(panes, "panes.js")                         \
  X(passes_tab, "passes_tab.js")               \
  X(place_tab, "place_tab.js")                 \
  X(reload, "reload.js")                       \
  X(run_colours, "run_colours.js")             \
  X(run_form, "run_form.js")                   \
  X(run_tab, "run_tab.js")                     \
  X(search, "search.js")                       \
  X(source, "source.js")

#define GRAPNEL_EMBED(symbol, file) GRAPNEL_WEB_FILE(#symbol, file)
GRAPNEL_WEB_FILES(GRAPNEL_EMBED)

#define GRAPNEL_DECLARE(symbol, file)               \
  extern const char grapnel_web_##symbol##_begin[]; \
  extern const char grapnel_web_##symbol##_end[];
extern "C" {
GRAPNEL_WEB_FILES(GRAPNEL_DECLARE)
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
#define GRAPNEL_LIST(symbol, file) \
  MakeFile(file, grapnel_web_##symbol##_begin, grapnel_web_##symbol##_end),
  static const WebFile files[] = {GRAPNEL_WEB_FILES(GRAPNEL_LIST)};
  return files;
}

const WebFile* FindWebFile(llvm::StringRef name) {
  const auto* found =
      llvm::find_if(WebFiles(), [&](const WebFile& file) { return file.name == name; });
  return found == WebFiles().end() ? nullptr : found;
}

}  // namespace grapnel
