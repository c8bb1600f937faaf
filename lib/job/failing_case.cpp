#include "lib/job/failing_case.h"

#include "lib/io/case.h"
#include "lib/io/value.h"
#include "lib/ir/attr.h"
#include "lib/ir/import.h"
#include "lib/ir/module.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/wire.h"
#include "lib/proto/graph.pb.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

void SetType(proto::NodeDef* node, const char* key, DataType type) {
  (*node->mutable_attr())[key].set_type(type);
}

// Returns the name of the input's producer ("input" if there is none), made unique.
std::string NameOfInput(const Node& node, int slot, llvm::StringSet<>* taken) {
  Port from = node.input(slot);
  std::string name = from.node == kNoNode ? "input" : node.graph().node(from.node).name().str();
  std::string unique = name;
  for (int k = 1; !taken->insert(unique).second; ++k) unique = name + "_" + std::to_string(k);
  return unique;
}

// Adds the functions that the node calls, directly or indirectly.
void AddCalled(const Node& node, proto::GraphDef* graph) {
  std::vector<const Function*> open;
  llvm::StringSet<> seen;
  auto add = [&](const Node& caller) {
    for (llvm::StringRef name : CalledFunctions(caller)) {
      const Function* function = node.graph().module().FindFunction(name);
      if (function && seen.insert(name).second) open.push_back(function);
    }
  };
  add(node);
  while (!open.empty()) {
    const Function* function = open.back();
    open.pop_back();
    graph->mutable_library()->add_function()->ParseFromString(ExportFunctionDef(*function));
    for (Node inner : function->body.nodes()) add(inner);
  }
}

// Returns zeros of the tensor's dtype and shape, which CheckNumerics accepts.
Literal WithoutBad(const Tensor& tensor) {
  return Literal::Make(tensor.dtype(), tensor.dims(),
                       std::string(tensor.num_elements() * DataTypeSize(tensor.dtype()), '\0'));
}

}  // namespace

Error SaveFailingCase(const NumericsFailure& failure, llvm::StringRef folder) {
  const Node& node = failure.node;
  for (const Tensor& input : failure.inputs) {
    if (!input || input.HoldsObjects())
      return MakeError(
          "'{0}' reads {1}, which cannot be saved: no case is written; `grapnel run --save-case` "
          "without --check-numerics writes the whole graph",
          node.name(), input ? input.ToString() : "an input without a value");
  }
  std::string tensor = OutputName(node.name(), failure.output);
  proto::GraphDef graph;
  proto::NodeDef op;
  if (!op.ParseFromString(ExportNodeDef(node)))
    return MakeError("node '{0}' cannot be saved: protobuf cannot parse its NodeDef", node.name());
  op.clear_input();
  op.clear_device();
  Case saved;
  saved.folder = folder.str();
  saved.graph = JoinPath(folder, "graph.pb");
  RETURN_IF_ERROR(CreateDirectories(folder));
  llvm::StringSet<> taken;
  taken.insert(node.name());
  taken.insert("check_numerics");
  for (size_t i = 0; i < failure.inputs.size(); ++i) {
    const Tensor& input = failure.inputs[i];
    std::string name = NameOfInput(node, static_cast<int>(i), &taken);
    proto::NodeDef* feed = graph.add_node();
    feed->set_name(name);
    feed->set_op("Placeholder");
    SetType(feed, "dtype", input.dtype());
    for (int64_t dim : input.dims())
      (*feed->mutable_attr())["shape"].mutable_shape()->add_dim()->set_size(dim);
    (*feed->mutable_attr())["shape"].mutable_shape();
    op.add_input(name);
    std::string file = JoinPath(folder, "feed_" + std::to_string(i) + ".npy");
    RETURN_IF_ERROR(SaveNpyLiteral(file, input.ToLiteral()));
    saved.feeds.push_back({name + ":0", file});
  }
  *graph.add_node() = op;
  proto::NodeDef* check = graph.add_node();
  check->set_name("check_numerics");
  check->set_op("CheckNumerics");
  SetType(check, "T", failure.tensor.dtype());
  (*check->mutable_attr())["message"].set_s(tensor + " (" + node.op().str() + ")");
  check->add_input(NodeDefInput(node.name(), failure.output));
  graph.mutable_versions()->ParseFromString(node.graph().module().versions);
  AddCalled(node, &graph);
  RETURN_IF_ERROR(WriteFile(saved.graph, graph.SerializeAsString()));
  std::string file = JoinPath(folder, "out_0.npy");
  RETURN_IF_ERROR(SaveNpyLiteral(file, WithoutBad(failure.tensor)));
  saved.fetches.push_back({"check_numerics:0", file, 0});
  saved.rtol = 1e-4;
  return SaveCase(folder, saved);
}

}  // namespace grapnel
