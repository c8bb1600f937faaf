// Takes out what only speaks to the developer: assertions, prints, checks of numbers.
//
//   Before:  c, x -> Assert a;  y(^a)           After:  NoOp a(^c, ^x);  y(^a)
//   Before:  x -> CheckNumerics n -> y          After:  x -> Identity n -> y
//   Before:  x, [u, v] -> Print p -> y          After:  x, ^u, ^v -> Identity p -> y
//   Before:  s -> PrintV2 p;  y(^p)             After:  NoOp p(^s);  y(^p)
//
// Each node keeps its name, so that control edges to it hold; what it read is still waited for, and
// the dependency optimizer takes the rest away. Fetched nodes are stripped too, as TensorFlow does:
// their values stay.
//
// Refuses nothing; CheckNumericsV2 is none of its ops.
#include "lib/pass/pass.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Attributes that begin with '_' say something of the node, not of the op.
void DropAttrsOfOp(Editor& edit, const Node& node, llvm::StringRef kept = "") {
  for (const auto& [key, value] : node.Attrs()) {
    if (key.front() != '_' && key != kept) edit.RemoveAttr(node, key);
  }
}

// What the node reads from slot `first` on becomes something that it waits for, in the same order.
void WaitFrom(Editor& edit, const Node& node, int first) {
  llvm::SmallVector<Port, 4> ports = node.inputs();
  for (size_t i = first; i < ports.size(); ++i) ports[i].index = kControlPort;
  edit.SetInputs(node, ports);
}

class DebugStripper : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    for (Node node : edit.graph().nodes()) {
      if (!Strip(edit, node)) break;
    }
    return Error::success();
  }

 private:
  // False when --limit is used up.
  bool Strip(Editor& edit, const Node& node) {
    llvm::StringRef op = node.op();
    if (op == "Assert" || op == "PrintV2") {
      if (!edit.Begin(op == "Assert" ? "strip_assert" : "strip_print", node)) return false;
      edit.SetOp(node, "NoOp");
      DropAttrsOfOp(edit, node);
      WaitFrom(edit, node, 0);
      edit.End();
    } else if (op == "CheckNumerics") {
      if (!edit.Begin("strip_check_numerics", node)) return false;
      edit.SetOp(node, "Identity");
      edit.RemoveAttr(node, "message");
      edit.End();
    } else if (op == "Print") {
      if (!edit.Begin("strip_print", node)) return false;
      edit.SetOp(node, "Identity");
      DropAttrsOfOp(edit, node, "T");
      WaitFrom(edit, node, 1);
      edit.End();
    }
    return true;
  }
};

GRAPNEL_PASS(DebugStripper,
             (PassInfo{"debug_stripper", "debug_stripper", 6, false, false, "debug_stripper",
                       "takes out assertions, prints and checks of numbers", "CheckNumericsV2"}),
             {"strip_assert", "an Assert becomes a NoOp that waits for what it read"},
             {"strip_check_numerics", "a CheckNumerics becomes an Identity"},
             {"strip_print", "a Print becomes an Identity, a PrintV2 a NoOp"});

}  // namespace
}  // namespace grapnel
