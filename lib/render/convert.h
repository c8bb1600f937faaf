// Converts a graph to formats of other tools.
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
  const char* meaning;  // description for --help
};
llvm::ArrayRef<ConvertFormatInfo> ConvertFormats();

// Returns the format with that name; without a name, the format for the file name: .pb, .pbtxt or
// .gtxt at its end (before .gz, if it ends so), or "tfevents" in it. Errors suggest formats.
Expected<ConvertFormat> ConvertFormatOf(llvm::StringRef name, llvm::StringRef path);

struct ConvertOptions {
  ConvertFormat format = ConvertFormat::kPb;
  std::string label;  // the name of the graphs in Model Explorer
  NodeDataKind node_data = NodeDataKind::kOpCost;
  std::vector<std::string> feeds, fetches;  // tensors that kText lists as such
  const Diff* diff = nullptr;               // for kSyncNavigation only
};

// Writes `module` to `path`, compressed if the path ends in .gz; "-" is standard output. For event
// files see EventFilePath. No incomplete file ever appears at the path. Errors name the path.
Error Convert(const Module& module, const ConvertOptions& options, llvm::StringRef path);

// One of several graphs: the title on its separator line, and its options.
struct TitledGraph {
  std::string title;
  const Module* module = nullptr;
  ConvertOptions options;  // for kText
};
// Writes several graphs to one text file, as Convert does for one.
Error ConvertEach(llvm::ArrayRef<TitledGraph> graphs, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_CONVERT_H_
