// Lowers an If or Case marked `_lower_using_switch_merge` to Switch, its branches and Merge, which
// run without a function call and let other passes see the branches.
//
//   Before:  p, x -> If(then=f, else=g) -> y
//   After:   p -> Switch(p) -> Identity (pivot) of each side: everything on that side waits for it
//            x -> Switch(p) --> f --\
//                           \-> g ---> Merge -> y
//
// The branches are calls first; inline_call visits them next. The node itself becomes a NoOp, or an
// IdentityN of the results if it is fetched, so that others can still wait for it. Case uses
// _SwitchN, with an output for each branch.
//
// Refuses: nodes that are fed, marked for XLA, or have an input of unknown dtype; branches that are
// not in the library, or whose numbers of arguments or results differ from the node's.
#include "lib/function/function_rewriter.h"
#include "lib/ir/node_types.h"

namespace grapnel {
namespace {

bool IsIf(const Node& node) { return node.op() == "If" || node.op() == "StatelessIf"; }

// The branches, in the order in which their calls are made.
std::vector<proto::NameAttrList> BranchesOf(const Node& node) {
  std::vector<proto::NameAttrList> branches;
  auto parse = [&](const char* key) {
    proto::AttrValue value;
    if (std::optional<AttrView> attr = node.FindAttr(key))
      value.ParseFromArray(attr->bytes().data(), attr->bytes().size());
    return value;
  };
  if (IsIf(node)) {
    branches.push_back(parse("then_branch").func());
    branches.push_back(parse("else_branch").func());
  } else {
    proto::AttrValue value = parse("branches");
    branches.assign(value.list().func().begin(), value.list().func().end());
  }
  return branches;
}

class Lowering {
 public:
  Lowering(FunctionRewriter& in, const Node& node, std::vector<proto::NameAttrList> branches)
      : in_(in),
        node_(node),
        branches_(std::move(branches)),
        is_if_(IsIf(node)),
        name_(node.name().str()),
        device_(node.device().str()),
        chosen_(node.input(0)) {}

  void Run() {
    for (size_t b = 0; b < branches_.size(); ++b) {
      std::string part = is_if_ ? (b == 0 ? "then" : "else") : "branch" + std::to_string(b);
      calls_.push_back({NewName(part), {}});
    }
    AddPivots();
    AddSwitches();
    AddCalls();
    AddMerges();
  }

 private:
  struct BranchCall {
    std::string name;
    llvm::SmallVector<Port, 8> inputs;
  };

  std::string NewName(const llvm::Twine& part) { return in_.NewName(name_ + "/" + part); }
  int num_branches() const { return static_cast<int>(branches_.size()); }
  // The output of the Switches for a branch. For If, branch 0 is then_branch, which runs for true,
  // and so reads output 1.
  int32_t SideOf(int branch) const { return is_if_ ? 1 - branch : branch; }

  Node AddSwitch(const std::string& name, llvm::StringRef device, Port input) {
    Node node = in_.AddTyped(name, is_if_ ? "Switch" : "_SwitchN", device, {input, chosen_});
    if (!is_if_) in_.edit.SetAttr(node, "num_outs", attr::Int(num_branches()));
    return node;
  }

  // Makes the pivots, which all nodes in a branch wait for.
  void AddPivots() {
    Node chooser = AddSwitch(NewName(is_if_ ? "switch_pred" : "branch_index"), device_, chosen_);
    in_.edit.CopyControls(chooser, node_);
    pivots_.resize(branches_.size());
    for (int i = 0; i < num_branches(); ++i) {
      // The Switch outputs come in order: for If, that of the false branch first.
      int branch = is_if_ ? 1 - i : i;
      std::string part = is_if_ ? (i == 0 ? "pivot_f" : "pivot_t") : "pivot_" + std::to_string(i);
      pivots_[branch] = in_.AddTyped(NewName(part), "Identity", device_, {{chooser.id(), i}});
    }
  }

