#include "lib/job/gradient_variables.h"

#include <algorithm>

#include "lib/io/layers/layers.h"
#include "lib/io/signature.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

bool IsReal(DataType dtype) {
  return dtype == proto::DT_HALF || dtype == proto::DT_BFLOAT16 || dtype == proto::DT_FLOAT ||
         dtype == proto::DT_DOUBLE;
}

std::vector<bool> NodesNeededBy(const Graph& main, llvm::ArrayRef<std::string> tensors) {
  Signature ends;
  for (const std::string& tensor : tensors) ends.outputs.push_back({{}, tensor, {}, {}});
  std::vector<bool> needed(main.end_id());
  for (NodeId id : NeededNodes(main, ends)) needed[id] = true;
  return needed;
}

std::vector<GradientVariable> GradientVariables(const OpenedGraph& opened,
                                                llvm::ArrayRef<std::string> ys) {
  const Graph& main = opened.module().main;
  std::vector<bool> needed = NodesNeededBy(main, ys);
  llvm::StringMap<std::string> names;
  LayerTable table = LayersOf(opened.file());
  for (const LayerVariable& variable : table.variables()) names[variable.node] = variable.name;
  std::vector<GradientVariable> variables;
  llvm::StringMap<int> with_label;
  for (Node node : main.nodes()) {
    if (node.op() != "VarHandleOp" || !IsReal(node.GetType("dtype"))) continue;
    GradientVariable variable{node, node.name().str(), needed[node.id()]};
    auto name = names.find(node.name());
    if (variable.is_needed && name != names.end()) variable.label = name->second;
    if (variable.is_needed) ++with_label[variable.label];
    variables.push_back(std::move(variable));
  }
  for (GradientVariable& variable : variables) {
    if (variable.is_needed && with_label[variable.label] > 1)
      variable.label = variable.node.name().str();
  }
  std::stable_partition(variables.begin(), variables.end(),
                        [](const GradientVariable& variable) { return variable.is_needed; });
  return variables;
}

}  // namespace grapnel
