// Selects among equivalent functions for different devices, and resolves DeviceIndex.
//
//   Before:  x -> PartitionedCall(gru_cpu) on /device:GPU:0
//   After:   x -> PartitionedCall(gru_gpu) on /device:GPU:0
//            where gru_cpu and gru_gpu have api_implements=gru
//
//   Before:  DeviceIndex([CPU, GPU]) -> Case on /device:GPU:0    After:  Const(1) -> Case
//
// Refuses: see the rules.
#include "passes/implementation_selector/implementation_selector.h"

#include "lib/ir/node_types.h"
#include "lib/pass/library.h"

namespace grapnel {
namespace {

class ImplementationSelector : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    Implementations context(edit);
    RuleTable rules(edit, edit.pass());
    for (Node node : edit.graph().nodes()) {
      ApplyRules(context, rules, node);
      if (context.stopped) break;
    }
    return Error::success();
  }
};

GRAPNEL_PASS(ImplementationSelector,
             (PassInfo{.name = "implementation_selector",
                       .config_name = "implementation_selector",
                       .order = 3,
                       .default_on = true,
                       .toggle = "implementation_selector",
                       .help = "makes calls use the variant of a function (api_implements) for "
                               "their device, and resolves DeviceIndex",
                       .refuses = "calls without a device type, functions of other dtypes, copies "
                                  "specialized for a call"}), );

}  // namespace

std::string TextAttr(const Function& function, const char* key) {
  std::optional<AttrView> attr = FunctionAttr(function, key);
  return attr ? attr->AsString().value_or("").str() : "";
}

bool Implementations::MayCall(const Node& node) {
  auto [it, added] = may_call_.try_emplace(node.op_id(), false);
  if (added) it->second = MayCallFunctions(node);
  return it->second;
}

llvm::ArrayRef<const Function*> Implementations::FunctionsOf(const std::string& interface) {
  if (by_interface_.empty()) {
    for (const auto& function : edit.module().functions) {
      std::string name = TextAttr(*function, "api_implements");
      if (!name.empty()) by_interface_[name].push_back(function.get());
    }
  }
  return by_interface_[interface];
}

}  // namespace grapnel
