#include "lib/job/key_check.h"

#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "lib/ir/node_selection.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns the node whose value a chain of Identity nodes passes on.
Node WithoutIdentities(Node node) {
  constexpr int kMost = 100;  // a broken graph may have a cycle
  for (int i = 0; i < kMost && node.op() == "Identity" && node.num_inputs() == 1; ++i)
    node = node.input_node(0);
  return node;
}

}  // namespace

Error CheckMeansOne(const OpenedGraph& opened, llvm::StringRef signature_name, llvm::StringRef name,
                    bool wants_node) {
  auto chosen = ChooseSignature(opened.model(), opened.file(), signature_name);
  if (!chosen) return chosen.takeError();
  if (!*chosen) return Error::success();
  const Signature& signature = **chosen;
  auto is_key = [&](const auto& end) { return end.key == name; };
  // If an input and an output have the same key, it means the input (TensorOfKey).
  bool is_input = llvm::any_of(signature.inputs, is_key);
  const std::vector<SignatureTensor>& keys = is_input ? signature.inputs : signature.outputs;
  auto key = llvm::find_if(keys, is_key);
  const Graph& main = opened.module().main;
  auto port = key == keys.end() ? std::nullopt : FindTensorIfThere(main, key->tensor);
  if (!port) return Error::success();
  SignatureBody body = BodyOf(opened.file(), signature);
  bool is_in_main = body.function == nullptr;
  auto counts = [&](const Node& node, bool is_in_network) {
    if (wants_node) return true;
    return is_in_network && node.op() != "_Arg" && node.op() != "Const" &&
           TypeOfPort(node.graph(), {node.id(), 0}) != proto::DT_RESOURCE;
  };
  std::string other;
  if (Node node = main.Find(name); node && counts(node, is_in_main)) {
    bool passes_on = WithoutIdentities(node) == WithoutIdentities(main.node(port->node));
    if (!passes_on) other = OutputName(node.name(), 0);
  }
  if (other.empty() && !is_in_main) {
    const std::vector<SignatureBody::End>& ends = is_input ? body.inputs : body.outputs;
    auto end = llvm::find_if(ends, is_key);
    Node node = body.graph->Find(name);
    if (node && counts(node, /*is_in_network=*/true) && end != ends.end() &&
        end->port.node != kNoNode &&
        WithoutIdentities(node) != WithoutIdentities(body.graph->node(end->port.node)))
      other = NameWithFunction(node);
  }
  if (other.empty()) return Error::success();
  return MakeError(
      "{0}: '{1}' is a key of signature '{2}' and another node: name one of '{3}' (the key's "
      "tensor), '{4}'",
      opened.model().path, name, signature.name, key->tensor, other);
}

}  // namespace grapnel
