#include "lib/serve/pages/scope_text.h"

#include <vector>

#include "lib/ir/text.h"
#include "lib/pass/cut.h"
#include "lib/support/text.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

Expected<std::string> ScopeText(GraphPage& graph, size_t body, ScopeId scope) {
  ASSIGN_OR_RETURN(std::vector<NodeId> ids, graph.NodesIn(body, scope));
  if (ids.size() > kMostCopied)
    return MakeError(
        "{0} are too many to copy as text: at most {1} can be; `grapnel convert` writes whole "
        "graphs",
        Plural(ids.size(), "node"), WithCommas(kMostCopied));
  ASSIGN_OR_RETURN(ExtractedNodes part, ExtractNodes(graph.graph(body), graph.shapes(body), ids));
  ShapeMap shapes = InferShapes(part.module->main);
  TextOptions options;
  options.fetches = part.fetches;
  options.describe = [&](Port port) {
    DataType dtype = shapes.TypeOf(port);
    return (dtype == proto::DT_INVALID ? "?" : DataTypeName(dtype).str()) +
           (shapes.OfPort(port).known_rank() ? shapes.OfPort(port).ToString() : "");
  };
  std::string text;
  llvm::raw_string_ostream os(text);
  WriteGraphAsText(*part.module, options, os);
  return os.str();
}

}  // namespace grapnel