  void AddSwitches() {
    for (int i = 1; i < node_.num_inputs(); ++i) {
      Node source = node_.input_node(i);
      Node side = AddSwitch(NewName(source.name()), source.device(), node_.input(i));
      std::string place = ("loc:@" + source.name()).str();
      in_.edit.SetAttr(side, "_class", attr::Strings({place}));
      for (int b = 0; b < num_branches(); ++b) calls_[b].inputs.push_back({side.id(), SideOf(b)});
    }
  }

  void AddCalls() {
    for (int b = 0; b < num_branches(); ++b) {
      Node call = in_.AddCall(calls_[b].name, branches_[b], device_, calls_[b].inputs);
      in_.edit.AddControl(call, pivots_[b]);
      made_.push_back(call);
      in_.InheritOrigin(call.id(), node_);
    }
  }

  void AddMerges() {
    int num_outputs = NumOutputs(made_[0]);
    llvm::SmallVector<Port, 8> outputs;
    for (int i = 0; i < num_outputs; ++i) {
      llvm::SmallVector<Port, 4> inputs;
      for (const Node& call : made_) inputs.push_back({call.id(), i});
      outputs.push_back({AddMerge(is_if_ ? "output" : "merge", inputs).id(), 0});
    }
    // The node branch_executed runs after the chosen branch, even if the branch has no results.
    llvm::SmallVector<Port, 4> pivots;
    for (const Node& pivot : pivots_) pivots.push_back({pivot.id(), 0});
    Node executed = AddMerge("branch_executed", pivots);
    for (const Node& call : made_) in_.edit.AddControl(executed, call);
    in_.Redirect(node_, outputs, executed);
    in_.KeepAs(node_, outputs, executed);
  }

  Node AddMerge(const char* part, llvm::ArrayRef<Port> inputs) {
    Node merge = in_.AddTyped(NewName(part), "Merge", device_, inputs);
    in_.edit.SetAttr(merge, "N", attr::Int(inputs.size()));
    return merge;
  }

  FunctionRewriter& in_;
  Node node_;
  std::vector<proto::NameAttrList> branches_;
  bool is_if_;
  std::string name_, device_;
  Port chosen_;  // the condition or the index
  std::vector<BranchCall> calls_;
  std::vector<Node> pivots_, made_;  // by branch
};

Verdict LowerConditional(FunctionRewriter& rule, const Node& node) {
  if (!node.GetBool(kLower)) return rule.NotMine();
  if (rule.edit.boundary().keep_functional) return rule.NotMine();
  if (llvm::StringRef mark = rule.XlaMark(node); !mark.empty())
    return rule.Refuse("'{0}' is marked for XLA ({1})\nremove the mark: jit_compile=False",
                       node.name(), mark);
  if (std::string why = rule.WhyNotPassed(node); !why.empty()) return rule.Refuse("{0}", why);
  std::vector<proto::NameAttrList> branches = BranchesOf(node);
  if (branches.empty() || node.num_inputs() == 0) return rule.NotMine();
  for (const proto::NameAttrList& branch : branches) {
    std::string why = rule.WhyNotCallable(branch, node.num_inputs() - 1, NumOutputs(node));
    if (!why.empty()) return rule.Refuse("{0}", why);
  }
  rule.WaitForInputs(node);
  rule.WaitForFrame(node);
  Lowering(rule, node, std::move(branches)).Run();
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "function_optimizer",
              .phase = FunctionRewriter::kOpenCalls,
              .after = kFirst,
              .name = "lower_conditional",
              .ops = {"If", "StatelessIf", "Case", "StatelessCase"},
              .help = "an If or Case becomes Switch, its branches and Merge",
              .refuses = "nodes without _lower_using_switch_merge; nodes that are fed, marked for "
                         "XLA or have an input of unknown dtype; branches not in the library or "
                         "with other numbers of arguments or results",
              .apply = LowerConditional});

}  // namespace
}  // namespace grapnel
