#include "lib/io/canonical.h"

#include <algorithm>
#include <queue>

#include "google/protobuf/util/message_differencer.h"
#include "lib/io/text_print.h"
#include "lib/ir/import.h"
#include "lib/ir/op_table.h"
#include "lib/ir/tensor_name.h"
#include "lib/proto/graph.pb.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

bool IsBackEdge(const Node& from, const Node& to) {
  return from.op().ends_with("NextIteration") && (to.op() == "Merge" || to.op() == "RefMerge");
}

std::vector<NodeId> ByName(const Graph& graph) {
  std::vector<NodeId> ids;
  ids.reserve(graph.num_nodes());
  for (Node node : graph.nodes()) ids.push_back(node.id());
  llvm::stable_sort(
      ids, [&](NodeId x, NodeId y) { return graph.node(x).name() < graph.node(y).name(); });
  return ids;
}

bool IsDefault(llvm::StringRef op, llvm::StringRef key, const proto::AttrValue& value) {
  const OpInfo* info = FindOp(op);
  const OpAttr* attr = info ? info->FindAttr(key) : nullptr;
  if (!attr || !attr->default_value) return false;
  proto::AttrValue otherwise;
  return otherwise.ParseFromString(*attr->default_value) &&
         google::protobuf::util::MessageDifferencer::Equals(value, otherwise);
}

// Keeps data inputs in order; sorts control inputs by name and removes duplicates.
void TidyInputs(proto::NodeDef* node, bool in_function) {
  std::vector<std::string> data, control;
  for (std::string& input : *node->mutable_input()) {
    bool is_control = ReadTensorName(input).control;
    llvm::StringRef text = in_function ? llvm::StringRef(input) : WithoutZeroIndex(input);
    (is_control ? control : data).push_back(text.str());
  }
  llvm::sort(control);
  control.erase(std::unique(control.begin(), control.end()), control.end());
  data.insert(data.end(), control.begin(), control.end());
  node->mutable_input()->Assign(data.begin(), data.end());
}

void TidyNode(proto::NodeDef* node, bool in_function) {
  TidyInputs(node, in_function);
  std::vector<std::string> defaults;
  for (const auto& [key, value] : node->attr())
    if (IsDefault(node->op(), key, value)) defaults.push_back(key);
  for (const std::string& key : defaults) node->mutable_attr()->erase(key);
}

void TidyFunction(const Function& function, proto::FunctionDef* message) {
  llvm::StringMap<size_t> position;
  for (NodeId id : CanonicalOrder(function.body))
    position.try_emplace(function.body.node(id).name(), position.size());
  auto* nodes = message->mutable_node_def();
  std::stable_sort(nodes->pointer_begin(), nodes->pointer_end(),
                   [&](const proto::NodeDef* x, const proto::NodeDef* y) {
                     return position.lookup(x->name()) < position.lookup(y->name());
                   });
  for (proto::NodeDef& node : *nodes) TidyNode(&node, /*in_function=*/true);
}

class CanonicalWriter {
 public:
  CanonicalWriter(const Module& module, llvm::raw_ostream* os) : module_(module), os_(*os) {}

  Error Run() {
    for (NodeId id : CanonicalOrder(module_.main)) RETURN_IF_ERROR(WriteNode(id));
    RETURN_IF_ERROR(WriteLibrary());
    proto::GraphDef rest;
    RETURN_IF_ERROR(ParseForText(module_.other_fields, &rest));
    if (!module_.versions.empty())
      RETURN_IF_ERROR(ParseForText(module_.versions, rest.mutable_versions()));
    PrintMessage(rest, 0, os_);
    return Error::success();
  }

 private:
  Error WriteNode(NodeId id) {
    Node node = module_.main.node(id);
    proto::NodeDef message;
    if (Error error = ParseForText(ExportNodeDef(node), &message))
      return Annotate("node '" + node.name() + "'", std::move(error));
    TidyNode(&message, /*in_function=*/false);
    os_ << "node {\n";
    PrintMessage(message, 1, os_);
    os_ << "}\n";
    return Error::success();
  }

  Error WriteLibrary() {
    if (module_.functions.empty() && module_.other_library_fields.empty()) return Error::success();
    std::vector<const Function*> functions;
    for (const auto& function : module_.functions) functions.push_back(function.get());
    llvm::stable_sort(functions, [](auto* x, auto* y) { return x->name() < y->name(); });
    os_ << "library {\n";
    for (const Function* function : functions) RETURN_IF_ERROR(WriteFunction(*function));
    proto::FunctionDefLibrary rest;
    RETURN_IF_ERROR(ParseForText(module_.other_library_fields, &rest));
    auto* gradients = rest.mutable_gradient();
    std::stable_sort(gradients->pointer_begin(), gradients->pointer_end(),
                     [](auto* x, auto* y) { return x->function_name() < y->function_name(); });
    PrintMessage(rest, 1, os_);
    os_ << "}\n";
    return Error::success();
  }

  Error WriteFunction(const Function& function) {
    proto::FunctionDef message;
    if (Error error = ParseForText(ExportFunctionDef(function), &message))
      return Annotate("function '" + function.name() + "'", std::move(error));
    TidyFunction(function, &message);
    os_ << "  function {\n";
    PrintMessage(message, 2, os_);
    os_ << "  }\n";
    return Error::success();
  }

  const Module& module_;
  llvm::raw_ostream& os_;
};

}  // namespace

std::vector<NodeId> CanonicalOrder(const Graph& graph) {
  std::vector<NodeId> by_name = ByName(graph), order;
  std::vector<uint32_t> rank(graph.end_id()), waiting(graph.end_id());
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < by_name.size(); ++i) {
    Node node = graph.node(by_name[i]);
    rank[node.id()] = i;
    for (Port port : node.inputs())
      waiting[node.id()] += port.node != kNoNode && !IsBackEdge(graph.node(port.node), node);
    if (waiting[node.id()] == 0) ready.push(i);
  }
  std::vector<bool> done(graph.end_id());
  while (!ready.empty()) {
    Node node = graph.node(by_name[ready.top()]);
    ready.pop();
    done[node.id()] = true;
    order.push_back(node.id());
    for (const Use& use : node.uses()) {
      if (!IsBackEdge(node, graph.node(use.node)) && --waiting[use.node] == 0)
        ready.push(rank[use.node]);
    }
  }
  llvm::copy_if(by_name, std::back_inserter(order), [&](NodeId id) { return !done[id]; });
  return order;
}

Error WriteCanonicalText(const Module& module, llvm::raw_ostream& os) {
  return CanonicalWriter(module, &os).Run();
}

}  // namespace grapnel
