// Calls, branches and loops. The forward op gets a copy of its function that also returns the inner
// tensors that the gradient needs: calls and branches return them as more results, loops as stacks,
// onto which each iteration pushes (TensorListPushBack) and from which the gradient's loop pops.
#include "lib/ir/node_types.h"
#include "lib/trace/function_gradient.h"
#include "lib/trace/variable_reads.h"

namespace grapnel {
namespace {

using G = GradientContext;

// Returns the incoming gradients of the op's outputs; a default Value for an output without a
// gradient.
Values Incoming(G& g, int count) {
  Values dys;
  for (int i = 0; i < count; ++i) {
    bool has_one = i < g.num_outputs() && g.has_dy(i) && IsTrainable(g.y(i).dtype());
    dys.push_back(has_one ? g.dy(i) : Value());
  }
  return dys;
}
Values Existing(const Values& values) {
  Values existing;
  for (const Value& value : values) {
    if (value.ok()) existing.push_back(value);
  }
  return existing;
}

void Append(TraceBody& body, NodeId id, const char* key, llvm::ArrayRef<DataType> types) {
  std::vector<DataType> all;
  if (auto value = body.graph->node(id).FindAttr(key)) all = value->AsTypes().value_or(all);
  all.insert(all.end(), types.begin(), types.end());
  body.graph->SetAttr(id, key, attr::Types(all));
}

const Function* FunctionAt(G& g, llvm::StringRef name) {
  return g.state().module->FindFunction(name);
}

// Returns a serialized attribute that is a list of functions.
std::string Funcs(llvm::ArrayRef<std::string> names) {
  proto::AttrValue value;
  for (const std::string& name : names) value.mutable_list()->add_func()->set_name(name);
  return value.SerializeAsString();
}

// --- Calls.

InputGradients CallOf(G& g) {
  const Node& node = g.node();
  auto attr = node.FindAttr("f");
  bool direct = !attr;
  llvm::StringRef name = direct ? node.op() : attr->AsFuncName().value_or("");
  const Function* function = FunctionAt(g, name);
  if (!function) return g.Fail("there is no function '" + name.str() + "'");
  int results = static_cast<int>(function->results.size());
  Values dys = Incoming(g, results);
  FunctionGradient of = GradientOfFunction(g.state(), *function, dys);
  TraceBody& body = g.forward();
  std::vector<DataType> more = of.TakeDtypes();
  if (!more.empty()) {
    if (direct) {
      body.graph->SetOp(node.id(), of.forward->function->name());
    } else {
      body.graph->SetAttr(node.id(), "f", attr::Func(of.forward->function->name()));
      Append(body, node.id(), "Tout", more);
    }
    body.InferShapes(node.id());
  }
  Values captured;
  for (size_t i = 0; i < of.captures.size(); ++i)
    captured.push_back(of.places[i] >= 0 ? g.y(of.places[i]) : g.x(of.ArgOf(of.captures[i])));
  Values gradients = of.Call(g.state(), Existing(dys), captured);
  InputGradients inputs(g.num_inputs());
  for (size_t i = 0; i < of.args.size(); ++i) inputs[of.args[i]] = gradients[i];
  return inputs;
}
constexpr uint64_t kAllOptional = ~uint64_t{0};
GRAPNEL_GRADIENT("PartitionedCall", CallOf, kAllOptional);
GRAPNEL_GRADIENT("StatefulPartitionedCall", CallOf, kAllOptional);
GRAPNEL_GRADIENT("(function)", CallOf, kAllOptional);

// Returns zeros of the dtype `dtype`, with the shape of the variable's value.
Value ZerosOfVariable(G& g, const Value& handle, DataType dtype) {
  Shape shape = ContentOf(handle);
  if (shape.IsFullyKnown()) return g.Zeros(shape.dims(), dtype);
  return g.Zeros(g.Op("VariableShape", {handle}), dtype);
}

// --- Branches.

class BranchGradient {
 public:
  explicit BranchGradient(G& g) : g_(g), state_(g.state()) {}

  InputGradients Make() {
    std::vector<llvm::StringRef> names = BranchNames();
    std::vector<const Function*> functions;
    for (llvm::StringRef name : names) {
      functions.push_back(FunctionAt(g_, name));
      if (!functions.back()) return g_.Fail("there is no function '" + name.str() + "'");
    }
    results_ = static_cast<int>(functions[0]->results.size());
    dys_ = Incoming(g_, results_);
    for (const Function* function : functions)
      branches_.push_back(GradientOfFunction(state_, *function, dys_));
    OutputIntermediates();
    FindInputs();
    if (inputs_.empty()) return {};
    Values gradients = Choose(0);
    InputGradients all(g_.num_inputs());
    for (size_t i = 0; i < inputs_.size() && i < gradients.size(); ++i)
      all[inputs_[i] + 1] = gradients[i];
    return all;
  }

