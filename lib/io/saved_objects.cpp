#include "lib/io/saved_objects.h"

#include "lib/ir/node_types.h"
#include "lib/proto/saved_object_graph.pb.h"

namespace grapnel {

bool ReadSavedObjects(const GraphInFile& graph, proto::SavedObjectGraph* saved) {
  llvm::StringRef bytes = graph.object_graph;
  return !bytes.empty() && bytes.size() <= INT32_MAX &&
         saved->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void VisitCaptures(const GraphInFile& graph, const proto::SavedObjectGraph& saved,
                   llvm::function_ref<void(Port given, int object)> visit) {
  for (Node node : graph.module->main.nodes()) {
    for (llvm::StringRef name : CalledFunctions(node)) {
      auto function = saved.concrete_functions().find(name.str());
      if (function == saved.concrete_functions().end()) continue;
      const auto& captured = function->second.bound_inputs();
      int first = node.num_inputs() - captured.size();
      for (int i = 0; first >= 0 && i < captured.size(); ++i) {
        bool is_object = captured[i] >= 0 && captured[i] < saved.nodes_size();
        if (is_object && node.input_node(first + i)) visit(node.input(first + i), captured[i]);
      }
    }
  }
}

}  // namespace grapnel
