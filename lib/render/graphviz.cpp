#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "lib/render/dot.h"
#include "lib/render/layout.h"
#include "lib/support/program_file.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr const char* kLibrary = "libgvc.so.6";
constexpr const char* kInstall =
    "install the Debian package libgvc6 (apt-get install libgvc6), or draw to a .dot file";

struct GVC;

// The few functions of gvc that we call; its header would link it.
struct Gvc {
  GVC* (*Context)();
  int (*LayOut)(GVC*, Agraph_t*, const char*);
  int (*RenderData)(GVC*, Agraph_t*, const char*, char**, unsigned*);
  void (*FreeRenderData)(char*);
  GVC* context = nullptr;
};

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// A package (./x package) brings a font in ../lib/fonts for machines that have none.
void UseOwnFonts() {
  std::string fonts = BesideTheProgram("../lib/fonts/fonts.conf");
  bool has_some = access("/etc/fonts/fonts.conf", R_OK) == 0;
  if (!has_some && access(fonts.c_str(), R_OK) == 0) setenv("FONTCONFIG_FILE", fonts.c_str(), 0);
}

// Stays open: its plugins leave handlers behind.
Expected<const Gvc*> OpenGvc() {
  static Gvc gvc;
  static const bool found = [] {
    UseOwnFonts();
    void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    return library && Find(library, "gvContext", &gvc.Context) &&
           Find(library, "gvLayout", &gvc.LayOut) &&
           Find(library, "gvRenderData", &gvc.RenderData) &&
           Find(library, "gvFreeRenderData", &gvc.FreeRenderData);
  }();
  // One for the process: the text plugin remembers a font's name by its address, and reads it after
  // the context that owned it is gone.
  if (found && !gvc.context) gvc.context = gvc.Context();
  if (!found) return MakeError("cannot draw: there is no {0}; {1}", kLibrary, kInstall);
  return &gvc;
}

// What Graphviz would print, kept for our own message.
std::string* messages = nullptr;

int KeepMessage(char* text) {
  if (messages) *messages += text;
  return 0;
}

std::string OneLine(llvm::StringRef text) {
  std::string line;
  for (char c : text.trim()) line += c == '\n' ? ' ' : c;
  return line;
}

class GraphvizLayout : public Layout {
 public:
  Expected<std::string> Draw(const Picture& picture, PictureFormat format) override {
    Agraph_t* graph = MakeDotGraph(picture);
    std::unique_ptr<Agraph_t, int (*)(Agraph_t*)> closer(graph, agclose);
    if (format == PictureFormat::kDot) return DotText(graph);
    if (format == PictureFormat::kSvg) return Render(graph, "svg");
    // As large as the SVG is in a browser. In an SVG itself Graphviz would cut the picture off.
    agsafeset(graph, const_cast<char*>("dpi"), const_cast<char*>("96"), const_cast<char*>(""));
    return Render(graph, "png");
  }

 private:
  Expected<std::string> Render(Agraph_t* graph, const char* format) {
    ASSIGN_OR_RETURN(const Gvc* gvc, OpenGvc());
    std::string said;
    messages = &said;
    agusererrf old = agseterrf(KeepMessage);
    GVC* context = gvc->context;
    char* data = nullptr;
    unsigned size = 0;
    std::string bytes;
    bool laid_out = gvc->LayOut(context, graph, "dot") == 0;
    bool drawn = laid_out && gvc->RenderData(context, graph, format, &data, &size) == 0 && data;
    if (drawn) bytes.assign(data, size);
    if (data) gvc->FreeRenderData(data);
    // The layout is left to the process: freeing it, dot frees twice an array of edges that it
    // moved while it merged them, on graphs with clusters (Graphviz 2.43 to 7).
    agseterrf(old);
    messages = nullptr;
    if (drawn) return bytes;
    std::string why = said.empty() ? "" : " (" + OneLine(said) + ")";
    if (!laid_out)
      return MakeError("cannot draw: Graphviz has no working layout 'dot'{0}; {1}", why, kInstall);
    return MakeError("cannot draw: Graphviz cannot write {0}{1}; {2}", format, why, kInstall);
  }
};

}  // namespace

std::optional<PictureFormat> ParsePictureFormat(llvm::StringRef name) {
  name.consume_front(".");
  if (name == "dot" || name == "gv") return PictureFormat::kDot;
  if (name == "svg") return PictureFormat::kSvg;
  if (name == "png") return PictureFormat::kPng;
  return std::nullopt;
}

std::unique_ptr<Layout> MakeGraphvizLayout() { return std::make_unique<GraphvizLayout>(); }

}  // namespace grapnel
