// Makes a call use the function that is meant for its device.
//
//   Before:  x -> PartitionedCall(gru_cpu) on /device:GPU:0
//   After:   x -> PartitionedCall(gru_gpu) on /device:GPU:0
//            where gru_cpu and gru_gpu have api_implements=gru
//
// Functions of one interface share the attribute api_implements; api_preferred_device names the
// device of each. Keras uses this for its recurrent layers.
//
// Refuses: calls without a device; functions that were specialized for a call; functions whose
// arguments or results have other dtypes than those of the called function, or that are not, like
// it, the forward function of a training pair, the backward function, or neither.
#include "lib/ir/device_name.h"
#include "lib/pass/library.h"
#include "passes/implementation_selector/implementation_selector.h"

namespace grapnel {
namespace {

// 1 for the forward function of a training pair, 2 for the backward function, 0 for any other. Each
// of the two names the other in an attribute.
int PassOf(const Function& function) {
  if (FunctionAttr(function, "backward_function_name")) return 1;
  return FunctionAttr(function, "forward_function_name") ? 2 : 0;
}

bool SameTypes(const Function& a, const Function& b) {
  auto same = [](const std::vector<OpArg>& x, const std::vector<OpArg>& y) {
    return x.size() == y.size() &&
           std::equal(x.begin(), x.end(), y.begin(),
                      [](const OpArg& one, const OpArg& other) { return one.type == other.type; });
  };
  return same(a.info.inputs, b.info.inputs) && same(a.info.outputs, b.info.outputs);
}

// The function for the device of the call; null, perhaps with a refusal, if the call already uses
// one for its device, or none can be chosen.
const Function* Better(Implementations& rule, const Node& node, llvm::StringRef name) {
  const Function* called = rule.edit.module().FindFunction(name);
  if (!called) return nullptr;
  std::string interface = TextAttr(*called, "api_implements");
  if (interface.empty()) return nullptr;
  if (name.contains("_specialized_for_")) {
    rule.Refuse(
        "'{0}' is a copy that was specialized for a call, which TensorFlow does not replace", name);
    return nullptr;
  }
  llvm::StringRef type = DeviceTypeOf(rule.DeviceOf(node));
  if (type.empty()) {
    rule.Refuse(
        "'{0}' names no device type, so none of the functions that implement '{1}' can be chosen",
        node.name(), interface);
    return nullptr;
  }
  for (const Function* other : rule.FunctionsOf(interface)) {
    if (other == called || TextAttr(*other, "api_preferred_device") != type) continue;
    if (PassOf(*other) != PassOf(*called)) continue;
    if (TextAttr(*called, "api_preferred_device") == type) return nullptr;
    if (SameTypes(*called, *other)) return other;
    rule.Refuse("'{0}' differs from '{1}' in the number or dtypes of arguments or results",
                other->name(), name);
  }
  return nullptr;
}

// Each function that the node names is a separate rewrite.
Verdict SwapImplementation(Implementations& rule, const Node& node) {
  if (!rule.MayCall(node)) return rule.NotMine();
  if (rule.edit.module().FindFunction(node.op())) {
    if (const Function* other = Better(rule, node, node.op())) rule.edit.SetOp(node, other->name());
  }
  std::vector<std::string> keys;
  for (const auto& [key, value] : node.Attrs()) {
    if (value.kind() == AttrKind::kFunc) keys.push_back(key.str());
  }
  for (const std::string& key : keys) {
    std::optional<AttrView> attr = node.FindAttr(key);
    const Function* other = Better(rule, node, attr->AsFuncName().value_or(""));
    if (!other) continue;
    if (!rule.NextRewrite(node)) return rule.Done();
    proto::AttrValue value;
    value.ParseFromArray(attr->bytes().data(), attr->bytes().size());
    value.mutable_func()->set_name(other->name().str());
    rule.edit.SetAttr(node, key, value.SerializeAsString());
  }
  return rule.Done();
}

bool HasFunctions(const Node& node) { return !node.graph().module().functions.empty(); }

GRAPNEL_RULE(
    {.optimizer = "implementation_selector",
     .after = "fix_device_index",
     .name = "swap_implementation",
     .ops = {},
     .help = "makes a call use the function that implements the same interface for its device",
     .refuses = "calls without a device type; functions with other arguments or results, or for "
                "another part of a training pair; copies specialized for a call",
     .apply = SwapImplementation,
     .may_apply = HasFunctions});

}  // namespace
}  // namespace grapnel
