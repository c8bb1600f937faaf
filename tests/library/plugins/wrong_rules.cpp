// Incorrect rules, each wrong in its own way, such as a beginner may write. Each is a pass of its
// own under the same name; tests/tools/inputs/wrong_rules.py has a graph for each, and how it is
// caught.
#include "grapnel/pass/rule.h"
#include "grapnel/support/plugin.h"

GRAPNEL_PLUGIN("wrong_rules");

namespace {

using namespace grapnel;

// --- Common helpers.
Verdict ToOp(RuleContext& rule, const Node& node, const char* op) {
  rule.edit.SetOp(node, op);
  return rule.Done();
}
Verdict ToInput(RuleContext& rule, const Node& node, int i = 0) {
  return rule.ReplaceBy(node.input(i));
}
// op(op(x)) -> x
Verdict ToInputOf(RuleContext& rule, const Node& node, const char* op) {
  Node inner = rule.Input(node, 0);
  if (!inner || inner.op() != op) return rule.NotMine();
  rule.edit.Used(inner);
  return rule.ReplaceBy(inner.input(0));
}
Verdict WithAttr(RuleContext& rule, const Node& node, const char* key, const std::string& value) {
  rule.edit.SetAttr(node, key, value);
  return rule.Done();
}
Verdict WithoutWaiting(RuleContext& rule, const Node& node) {
  if (node.num_controls() == 0) return rule.NotMine();
  rule.edit.RemoveControl(node, node.control(0));
  return rule.Done();
}
Verdict SwapInputs(RuleContext& rule, const Node& node, int a, int b) {
  Port first = node.input(a), second = node.input(b);
  rule.edit.SetInput(node, a, second);
  rule.edit.SetInput(node, b, first);
  return rule.Done();
}
Node Constant(RuleContext& rule, const Node& like, const Literal& value) {
  return rule.edit.AddConstant((like.name() + "/wrong").str(), value, like.device());
}
// A node of the same dtype with these inputs.
Node Make(RuleContext& rule, const Node& like, const char* op, llvm::ArrayRef<Port> inputs) {
  Node made = rule.Make((like.name() + "/" + op).str(), op, like.device(), inputs);
  rule.SetType(made, "T", like.GetType("T"));
  return made;
}
Verdict ToBool(RuleContext& rule, const Node& node, bool value) {
  rule.edit.TurnIntoConstant(node, Literal::Scalar(proto::DT_BOOL, value), {});
  return rule.Done();
}
Port Out(const Node& node, int i = 0) { return {node.id(), i}; }

struct Wrong {
  const char* name;
  const char* op;
  Verdict (*apply)(RuleContext&, const Node&);
};

const Wrong kRules[] = {
    // --- Values: of some inputs, or of all.
    {"sqrt_of_square", "Sqrt", [](RuleContext& r, const Node& n) { return ToInputOf(r, n, "Square"); }},
    {"square_of_sqrt", "Square", [](RuleContext& r, const Node& n) { return ToInputOf(r, n, "Sqrt"); }},
    {"exp_of_log", "Exp", [](RuleContext& r, const Node& n) { return ToInputOf(r, n, "Log"); }},
    {"log_of_exp", "Log", [](RuleContext& r, const Node& n) { return ToInputOf(r, n, "Exp"); }},
    {"abs_is_nothing", "Abs", [](RuleContext& r, const Node& n) { return ToInput(r, n); }},
    {"relu_is_nothing", "Relu", [](RuleContext& r, const Node& n) { return ToInput(r, n); }},
    {"relu6_is_relu", "Relu6", [](RuleContext& r, const Node& n) { return ToOp(r, n, "Relu"); }},
    {"no_clip", "ClipByValue", [](RuleContext& r, const Node& n) { return ToInput(r, n); }},
    {"floor_is_ceil", "Floor", [](RuleContext& r, const Node& n) { return ToOp(r, n, "Ceil"); }},
    {"floor_div", "FloorDiv", [](RuleContext& r, const Node& n) { return ToOp(r, n, "TruncateDiv"); }},
    {"floor_mod", "FloorMod", [](RuleContext& r, const Node& n) { return ToOp(r, n, "TruncateMod"); }},
    {"maximum_is_first", "Maximum", [](RuleContext& r, const Node& n) { return ToInput(r, n); }},
    {"minus_the_other_way", "Sub", [](RuleContext& r, const Node& n) { return SwapInputs(r, n, 0, 1); }},
    {"and_is_or", "LogicalAnd", [](RuleContext& r, const Node& n) { return ToOp(r, n, "LogicalOr"); }},
    {"less_or_equal", "Less", [](RuleContext& r, const Node& n) { return ToOp(r, n, "LessEqual"); }},
    {"never_nan", "IsNan", [](RuleContext& r, const Node& n) {
       Node zero = Constant(r, n, Literal::Scalar(n.GetType("T"), 0));
       Node self = Make(r, n, "Sub", {n.input(0), n.input(0)});
       Node never = Make(r, n, "Less", {Out(self), Out(zero)});
       return r.ReplaceBy(never);
     }},
    {"never_infinite", "IsInf", [](RuleContext& r, const Node& n) { return ToOp(r, n, "IsNan"); }},
    {"minus_itself", "Sub", [](RuleContext& r, const Node& n) {
       if (n.input(0) != n.input(1)) return r.NotMine();
       return r.ReplaceBy(Make(r, n, "ZerosLike", {n.input(0)}));
     }},
    {"by_itself", "RealDiv", [](RuleContext& r, const Node& n) {
       if (n.input(0) != n.input(1)) return r.NotMine();
       return r.ReplaceBy(Make(r, n, "OnesLike", {n.input(0)}));
     }},
    {"times_zero", "Mul", [](RuleContext& r, const Node& n) {
       return r.ReplaceBy(Make(r, n, "ZerosLike", {n.input(0)}));
     }},
    {"sign_by_division", "Sign", [](RuleContext& r, const Node& n) {
       Node size = Make(r, n, "Abs", {n.input(0)});
       return r.ReplaceBy(Make(r, n, "RealDiv", {n.input(0), Out(size)}));
     }},
    {"round_up_halves", "Round", [](RuleContext& r, const Node& n) {
       Node half = Constant(r, n, Literal::Scalar(n.GetType("T"), 0.5));
       Node more = Make(r, n, "AddV2", {n.input(0), Out(half)});
       return r.ReplaceBy(Make(r, n, "Floor", {Out(more)}));
     }},
    {"mean_of_two", "Mean", [](RuleContext& r, const Node& n) {
       Node half = Constant(r, n, Literal::Scalar(n.GetType("T"), 0.5));
       Node sum = Make(r, n, "Sum", {n.input(0), n.input(1)});
       r.SetType(sum, "Tidx", n.GetType("Tidx"));
       return r.ReplaceBy(Make(r, n, "Mul", {Out(sum), Out(half)}));
     }},
    {"mean_without_nan", "Mean", [](RuleContext& r, const Node& n) {
       Node ones = Make(r, n, "OnesLike", {n.input(0)});
       llvm::SmallVector<Node, 2> sums;
       for (Port port : {n.input(0), Out(ones)}) {
         sums.push_back(Make(r, n, "Sum", {port, n.input(1)}));
         r.SetType(sums.back(), "Tidx", n.GetType("Tidx"));
       }
       return r.ReplaceBy(Make(r, n, "DivNoNan", {Out(sums[0]), Out(sums[1])}));
     }},
    {"sum_is_max", "Sum", [](RuleContext& r, const Node& n) { return ToOp(r, n, "Max"); }},
    {"sum_is_max_of_one", "Max", [](RuleContext& r, const Node& n) { return ToOp(r, n, "Sum"); }},
    {"same_is_valid", "MaxPool", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "padding", attr::String("VALID"));
     }},
    {"same_is_valid_too", "Conv2D", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "padding", attr::String("VALID"));
     }},
    {"transpose_by_reshape", "Transpose", [](RuleContext& r, const Node& n) { return ToInput(r, n); }},
    {"concat_swapped", "ConcatV2", [](RuleContext& r, const Node& n) { return SwapInputs(r, n, 0, 1); }},
    {"select_swapped", "SelectV2", [](RuleContext& r, const Node& n) { return SwapInputs(r, n, 1, 2); }},
    {"no_cast", "Cast", [](RuleContext& r, const Node& n) { return ToInputOf(r, n, "Cast"); }},
    {"arg_min", "ArgMax", [](RuleContext& r, const Node& n) { return ToOp(r, n, "ArgMin"); }},
    {"no_bias", "BiasAdd", [](RuleContext& r, const Node& n) { return ToInput(r, n); }},
    {"transposed_product", "MatMul", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "transpose_b", attr::Bool(!n.GetBool("transpose_b")));
     }},
    {"exclusive_sum", "Cumsum", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "exclusive", attr::Bool(true));
     }},
    {"wrong_template", "StringFormat", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "template", attr::String("%s!"));
     }},
    {"shape_of_one", "Reshape", [](RuleContext& r, const Node& n) {
       int64_t dims[] = {1, 4};
       Node shape = Constant(r, n, Literal::Integers(proto::DT_INT32, {2}, dims));
       r.edit.SetInput(n, 1, Out(shape));
       return r.Done();
     }},
    {"another_branch", "If", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "else_branch", n.FindAttr("then_branch")->bytes().str());
     }},
    // --- Order and effects.
    {"read_does_not_wait", "ReadVariableOp", WithoutWaiting},
    {"write_does_not_wait", "AssignVariableOp", WithoutWaiting},
    {"add_does_not_wait", "AssignAddVariableOp", WithoutWaiting},
    {"old_read_does_not_wait", "Identity", WithoutWaiting},
    {"sum_does_not_wait", "AddV2", WithoutWaiting},
    {"exp_does_not_wait", "Exp", WithoutWaiting},
    {"log_does_not_wait", "Log", WithoutWaiting},
    {"print_does_not_wait", "PrintV2", WithoutWaiting},
    {"write_something_else", "AssignVariableOp", [](RuleContext& r, const Node& n) {
       if (r.Input(n, 1).op() == "Neg") return r.NotMine();
       Node other = Make(r, r.Input(n, 1), "Neg", {n.input(1)});
       r.SetType(other, "T", n.GetType("dtype"));
       r.edit.SetInput(n, 1, Out(other));
       return r.Done();
     }},
    {"write_elsewhere", "AssignVariableOp", [](RuleContext& r, const Node& n) {
       Node other = r.graph.Find("other");
       if (!other) return r.NotMine();
       r.edit.SetInput(n, 0, Out(other));
       return r.Done();
     }},
    {"drop_second_write", "AssignVariableOp", [](RuleContext& r, const Node& n) {
       if (n.num_controls() == 0) return r.NotMine();
       r.edit.SetOp(n, "NoOp");
       r.edit.SetInputs(n, {{n.control(0).id(), kControlPort}});
       for (const char* key : {"dtype", "validate_shape"}) r.edit.RemoveAttr(n, key);
       return r.Done();
     }},
    {"print_twice", "PrintV2", [](RuleContext& r, const Node& n) {
       if (n.num_controls() > 0) return r.NotMine();
       Node again = r.Make("again", "PrintV2", n.device(), {n.input(0)});
       r.edit.AddControl(n, again);
       return r.Done();
     }},
    {"assert_nothing", "Assert", [](RuleContext& r, const Node& n) {
       Node truth = Constant(r, n, Literal::Scalar(proto::DT_BOOL, true));
       r.edit.SetInput(n, 0, Out(truth));
       return r.Done();
     }},
    // --- Edits that break the graph.
    {"remove_read", "Neg", [](RuleContext& r, const Node& n) {
       r.edit.RemoveNode(n);
       return r.Done();
     }},
    {"remove_fetched", "Exp", [](RuleContext& r, const Node& n) {
       r.edit.RemoveNode(n);
       return r.Done();
     }},
    {"read_removed", "Exp", [](RuleContext& r, const Node& n) {
       Node neg = r.Input(n, 0);
       r.edit.SetInput(n, 0, neg.input(0));
       r.edit.RemoveNode(neg);
       r.edit.SetInput(n, 0, Out(neg));
       return r.Done();
     }},
    {"wait_for_removed", "Exp", [](RuleContext& r, const Node& n) {
       Node neg = r.Input(n, 0);
       r.edit.SetInput(n, 0, neg.input(0));
       r.edit.RemoveNode(neg);
       r.edit.AddControl(n, neg);
       return r.Done();
     }},
    {"change_removed", "Exp", [](RuleContext& r, const Node& n) {
       Node neg = r.Input(n, 0);
       r.edit.SetInput(n, 0, neg.input(0));
       r.edit.RemoveNode(neg);
       r.edit.SetOp(neg, "Abs");
       return r.Done();
     }},
    {"wrong_dtype", "Neg", [](RuleContext& r, const Node& n) {
       r.SetType(n, "T", proto::DT_INT32);
       return r.Done();
     }},
    {"another_dtype_fetched", "Exp", [](RuleContext& r, const Node& n) {
       Node neg = r.Input(n, 0);
       r.edit.SetOp(n, "Cast");
       r.edit.RemoveAttr(n, "T");
       r.SetType(n, "SrcT", neg.GetType("T"));
       r.SetType(n, "DstT", proto::DT_HALF);
       return r.Done();
     }},
    {"without_dtype", "Neg", [](RuleContext& r, const Node& n) {
       r.edit.RemoveAttr(n, "T");
       return r.Done();
     }},
    {"number_as_dtype", "Neg", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "T", attr::Int(1));
     }},
    {"constant_of_another_dtype", "Const", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "value",
                       attr::Tensor(Literal::Scalar(proto::DT_INT32, 1).ToTensorProto()));
     }},
    {"one_input_more", "Neg", [](RuleContext& r, const Node& n) {
       r.edit.AddInput(n, n.input(0));
       return r.Done();
     }},
    {"one_input_less", "Neg", [](RuleContext& r, const Node& n) {
       r.edit.RemoveInput(n, 0);
       return r.Done();
     }},
    {"output_that_is_not_there", "Exp", [](RuleContext& r, const Node& n) {
       r.edit.SetInput(n, 0, Out(r.Input(n, 0), 5));
       return r.Done();
     }},
    {"circle", "Neg", [](RuleContext& r, const Node& n) {
       r.edit.SetInput(n, 0, Out(r.graph.node(n.uses()[0].node)));
       return r.Done();
     }},
    {"function_that_is_not_there", "PartitionedCall", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "f", attr::Func("nowhere"));
     }},
    {"function_of_two", "PartitionedCall", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "f", attr::Func("two"));
     }},
    {"calls_itself", "Neg", [](RuleContext& r, const Node& n) {
       if (!r.edit.function()) return r.NotMine();
       r.edit.SetOp(n, "PartitionedCall");
       r.edit.RemoveAttr(n, "T");
       r.edit.SetAttr(n, "Tin", attr::Types({proto::DT_FLOAT}));
       r.edit.SetAttr(n, "Tout", attr::Types({proto::DT_FLOAT}));
       r.edit.SetAttr(n, "f", attr::Func(r.edit.function()->name()));
       return r.Done();
     }},
    {"made_without_name", "Neg", [](RuleContext& r, const Node& n) {
       Node made = r.Make("", "Neg", n.device(), {n.input(0)});
       r.SetType(made, "T", n.GetType("T"));
       return r.ReplaceBy(made);
     }},
    {"fed_with_another_shape", "Placeholder", [](RuleContext& r, const Node& n) {
       return WithAttr(r, n, "shape", attr::ShapeOf(Shape(Dims{7})));
     }},
    // --- Changes without the Editor.
    {"op_past_the_editor", "Neg", [](RuleContext& r, const Node& n) {
       r.graph.SetOp(n.id(), "Abs");
       return r.NotMine();
     }},
    {"op_past_the_editor_and_done", "Neg", [](RuleContext& r, const Node& n) {
       r.graph.SetOp(n.id(), "Abs");
       r.edit.SetAttr(n, "_seen", attr::Bool(true));
       return r.Done();
     }},
    {"attribute_past_the_editor", "MatMul", [](RuleContext& r, const Node& n) {
       r.graph.SetAttr(n.id(), "transpose_b", attr::Bool(true));
       return r.NotMine();
     }},
    {"edge_past_the_editor", "Exp", [](RuleContext& r, const Node& n) {
       r.graph.SetInput(n.id(), 0, r.Input(n, 0).input(0));
       return r.Refuse("not here");
     }},
    {"control_edge_past_the_editor", "Exp", [](RuleContext& r, const Node& n) {
       if (n.num_controls() == 0) return r.NotMine();
       r.graph.RemoveControl(n.id(), n.control(0).id());
       return r.NotMine();
     }},
    {"removed_past_the_editor", "Neg", [](RuleContext& r, const Node& n) {
       r.graph.RemoveNode(n.id());
       return r.NotMine();
     }},
    {"renamed_past_the_editor", "Neg", [](RuleContext& r, const Node& n) {
       r.graph.Rename(n.id(), "another");
       return r.NotMine();
     }},
    {"made_past_the_editor", "Neg", [](RuleContext& r, const Node& n) {
       NodeId made = r.graph.AddNode("extra", "NoOp");
       r.graph.AddControl(n.id(), made);
       return r.NotMine();
     }},
    {"another_body_past_the_editor", "PartitionedCall", [](RuleContext& r, const Node& n) {
       Graph& body = r.edit.module().FindFunction(n.FindAttr("f")->FuncNames()[0])->body;
       for (Node inner : body.nodes()) {
         if (inner.op() == "Neg") body.SetOp(inner.id(), "Abs");
       }
       return r.NotMine();
     }},
};

