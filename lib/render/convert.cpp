#include "lib/render/convert.h"

#include <cassert>

#include "lib/io/canonical.h"
#include "lib/io/event_writer.h"
#include "lib/io/write.h"
#include "lib/ir/import.h"
#include "lib/ir/text.h"
#include "lib/support/suggest.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

constexpr ConvertFormatInfo kFormats[] = {
    {ConvertFormat::kPb, "pb", "a GraphDef"},
    {ConvertFormat::kPbtxt, "pbtxt", "a GraphDef as text"},
    {ConvertFormat::kText, "text",
     "one node a line, to read and write (.gtxt; see docs/reference/text.md)"},
    {ConvertFormat::kCanonical, "canonical", "text that is the same for the same graph"},
    {ConvertFormat::kEvent, "event", "an event file for TensorBoard's Graphs page"},
    {ConvertFormat::kModelExplorer, "model-explorer",
     "Model Explorer's JSON, with node names as ids"},
    {ConvertFormat::kNodeData, "node-data", "a number for each node, for Model Explorer"},
    {ConvertFormat::kSyncNavigation, "sync-navigation",
     "which node of A is which node of B, for Model Explorer"}};

std::string FormatNames() {
  std::string names;
  for (const ConvertFormatInfo& info : kFormats)
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

std::optional<ConvertFormat> FormatOfPath(llvm::StringRef path) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  if (name.contains("tfevents")) return ConvertFormat::kEvent;
  name.consume_back(".gz");
  if (name.ends_with(".pb")) return ConvertFormat::kPb;
  if (name.ends_with(".pbtxt")) return ConvertFormat::kPbtxt;
  if (name.ends_with(".gtxt")) return ConvertFormat::kText;
  return std::nullopt;
}

Error WriteAs(const Module& module, const ConvertOptions& options, llvm::raw_ostream& os) {
  switch (options.format) {
    case ConvertFormat::kPb:
      ExportGraphDef(module, os);
      return Error::success();
    case ConvertFormat::kPbtxt:
      return WriteGraphText(module, os);
    case ConvertFormat::kText: {
      TextOptions exact{
          .exact = true, .describe = {}, .feeds = options.feeds, .fetches = options.fetches};
      WriteGraphAsText(module, exact, os);
      return Error::success();
    }
    case ConvertFormat::kCanonical:
      return WriteCanonicalText(module, os);
    case ConvertFormat::kEvent:
      return WriteEvents(module, os);
    case ConvertFormat::kModelExplorer:
      WriteModelExplorer(module, options.label, os);
      return Error::success();
    case ConvertFormat::kNodeData:
      WriteNodeData(module, options.node_data, os);
      return Error::success();
    case ConvertFormat::kSyncNavigation:
      WriteSyncNavigation(*options.diff, os);
      return Error::success();
  }
  llvm_unreachable("a format that is not in the table");
}

}  // namespace

llvm::ArrayRef<ConvertFormatInfo> ConvertFormats() { return kFormats; }

Expected<ConvertFormat> ConvertFormatOf(llvm::StringRef name, llvm::StringRef path) {
  std::vector<llvm::StringRef> names;
  for (const ConvertFormatInfo& info : kFormats) {
    if (name == info.name) return info.format;
    names.push_back(info.name);
  }
  if (!name.empty()) return NotFound("format", name, names);
  if (std::optional<ConvertFormat> format = FormatOfPath(path)) return *format;
  return MakeError("{0}: this file name has no known format: choose one with --to: {1}", path,
                   FormatNames());
}

Error Convert(const Module& module, const ConvertOptions& options, llvm::StringRef path) {
  assert((options.format == ConvertFormat::kSyncNavigation) == (options.diff != nullptr));
  std::string target = path.str();
  if (options.format == ConvertFormat::kEvent) {
    ASSIGN_OR_RETURN(target, EventFilePath(path));
  }
  return WriteCompressible(target,
                           [&](llvm::raw_ostream& os) { return WriteAs(module, options, os); });
}

Error ConvertEach(llvm::ArrayRef<TitledGraph> graphs, llvm::StringRef path) {
  return WriteCompressible(path, [&](llvm::raw_ostream& os) -> Error {
    for (const TitledGraph& graph : graphs) {
      assert(graph.options.format == ConvertFormat::kText);
      os << (&graph == graphs.begin() ? "" : "\n") << "--- " << graph.title << "\n";
      RETURN_IF_ERROR(WriteAs(*graph.module, graph.options, os));
    }
    return Error::success();
  });
}

}  // namespace grapnel