 private:
  std::vector<llvm::StringRef> BranchNames() const {
    std::vector<llvm::StringRef> names;
    for (const char* key : {"then_branch", "else_branch", "branches"}) {
      if (auto value = g_.node().FindAttr(key)) llvm::append_range(names, value->FuncNames());
    }
    return names;
  }

  // Makes each branch return the tensors that its gradient needs, and, in place of those that the
  // gradients of the other branches need, unread values with the same dtypes.
  void OutputIntermediates() {
    std::vector<DataType> types;
    places_.resize(branches_.size());
    std::vector<std::unique_ptr<FunctionExtender>> extenders;
    for (const FunctionGradient& branch : branches_)
      extenders.push_back(std::make_unique<FunctionExtender>(*branch.forward));
    for (size_t b = 0; b < branches_.size(); ++b) {
      for (Port capture : branches_[b].captures) {
        if (branches_[b].ArgOf(capture) >= 0) continue;
        DataType dtype = branches_[b].forward->shapes.TypeOf(capture);
        types.push_back(dtype);
        for (size_t other = 0; other < branches_.size(); ++other) {
          TraceBody& body = *branches_[other].forward;
          Port port = other == b ? capture : Filler(body, dtype);
          int place = extenders[other]->AddResult(port, "intermediate");
          if (other == b) places_[b].push_back(place);
        }
      }
    }
    extenders.clear();
    if (types.empty()) return;
    TraceBody& body = g_.forward();
    NodeId id = g_.node().id();
    if (g_.node().FindAttr("branches")) {
      for (const FunctionGradient& branch : branches_)
        names_.push_back(branch.forward->function->name().str());
      body.graph->SetAttr(id, "branches", Funcs(names_));
    } else {
      body.graph->SetAttr(id, "then_branch", attr::Func(branches_[0].forward->function->name()));
      body.graph->SetAttr(id, "else_branch", attr::Func(branches_[1].forward->function->name()));
    }
    std::vector<Shape> shapes;
    if (auto value = g_.node().FindAttr("output_shapes"))
      shapes = value->AsShapes().value_or(shapes);
    Append(body, id, "Tout", types);
    if (!shapes.empty()) {
      shapes.resize(results_ + types.size(), Shape::Unknown());
      body.graph->SetAttr(id, "output_shapes", attr::Shapes(shapes));
    }
    body.InferShapes(id);
  }

  Port Filler(TraceBody& body, DataType dtype) {
    InBody inside(state_, &body);
    GradientContext g(state_, body, Node(), {}, 0);
    if (dtype == proto::DT_VARIANT) return g.Op("OptionalNone", {}).output().port();
    if (dtype == proto::DT_STRING) {
      return MakeConstant(body, Literal::MakeStrings({}, {""}), body.UniqueName("Const"),
                          SourceLocation())
          .port();
    }
    return g.Constant(0, dtype).port();
  }

  void FindInputs() {
    llvm::DenseSet<int> known;
    for (const FunctionGradient& branch : branches_) {
      for (size_t i = 0; i < branch.args.size(); ++i) {
        if (!known.insert(branch.args[i]).second) continue;
        inputs_.push_back(branch.args[i]);
        types_.push_back(branch.types[i]);
      }
    }
  }

  Values OfBranch(size_t b) {
    const FunctionGradient& branch = branches_[b];
    Values captured;
    size_t next = 0;
    for (Port capture : branch.captures) {
      int arg = branch.ArgOf(capture);
      captured.push_back(arg >= 0 ? g_.x(arg + 1) : g_.y(places_[b][next++]));
    }
    Values made = branch.Call(state_, Existing(dys_), captured);
    llvm::DenseMap<int, size_t> places;
    for (size_t i = 0; i < branch.args.size(); ++i) places[branch.args[i]] = i;
    Values gradients;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      auto at = places.find(inputs_[i]);
      gradients.push_back(at != places.end() ? made[at->second]
                                             : ZerosOf(g_.x(inputs_[i] + 1), types_[i]));
    }
    return gradients;
  }

  Value ZerosOf(const Value& input, DataType dtype) {
    return input.dtype() == proto::DT_RESOURCE ? ZerosOfVariable(g_, input, dtype)
                                               : g_.ZerosLike(input);
  }

  // Makes nested Ifs that choose among the gradients of the branches from number `b` on.
  Values Choose(size_t b) {
    if (b + 1 == branches_.size()) return OfBranch(b);
    Value index = g_.x(0);
    bool is_case = index.dtype() == proto::DT_INT32;
    Value here = is_case ? g_.Op("Equal", {index, static_cast<int>(b)}).output() : index;
    return MakeIf(
        state_, here, [&] { return OfBranch(b); }, [&] { return Choose(b + 1); }, SourceLocation());
  }