const bool kAreRegistered = [] {
  auto make = []() -> std::unique_ptr<GraphPass> {
    return std::make_unique<SequentialOptimizer>();
  };
  for (const Wrong& wrong : kRules) {
    RegisterPass(PassInfo{.name = wrong.name, .help = "a rule that is wrong"}, make, {});
    RegisterRule({.optimizer = wrong.name,
                  .name = wrong.name,
                  .ops = {wrong.op},
                  .help = "wrong",
                  .apply = wrong.apply});
  }
  return true;
}();

// --- Passes without rules.
class Pass : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    for (Node node : edit.graph().nodes()) {
      if (node.op() == "Neg") Change(edit, node);
    }
    return Error::success();
  }
  virtual void Change(Editor& edit, const Node& node) = 0;
};
class PastTheEditor : public Pass {
  void Change(Editor& edit, const Node& node) override { edit.graph().SetOp(node.id(), "Abs"); }
};
class WithoutBegin : public Pass {
  void Change(Editor& edit, const Node& node) override { edit.SetOp(node, "Abs"); }
};
class WithoutEnd : public Pass {
  void Change(Editor& edit, const Node& node) override {
    if (edit.Begin("to_abs", node)) edit.SetOp(node, "Abs");
  }
};
class RemovesRead : public Pass {
  void Change(Editor& edit, const Node& node) override {
    if (!edit.Begin("remove", node)) return;
    edit.RemoveNode(node);
    edit.End();
  }
};
GRAPNEL_PASS(PastTheEditor, (PassInfo{.name = "pass_past_the_editor", .help = "wrong"}));
GRAPNEL_PASS(WithoutBegin, (PassInfo{.name = "pass_without_begin", .help = "wrong"}));
GRAPNEL_PASS(WithoutEnd, (PassInfo{.name = "pass_without_end", .help = "wrong"}),
             {"to_abs", "wrong"});
GRAPNEL_PASS(RemovesRead, (PassInfo{.name = "pass_removes_read", .help = "wrong"}),
             {"remove", "wrong"});

}  // namespace
