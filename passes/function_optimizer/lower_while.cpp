// Lowers a While marked `_lower_using_switch_merge` to a loop of Enter, Merge, Switch,
// NextIteration and Exit nodes.
//
//   Before:  x -> While(cond=c, body=b) -> y
//   After:   x -> Enter -> Merge ---> c -> LoopCond
//                          ^   \         |
//                          |    \-> Switch --false--> Exit -> y
//                          |           \ true
//               NextIteration <--- b <--/
//
// Condition and body are calls first; inline_call visits them next. Resources do not change in a
// loop: they enter once, as loop constants. The node itself becomes a NoOp, or an IdentityN of the
// results if it is fetched, so that others can still wait for it.
//
// Refuses: nodes that are fed, marked for XLA, or have an input of unknown dtype; loops that carry
// only resources; functions that are not in the library, or whose numbers of arguments or results
// do not fit the node's.
#include "lib/function/function_rewriter.h"
#include "lib/ir/node_types.h"

namespace grapnel {
namespace {

proto::NameAttrList FunctionIn(const Node& node, const char* key) {
  proto::AttrValue value;
  if (std::optional<AttrView> attr = node.FindAttr(key))
    value.ParseFromArray(attr->bytes().data(), attr->bytes().size());
  return value.func();
}

class Loop {
 public:
  Loop(FunctionRewriter& in, const Node& node)
      : in_(in), node_(node), name_(node.name().str()), device_(node.device().str()) {}

  void Run() {
    std::string cond_name = NewName("cond"), body_name = NewName("body");
    for (int i = 0; i < node_.num_inputs(); ++i)
      carried_.push_back(in_.edit.TypeOf(node_.input(i)) != proto::DT_RESOURCE);
    AddEnters();
    AddMerges();
    Node cond = in_.AddCall(cond_name, FunctionIn(node_, "cond"), device_, Values(merges_, 0));
    in_.edit.AddControl(cond, First(merges_));
    in_.InheritOrigin(cond.id(), node_);
    loop_cond_ = in_.Add(NewName("LoopCond"), "LoopCond", device_, {{cond.id(), 0}});
    AddSwitches();
    Node body = in_.AddCall(body_name, FunctionIn(node_, "body"), device_, Values(switches_, 1));
    in_.InheritOrigin(body.id(), node_);
    Node body_control = in_.AddTyped(NewName("loop_body_control"), "Identity", device_,
                                     {{First(switches_).id(), 1}});
    in_.edit.AddControl(body, body_control);
    Node executed = AddExits();
    in_.Redirect(node_, outputs_, executed);
    in_.KeepAs(node_, outputs_, executed);
    AddNextIterations(body);
  }

 private:
  std::string NewName(const llvm::Twine& part) { return in_.NewName(name_ + "/" + part); }
  const Node& First(const std::vector<Node>& nodes) const {
    return *llvm::find_if(nodes, [](const Node& node) { return static_cast<bool>(node); });
  }
  // The inputs of a call of `cond` or `body`: output `port` of the node in `nodes` for a value that
  // the loop changes, and the Enter for a resource, which it does not.
  llvm::SmallVector<Port, 8> Values(const std::vector<Node>& nodes, int32_t port) const {
    llvm::SmallVector<Port, 8> values;
    for (size_t i = 0; i < nodes.size(); ++i)
      values.push_back(carried_[i] ? Port{nodes[i].id(), port} : Port{enters_[i].id(), 0});
    return values;
  }

  void AddEnters() {
    Editor& edit = in_.edit;
    for (int i = 0; i < node_.num_inputs(); ++i) {
      Node enter =
          in_.AddTyped(NewName("enter"), "Enter", node_.input_node(i).device(), {node_.input(i)});
      edit.SetAttr(enter, "frame_name", attr::String(name_));
      edit.SetAttr(enter, "is_constant", attr::Bool(!carried_[i]));
      edit.SetAttr(enter, "parallel_iterations",
                   attr::Int(node_.GetInt("parallel_iterations", 10)));
      enters_.push_back(enter);
    }
    if (node_.num_controls() == 0) return;
    Node before = in_.Add(NewName("LoopControlInputs"), "NoOp", device_);
    edit.CopyControls(before, node_);
    for (const Node& enter : enters_) edit.AddControl(enter, before);
  }