  G& g_;
  TraceState& state_;
  int results_ = 0;
  Values dys_;
  std::vector<FunctionGradient> branches_;
  std::vector<std::vector<int>> places_;  // by branch: outputs of the op that its gradient needs
  std::vector<std::string> names_;
  std::vector<int> inputs_;  // inputs of the op, without the one that selects the branch
  std::vector<DataType> types_;
};
InputGradients BranchOf(G& g) { return BranchGradient(g).Make(); }
GRAPNEL_GRADIENT("If", BranchOf, kAllOptional);
GRAPNEL_GRADIENT("StatelessIf", BranchOf, kAllOptional);
GRAPNEL_GRADIENT("Case", BranchOf, kAllOptional);
GRAPNEL_GRADIENT("StatelessCase", BranchOf, kAllOptional);

// --- Loops.

class LoopGradient {
 public:
  explicit LoopGradient(G& g) : g_(g), state_(g.state()) {}

  InputGradients Make() {
    auto body = g_.node().FindAttr("body");
    const Function* function = FunctionAt(g_, body ? body->AsFuncName().value_or("") : "");
    if (!function) return g_.Fail("there is no function for its body");
    count_ = g_.num_inputs();
    MakeDys(*function);
    if (Existing(dys_).empty()) return {};
    of_ = GradientOfFunction(state_, *function, dys_);
    FindInvariants();
    PushInBody();
    Values results = MakeBackwardLoop();
    InputGradients gradients(count_);
    for (size_t i = 0; i < of_.results.size() && i + 1 < results.size(); ++i)
      gradients[of_.results[i]] = results[i + 1];
    return gradients;
  }

 private:
  bool PassesOn(const Function& function, int i) const {
    Port port = function.body.node(function.results[i].node).input(0);
    return port.node == function.args[i];
  }

  // Makes an incoming gradient for each loop variable that can have one: zeros if the loop's result
  // has no gradient, because an iteration may add a gradient that comes from another variable.
  void MakeDys(const Function& function) {
    for (int i = 0; i < count_; ++i) {
      Value x = g_.x(i);
      if (g_.has_dy(i) && IsTrainable(x.dtype())) {
        dys_.push_back(g_.dy(i));
      } else if (x.dtype() == proto::DT_RESOURCE) {
        DataType dtype = PassesOn(function, i)
                             ? VariableReads(*state_.module).InFunction(function, i)
                             : proto::DT_INVALID;
        dys_.push_back(IsTrainable(dtype) ? ZerosOfVariable(g_, x, dtype) : Value());
      } else {
        dys_.push_back(IsTrainable(x.dtype()) ? ZerosFor(state_, g_.y(i)).values : Value());
      }
    }
  }

  void FindInvariants() {
    for (Port capture : of_.captures) {
      int arg = of_.ArgOf(capture);
      is_invariant_.push_back(arg >= 0 && PassesOn(*of_.forward->function, arg) ? arg : -1);
    }
  }

  // Makes the forward loop count its iterations, and push the tensors that the gradient needs onto
  // stacks.
  void PushInBody() {
    TraceBody& outer = g_.forward();
    auto cond_name = g_.node().FindAttr("cond")->AsFuncName().value_or("");
    Function* cond = state_.module->AddCopy(*FunctionAt(g_, cond_name),
                                            (of_.forward->function->name() + "_cond").str());
    InBody at(state_, &outer);
    cond_ = state_.EnterExisting(cond);
    state_.current = &outer;
    std::string before = std::exchange(outer.scope, outer.CallScope(g_.node().id()));
    GradientContext g(state_, outer, Node(), {}, 0);
    AddVariables(g);
    outer.scope = before;
    SetLoop();
  }

  void AddVariables(G& g) {
    FunctionExtender cond(*cond_), body(*of_.forward);
    // Adds a loop variable that starts as `init`; `next`, called in the body, returns its next
    // value.
    auto add = [&](const Value& init, const char* name,
                   llvm::function_ref<Value(const Value&)> next) {
      cond.AddArgument(init.dtype(), init.shape(), name);
      int at = body.AddArgument(init.dtype(), init.shape(), name);
      TraceBody& inner = *of_.forward;
      InBody inside(state_, &inner);
      Value made = Identity(next(Value(&inner, {inner.function->args[at], 0})));
      body.AddResult(made.port(), name);
      types_.push_back(init.dtype());
      inits_.push_back(init.port());
    };
    add(g.Constant(0, proto::DT_INT32), "iterations", [](const Value& count) { return count + 1; });
    for (size_t i = 0; i < of_.captures.size(); ++i) {
      if (is_invariant_[i] >= 0) continue;
      Value inner(of_.forward, of_.captures[i]);
      Value list = g.Op("EmptyTensorList", {-1, -1}, {{"element_dtype", inner.dtype()}});
      add(list, "accumulator", [&](const Value& stack) {
        return g.Op("TensorListPushBack", {stack, inner}).output();
      });
    }
  }

