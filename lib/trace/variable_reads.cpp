#include "lib/trace/variable_reads.h"

#include <algorithm>

#include "lib/ir/node_types.h"

namespace grapnel {

bool ReadsVariable(const Node& node) {
  return node.op() == "ReadVariableOp" || node.op() == "ResourceGather" ||
         node.op() == "ResourceGatherNd";
}

DataType VariableReads::InFunction(const Function& function, size_t arg) {
  if (arg >= function.args.size() || !seen_.insert({&function, arg}).second)
    return proto::DT_INVALID;
  return Below(function.body, function.args[arg]);
}

DataType VariableReads::InCallees(const Node& call, size_t slot) {
  for (llvm::StringRef name : CalledFunctions(call)) {
    const Function* callee = module_.FindFunction(name);
    if (!callee) continue;
    // An If or Case has one input more than its branches have arguments: the first, which selects
    // the branch.
    size_t first = call.num_inputs() - std::min<size_t>(call.num_inputs(), callee->args.size());
    if (slot < first) continue;
    DataType dtype = InFunction(*callee, slot - first);
    if (dtype != proto::DT_INVALID) return dtype;
  }
  return proto::DT_INVALID;
}

DataType VariableReads::Below(const Graph& body, NodeId handle) {
  for (const Use& use : body.node(handle).uses()) {
    Node node = body.node(use.node);
    if (use.slot >= static_cast<uint32_t>(node.num_inputs())) continue;
    DataType dtype = proto::DT_INVALID;
    if (ReadsVariable(node)) {
      dtype = node.GetType("dtype");
    } else if (node.op() == "Identity") {
      dtype = Below(body, node.id());
    } else if (MayCallFunctions(node)) {
      dtype = InCallees(node, use.slot);
    }
    if (dtype != proto::DT_INVALID) return dtype;
  }
  return proto::DT_INVALID;
}

}  // namespace grapnel