  void AddMerges() {
    for (size_t i = 0; i < enters_.size(); ++i) {
      merges_.push_back(Node());
      if (!carried_[i]) continue;
      Port entered = {enters_[i].id(), 0};
      merges_[i] = in_.AddTyped(NewName("merge"), "Merge", enters_[i].device(), {entered, entered});
      in_.edit.SetAttr(merges_[i], "N", attr::Int(2));
    }
  }

  void AddSwitches() {
    for (size_t i = 0; i < merges_.size(); ++i) {
      switches_.push_back(Node());
      if (!carried_[i]) continue;
      switches_[i] =
          in_.AddTyped(NewName(node_.input_node(i).name() + "_switch"), "Switch",
                       merges_[i].device(), {{merges_[i].id(), 0}, {loop_cond_.id(), 0}});
    }
  }

  Node AddExits() {
    std::vector<Node> exits;
    for (size_t i = 0; i < switches_.size(); ++i) {
      outputs_.push_back(node_.input(i));
      if (!carried_[i]) continue;
      exits.push_back(
          in_.AddTyped(NewName("exit"), "Exit", switches_[i].device(), {{switches_[i].id(), 0}}));
      outputs_[i] = {exits.back().id(), 0};
    }
    Node executed = in_.Add(NewName("LoopExecuted"), "NoOp", device_);
    for (const Node& exit : exits) in_.edit.AddControl(executed, exit);
    return executed;
  }

  void AddNextIterations(const Node& body) {
    for (size_t i = 0; i < merges_.size(); ++i) {
      if (!carried_[i]) continue;
      Node next = in_.Add(NewName("next_iteration"), "NextIteration", merges_[i].device(),
                          {{body.id(), static_cast<int32_t>(i)}});
      in_.edit.SetAttr(next, "T", attr::Type(merges_[i].GetType("T")));
      in_.edit.AddControl(next, body);
      in_.edit.SetInput(merges_[i], 1, {next.id(), 0});
    }
  }

  FunctionRewriter& in_;
  Node node_;
  std::string name_, device_;
  std::vector<bool> carried_;                     // by input: not a resource
  std::vector<Node> enters_, merges_, switches_;  // by input; resources have only an Enter
  Node loop_cond_;
  llvm::SmallVector<Port, 8> outputs_;
};

Verdict LowerWhile(FunctionRewriter& rule, const Node& node) {
  if (!node.GetBool(kLower)) return rule.NotMine();
  if (rule.edit.boundary().keep_functional) return rule.NotMine();
  if (llvm::StringRef mark = rule.XlaMark(node); !mark.empty())
    return rule.Refuse("'{0}' is marked for XLA ({1})\nremove the mark: jit_compile=False",
                       node.name(), mark);
  if (std::string why = rule.WhyNotPassed(node); !why.empty()) return rule.Refuse("{0}", why);
  for (const char* key : {"cond", "body"}) {
    int gives = key == std::string("cond") ? 1 : NumOutputs(node);
    std::string why = rule.WhyNotCallable(FunctionIn(node, key), node.num_inputs(), gives);
    if (!why.empty()) return rule.Refuse("{0}", why);
  }
  bool carries = false;
  for (int i = 0; i < node.num_inputs(); ++i)
    carries |= rule.edit.TypeOf(node.input(i)) != proto::DT_RESOURCE;
  if (!carries)
    return rule.Refuse("'{0}' has no loop variable other than resources, which do not change",
                       node.name());
  rule.WaitForInputs(node);
  rule.WaitForFrame(node);
  Loop(rule, node).Run();
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "function_optimizer",
     .phase = FunctionRewriter::kOpenCalls,
     .after = "lower_conditional",
     .name = "lower_while",
     .ops = {"While", "StatelessWhile"},
     .help = "a While becomes a loop of Enter, Merge, Switch and NextIteration",
     .refuses = "nodes without _lower_using_switch_merge; nodes that are fed, marked for XLA or "
                "have an input of unknown dtype; loops that carry only resources; functions not in "
                "the library or with other numbers of arguments or results",
     .apply = LowerWhile});

}  // namespace
}  // namespace grapnel
