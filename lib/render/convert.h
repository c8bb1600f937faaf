// One graph in the form that another tool reads.
#ifndef GRAPNEL_LIB_RENDER_CONVERT_H_
#define GRAPNEL_LIB_RENDER_CONVERT_H_

#include <optional>
#include <string>

#include "lib/render/model_explorer.h"
#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

enum class ConvertFormat {
  kPb,
  kPbtxt,
  kText,
  kCanonical,
  kEvent,
  kModelExplorer,
  kNodeData,
  kSyncNavigation
};

struct ConvertFormatInfo {
  ConvertFormat format;
  const char* name;     // "model-explorer"
  const char* meaning;  // half a line for --help
};
llvm::ArrayRef<ConvertFormatInfo> ConvertFormats();

// The format of that name, else the one that the path's name tells (.pb, .pbtxt, .gtxt, "tfevents";
// .gz apart). Errors list what there is.
Expected<ConvertFormat> ConvertFormatOf(llvm::StringRef name, llvm::StringRef path);

struct ConvertOptions {
  ConvertFormat format = ConvertFormat::kPb;
  std::string label;  // what Model Explorer calls the graphs
  NodeDataKind node_data = NodeDataKind::kOpCost;
  std::vector<std::string> feeds, fetches;  // what kText names so
  const Diff* diff = nullptr;               // for kSyncNavigation, and only there
};

// Writes `module` to `path`: compressed when that ends in .gz; "-" is standard output; of an event
// file as EventFilePath has it. The file appears when it is complete. Errors name the path.
Error Convert(const Module& module, const ConvertOptions& options, llvm::StringRef path);

// One of several graphs: what is on its line of dashes, and its options.
struct TitledGraph {
  std::string title;
  const Module* module = nullptr;
  ConvertOptions options;  // of kText
};
// Several graphs to one text, likewise.
Error ConvertEach(llvm::ArrayRef<TitledGraph> graphs, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_CONVERT_H_
