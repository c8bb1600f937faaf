// Takes out what only speaks to the developer: assertions, prints, checks of numbers.
//
//   Before:  c, x -> Assert a;  y(^a)           After:  NoOp a(^c, ^x);  y(^a)
//
// Each node keeps its name, so that control edges to it hold; what it read is still waited for, and
// the dependency optimizer takes the rest away. Fetched nodes are stripped too, as TensorFlow does:
// their values stay.
//
// Refuses nothing; CheckNumericsV2 is none of its ops.
#include "passes/debug_stripper/debug_stripper.h"

namespace grapnel::debug_stripper {

void DropAttrsOfOp(Editor& edit, const Node& node, llvm::StringRef kept) {
  for (const auto& [key, value] : node.Attrs()) {
    if (key.front() != '_' && key != kept) edit.RemoveAttr(node, key);
  }
}

void WaitFrom(Editor& edit, const Node& node, int first) {
  llvm::SmallVector<Port, 4> ports = node.inputs();
  for (size_t i = first; i < ports.size(); ++i) ports[i].index = kControlPort;
  edit.SetInputs(node, ports);
}

void BecomeNoOp(Editor& edit, const Node& node) {
  edit.SetOp(node, "NoOp");
  DropAttrsOfOp(edit, node);
  WaitFrom(edit, node, 0);
}

GRAPNEL_OPTIMIZER((PassInfo{.name = "debug_stripper",
                            .config_name = "debug_stripper",
                            .order = 6,
                            .toggle = "debug_stripper",
                            .help = "takes out assertions, prints and checks of numbers",
                            .refuses = "CheckNumericsV2"}));

}  // namespace grapnel::debug_stripper
