// Removes ops that serve only debugging: assertions, prints, numeric checks, and the identities
// that TensorFlow's debugger inserts.
//
//   Before:  c, x -> Assert a;  y(^a)           After:  NoOp a(^c, ^x);  y(^a)
//
// Each node keeps its name, so that control edges to it stay valid, and keeps waiting for its
// inputs; the dependency optimizer removes the rest. Fetched nodes are stripped too, as in
// TensorFlow: their values stay the same.
//
// Refuses nothing. CheckNumericsV2 is not one of its ops.
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

GRAPNEL_OPTIMIZER((PassInfo{
    .name = "debug_stripper",
    .config_name = "debug_stripper",
    .order = 6,
    .toggle = "debug_stripper",
    .help =
        "removes assertions, prints, numeric checks and the identities of TensorFlow's debugger",
    .refuses = "CheckNumericsV2, DebugNanCount and DebugNumericSummary"}));

}  // namespace grapnel::debug_stripper
