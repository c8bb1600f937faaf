// Replaces a DeviceIndex that a Case reads with the number of the Case's device.
//
//   Before:  DeviceIndex([CPU, GPU]) -> Case on /device:GPU:0    After:  Const(1) -> Case
//
// A device that is not in the list has the number after the last, as in TensorFlow.
//
// Refuses: a Case that is on no device.
#include "lib/ir/device_name.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/implementation_selector/implementation_selector.h"

namespace grapnel {
namespace {

Verdict FixDeviceIndex(Implementations& rule, const Node& node) {
  for (const Use& use : node.UsesOf(0)) {
    Node reader = rule.graph.node(use.node);
    if (reader.op() != "Case" && reader.op() != "StatelessCase") continue;
    llvm::StringRef type = DeviceTypeOf(rule.DeviceOf(reader));
    if (type.empty()) {
      rule.Refuse("'{0}' names no device type\nname one: --device", reader.name());
      continue;
    }
    std::optional<AttrView> attr = node.FindAttr("device_names");
    auto names = attr ? attr->AsStrings() : std::nullopt;
    if (!names) return rule.NotMine();
    int index = static_cast<int>(llvm::find(*names, type) - names->begin());
    llvm::SmallVector<Node, 4> controls;
    for (int i = 0; i < node.num_controls(); ++i) controls.push_back(node.control(i));
    rule.edit.TurnIntoConstant(node, Literal::Scalar(proto::DT_INT32, index), controls);
    return rule.Done();
  }
  return rule.NotMine();
}

GRAPNEL_RULE({.optimizer = "implementation_selector",
              .after = kFirst,
              .name = "fix_device_index",
              .ops = {"DeviceIndex"},
              .help = "a DeviceIndex that a Case reads becomes a constant: the position of the "
                      "Case's device type in its list",
              .refuses = "a Case that names no device type",
              .apply = FixDeviceIndex});

}  // namespace
}  // namespace grapnel