  // Makes the While node take the added variables and call the functions that have them.
  void SetLoop() {
    TraceBody& outer = g_.forward();
    Graph& graph = *outer.graph;
    NodeId id = g_.node().id();
    Rewire(graph, id, inits_);
    Append(outer, id, "T", types_);
    std::vector<Shape> shapes;
    if (auto value = g_.node().FindAttr("output_shapes"))
      shapes = value->AsShapes().value_or(shapes);
    if (!shapes.empty()) {
      shapes.resize(count_ + types_.size(), Shape::Scalar());
      graph.SetAttr(id, "output_shapes", attr::Shapes(shapes));
    }
    graph.SetAttr(id, "body", attr::Func(of_.forward->function->name()));
    graph.SetAttr(id, "cond", attr::Func(cond_->function->name()));
    outer.InferShapes(id);
  }

  static void Rewire(Graph& graph, NodeId id, llvm::ArrayRef<Port> more) {
    Node node = graph.node(id);
    llvm::SmallVector<Port, 8> ports;
    for (int i = 0; i < node.num_inputs(); ++i) ports.push_back(node.input(i));
    ports.append(more.begin(), more.end());
    for (int i = 0; i < node.num_controls(); ++i)
      ports.push_back({node.control(i).id(), kControlPort});
    graph.SetInputs(id, ports);
  }

  Values MakeBackwardLoop() {
    std::vector<Operand> init = {g_.y(count_)};
    for (int result : of_.results) init.push_back(dys_[result]);
    int lists = 0;
    for (int invariant : is_invariant_) {
      if (invariant < 0) init.push_back(g_.y(count_ + 1 + lists++));
    }
    return MakeWhile(
        state_, [](llvm::ArrayRef<Value> v) { return v[0] > 0; },
        [&](llvm::ArrayRef<Value> v) { return Iteration(v); }, init, SourceLocation());
  }

  Values Iteration(llvm::ArrayRef<Value> v) {
    size_t grads = of_.results.size(), next = 1 + grads;
    Values dys(v.begin() + 1, v.begin() + 1 + grads), captured, lists;
    for (size_t i = 0; i < of_.captures.size(); ++i) {
      if (is_invariant_[i] >= 0) {
        captured.push_back(g_.x(is_invariant_[i]));
        continue;
      }
      DataType dtype = of_.forward->shapes.TypeOf(of_.captures[i]);
      Operation popped = g_.Op("TensorListPopBack", {v[next++], -1}, {{"element_dtype", dtype}});
      lists.push_back(popped.output(0));
      captured.push_back(popped.output(1));
    }
    Values made = of_.Call(state_, dys, captured);
    Values all = {v[0] - 1};
    for (size_t i = 0; i < grads; ++i) {
      auto at = llvm::find(of_.args, of_.results[i]);
      Value gradient = at != of_.args.end() ? made[at - of_.args.begin()] : g_.ZerosLike(dys[i]);
      all.push_back(WithShapeOf(gradient, dys[i]));
    }
    all.insert(all.end(), lists.begin(), lists.end());
    return all;
  }

  // Returns the gradient with the known shape of `dy`, so that the shape of a loop variable stays
  // the same.
  Value WithShapeOf(const Value& gradient, const Value& dy) {
    if (!gradient.ok() || gradient.shape() == dy.shape() || !dy.shape().known_rank() ||
        dy.dtype() == proto::DT_VARIANT)
      return gradient;
    return g_.Op("EnsureShape", {gradient}, {{"shape", dy.shape()}});
  }

  G& g_;
  TraceState& state_;
  int count_ = 0;  // number of loop variables
  Values dys_;
  FunctionGradient of_;
  TraceBody* cond_ = nullptr;      // a copy of the condition
  std::vector<DataType> types_;    // dtypes of the added variables
  std::vector<Port> inits_;        // initial values of the added variables
  std::vector<int> is_invariant_;  // by capture: the loop-invariant variable that it is, or -1
};
InputGradients LoopOf(G& g) { return LoopGradient(g).Make(); }
GRAPNEL_GRADIENT("While", LoopOf, kAllOptional);
GRAPNEL_GRADIENT("StatelessWhile", LoopOf, kAllOptional);

}  // namespace
}  // namespace grapnel
