// While, If and Case as TensorFlow 2 makes them: one functional op, and a library function for each
// lambda. Follows tensorflow/python/ops/{while_v2,cond_v2}.py, including names.

#include "lib/trace/body.h"
#include "lib/trace/eager_runner.h"
#include "lib/trace/ops.h"
#include "lib/trace/traced_variables.h"
#include "lib/trace/user_call.h"

namespace grapnel {

std::vector<NodeId> EndBody(TraceBody& body, const Values& results, const SourceLocation& where) {
  std::vector<NodeId> nodes;
  NameOtherReads(*body.state);
  for (const Value& result : results) {
    Operand operands[] = {Operand(result, where)};
    Value identity = MakeOp(*body.state, {"Identity", operands, {}, {}}, where);
    if (!identity.ok()) return {};
    nodes.push_back(identity.port().node);
  }
  AddAutomaticControls(body, nodes);
  return nodes;
}

bool IsAsKnown(const Shape& shape, const Shape& wanted) {
  if (!wanted.known_rank()) return true;
  if (!shape.known_rank() || shape.rank() != wanted.rank()) return false;
  for (int i = 0; i < wanted.rank(); ++i) {
    if (wanted.IsKnown(i) && shape.dim(i) != wanted.dim(i)) return false;
  }
  return true;
}

Shape Common(const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank() || a.rank() != b.rank()) return Shape::Unknown();
  Shape common = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) != b.dim(i)) common.set_dim(i, kUnknownDim);
  }
  return common;
}

namespace {

// While an object of this class lives, the body of a new function is the current one.
class BodyGuard {
 public:
  BodyGuard(TraceState& state, llvm::StringRef function, const SourceLocation& where)
      : state_(state), call_(state, where), body_(state.Enter(function)) {}
  ~BodyGuard() { state_.Leave(); }
  BodyGuard(const BodyGuard&) = delete;
  TraceBody& body() { return *body_; }

 private:
  TraceState& state_;
  CallGuard call_;
  TraceBody* body_;
};

std::vector<Port> FirstPorts(llvm::ArrayRef<NodeId> nodes) {
  std::vector<Port> ports;
  for (NodeId node : nodes) ports.push_back({node, 0});
  return ports;
}

// A condition is a scalar: adds a Squeeze, as TensorFlow does, to a value that may have another
// shape.
Value ToCondition(TraceState& state, const Value& value, llvm::StringRef what,
                  const SourceLocation& where) {
  if (!value.ok()) {
    if (!value.body() && state.errors.empty())
      state.Report(where, (what + ": the condition is a Value that was never made").str());
    return Value(state.current, {});
  }
  if (value.dtype() != proto::DT_BOOL) {
    state.Report(
        where,
        (what + ": the condition is " + DataTypeName(value.dtype()) + ", bool was expected").str());
    return Value(state.current, {});
  }
  Shape shape = value.shape();
  if (shape.known_rank() && shape.rank() == 0) return value;
  return MakeOp(state, {"Squeeze", Operand(value, where), {}, {}}, where);
}

// While the returned guard exists, new nodes run after all outer operations that nodes of `bodies`
// must run after.
Tracer::ScopeGuard AfterOuterControls(TraceState& state, llvm::ArrayRef<TraceBody*> bodies) {
  TraceBody* body = state.current;
  TraceBody::Controller controller;
  for (TraceBody* inner : bodies) {
    for (const Operation& op : inner->outer_controls) {
      if (op.body() == body) {
        controller.inputs.push_back(op.node());
      } else {
        body->outer_controls.push_back(op);
      }
    }
  }
  body->controllers.push_back(std::move(controller));
  return Tracer::ScopeGuard([body] { body->controllers.pop_back(); });
}

class LoopMaker {
 public:
  LoopMaker(TraceState& state, llvm::ArrayRef<Operand> init, const SourceLocation& where)
      : state_(state), where_(where) {
    for (const Operand& operand : init) user_vars_.push_back(ToValue(state, operand));
  }

  Values Run(llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond,
             llvm::function_ref<Values(llvm::ArrayRef<Value>)> body) {
    Values failed(user_vars_.size(), Value(state_.current, {}));
    if (!llvm::all_of(user_vars_, [](const Value& v) { return v.ok(); })) return failed;
    ScopeGuard scope(state_.current, "while");
    std::string cond_name = state_.FunctionName(scope.path(), "cond");
    std::string body_name = state_.FunctionName(scope.path(), "body");
    AddCounters();
    if (!TraceCond(cond_name, cond) || !TraceBodyOf(body_name, body)) return failed;
    Finish();
    return MakeLoop(cond_name, body_name);
  }

 private:
  // Adds the loop variables that TensorFlow puts before the user's: an iteration counter and the
  // maximum number of iterations.
  void AddCounters() {
    TraceBody& outer = *state_.current;
    Value limit = MakeConstant(outer, Literal::Scalar(proto::DT_INT32, -1),
                               outer.UniqueName("maximum_iterations"), where_);
    Value counter = MakeConstant(outer, Literal::Scalar(proto::DT_INT32, 0),
                                 outer.UniqueName("loop_counter"), where_);
    vars_ = {counter, limit};
    llvm::append_range(vars_, user_vars_);
  }

  Values AddArgs(TraceBody& body, std::vector<NodeId>* ids) {
    Values args;
    for (size_t i = 0; i < vars_.size(); ++i) {
      std::string name = "Placeholder";
      if (i < 2) name = vars_[i].body()->graph->node(vars_[i].port().node).name().str();
      ids->push_back(body.AddPlaceholder(vars_[i].dtype(), vars_[i].shape(), name,
                                         /*keep_name=*/i < 2, where_));
      args.push_back(body.ValueOf(ids->back()));
    }
    return args;
  }

  bool TraceCond(llvm::StringRef name, llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond) {
    BodyGuard guard(state_, name, where_);
    cond_ = &guard.body();
    Values args = AddArgs(*cond_, &cond_args_);
    Value given;
    llvm::ArrayRef<Value> vars = llvm::ArrayRef<Value>(args).drop_front(2);
    if (!CallUser(state_, "while: the condition", where_, [&] { given = cond(vars); }))
      return false;
    Value value = ToCondition(state_, given, "while", where_);
    cond_results_ = EndBody(*cond_, {value}, where_);
    return !cond_results_.empty();
  }

  bool TraceBodyOf(llvm::StringRef name, llvm::function_ref<Values(llvm::ArrayRef<Value>)> fn) {
    BodyGuard guard(state_, name, where_);
    body_ = &guard.body();
    Values args = AddArgs(*body_, &body_args_);
    // The body's function first takes the captures of the condition, in the condition's order.
    for (const auto& captured : cond_->captures) body_->Capture(captured.outer, where_);
    Values next;
    llvm::ArrayRef<Value> vars = llvm::ArrayRef<Value>(args).drop_front(2);
    if (!CallUser(state_, "while: the body", where_, [&] { next = fn(vars); })) return false;
    if (!CheckNext(next)) return false;
    Value counter = args[0];
    counter += Operand(1, where_);
    Values results = {counter, args[1]};
    llvm::append_range(results, next);
    body_results_ = EndBody(*body_, results, where_);
    return !body_results_.empty();
  }

  bool CheckNext(const Values& next) {
    if (next.size() != user_vars_.size()) {
      state_.Report(where_, llvm::formatv("while: the body returns {0} values for {1} variables",
                                          next.size(), user_vars_.size())
                                .str());
      return false;
    }
    bool fits = true;
    for (size_t i = 0; i < next.size(); ++i) {
      if (!next[i].ok()) return false;
      std::string text;
      if (next[i].dtype() != user_vars_[i].dtype()) {
        text = llvm::formatv("while: variable {0} is {1}, but the body returns {2}", i,
                             DataTypeName(user_vars_[i].dtype()), DataTypeName(next[i].dtype()));
      } else if (!IsAsKnown(next[i].shape(), user_vars_[i].shape())) {
        text = llvm::formatv("while: variable {0} has shape {1}, but the body returns shape {2}", i,
                             user_vars_[i].shape().ToString(), next[i].shape().ToString());
      }
      if (text.empty()) continue;
      state_.Report(where_, text);
      fits = false;
    }
    return fits;
  }

  // The functions of the condition and the body take the same arguments, so the condition gets an
  // unread argument for each capture that only the body has.
  void Finish() {
    for (const auto& captured : cond_->captures) cond_args_.push_back(captured.placeholder);
    size_t shared = cond_->captures.size();
    std::string unread =
        cond_->UniqueName((cond_->function->name() + "___redundant_placeholder").str());
    for (size_t i = shared; i < body_->captures.size(); ++i) {
      NodeId id = cond_->AddNode("Placeholder", unread + std::to_string(i - shared), {}, where_);
      cond_->graph->SetAttr(id, "dtype", attr::Type(body_->captures[i].outer.dtype()));
      cond_->graph->SetAttr(id, "shape", attr::ShapeOf(Shape::Unknown()));
      cond_args_.push_back(id);
    }
    std::vector<Port> results = FirstPorts(body_results_);
    for (const auto& captured : body_->captures) {
      body_args_.push_back(captured.placeholder);
      results.push_back({captured.placeholder, 0});
    }
    for (const Value& var : vars_) shapes_.push_back(var.shape());
    for (const auto& captured : body_->captures) {
      vars_.push_back(captured.outer);
      shapes_.push_back(captured.outer.shape());
    }
    std::vector<bool> in_cond = OnlyRead(*cond_->graph, cond_args_);
    std::vector<bool> in_body = OnlyRead(*body_->graph, body_args_);
    for (size_t i = 0; i < vars_.size(); ++i) {
      if (vars_[i].dtype() == proto::DT_RESOURCE && in_cond[i] && in_body[i])
        read_only_.push_back(static_cast<int64_t>(i));
    }
    FinishFunction(*cond_, cond_args_, FirstPorts(cond_results_));
    FinishFunction(*body_, body_args_, results);
    for (TraceBody* traced : {cond_, body_})
      state_.current->shapes.AddCall(*traced->function, traced->shapes);
    stateful_ = cond_->function->info.is_stateful || body_->function->info.is_stateful;
  }

  Values MakeLoop(llvm::StringRef cond_name, llvm::StringRef body_name) {
    std::vector<OpAttribute> attributes = {
        OpAttribute::Serialized("cond", attr::Func(cond_name)),
        OpAttribute::Serialized("body", attr::Func(body_name)),
        {"output_shapes", shapes_},
        {"parallel_iterations", 10},
        {"_lower_using_switch_merge", true},
        {"_num_original_outputs", static_cast<int64_t>(vars_.size())},
        {"_read_only_resource_inputs", read_only_},
    };
    Tracer::ScopeGuard controls = AfterOuterControls(state_, {cond_, body_});
    Operation loop = MakeOp(
        state_,
        {stateful_ ? "While" : "StatelessWhile", Operand(vars_, where_), attributes, {}, true},
        where_);
    Values results;
    for (size_t i = 0; i < user_vars_.size(); ++i)
      results.push_back(loop.output(static_cast<int>(i) + 2));
    return results;
  }

  TraceState& state_;
  const SourceLocation where_;
  Values user_vars_, vars_;
  std::vector<Shape> shapes_;
  TraceBody* cond_ = nullptr;
  TraceBody* body_ = nullptr;
  std::vector<NodeId> cond_args_, body_args_, cond_results_, body_results_;
  // Positions of the resource inputs that neither function writes to.
  std::vector<int64_t> read_only_;
  bool stateful_ = false;
};

// If and Case, which differ in the input that selects the branch, and in names.
class BranchMaker {
 public:
  using Branch = llvm::function_ref<Values()>;
  BranchMaker(TraceState& state, const SourceLocation& where) : state_(state), where_(where) {}

  Values If(const Operand& operand, Branch then, Branch otherwise, llvm::StringRef name) {
    what_ = "if";
    ScopeGuard scope(state_.current, name);
    names_ = {state_.FunctionName(scope.path(), "true"),
              state_.FunctionName(scope.path(), "false")};
    Value cond = ToCondition(state_, ToValue(state_, operand, "pred"), what_, where_);
    if (!cond.ok() || !Build({then, otherwise})) return {};
    return Make(stateful_ ? "If" : "StatelessIf", cond,
                {OpAttribute::Serialized("then_branch", attr::Func(names_[0])),
                 OpAttribute::Serialized("else_branch", attr::Func(names_[1]))});
  }

  Values Case(const Operand& operand, llvm::ArrayRef<Branch> branches) {
    what_ = "case";
    ScopeGuard outer(state_.current, "switch_case");
    Value index = ToValue(state_, operand, "branch_index");
    if (!CheckIndex(index, branches.size())) return {};
    ScopeGuard scope(state_.current, "indexed_case");
    for (size_t i = 0; i < branches.size(); ++i)
      names_.push_back(state_.FunctionName(scope.path(), "branch" + std::to_string(i)));
    if (!Build(branches)) return {};
    return Make(stateful_ ? "Case" : "StatelessCase", index,
                {OpAttribute::Serialized("branches", attr::Funcs(names_))});
  }

 private:
  bool CheckIndex(const Value& index, size_t branches) {
    std::string problem;
    if (branches == 0) {
      problem = "there are no branches";
    } else if (!index.ok()) {
      if (index.body() || !state_.errors.empty()) return false;
      problem = "the index is a Value that was never made";
    } else if (index.dtype() != proto::DT_INT32) {
      problem = "the index is " + DataTypeName(index.dtype()).str() + ", int32 was expected";
    } else if (Shape shape = index.shape(); shape.known_rank() && shape.rank() != 0) {
      problem = "the index has shape " + shape.ToString() + ", a scalar was expected";
    }
    if (!problem.empty()) state_.Report(where_, "case: " + problem);
    return problem.empty();
  }

  bool Build(llvm::ArrayRef<Branch> branches) {
    for (size_t i = 0; i < branches.size(); ++i) {
      BodyGuard guard(state_, names_[i], where_);
      branches_.push_back(&guard.body());
      results_.emplace_back();
      std::string what = what_ + std::string(": a branch");
      if (!CallUser(state_, what, where_, [&] { results_.back() = branches[i](); })) return false;
      ends_.push_back(EndBody(guard.body(), results_[i], where_));
      if (ends_[i].size() != results_[i].size()) return false;
    }
    for (size_t i = 1; i < branches.size(); ++i) {
      if (!CheckResults(i)) return false;
    }
    MatchArgs();
    return true;
  }

  // Returns "in one branch" or "in the other"; with more than two branches, "in branch 1" and the
  // like.
  std::string InBranch(size_t i, bool first) const {
    if (branches_.size() == 2) return first ? "in one branch" : "in the other";
    return "in branch " + std::to_string(i);
  }

  // Compares the number and the dtypes of branch b's results with those of branch 0.
  bool CheckResults(size_t b) {
    if (results_[0].size() != results_[b].size()) {
      state_.Report(where_, branches_.size() == 2
                                ? llvm::formatv("{0}: one branch returns {1} values, the other {2}",
                                                what_, results_[0].size(), results_[b].size())
                                      .str()
                                : llvm::formatv("{0}: branch 0 returns {1} values, branch {2} {3}",
                                                what_, results_[0].size(), b, results_[b].size())
                                      .str());
      return false;
    }
    for (size_t i = 0; i < results_[0].size(); ++i) {
      DataType first = results_[0][i].dtype(), other = results_[b][i].dtype();
      if (first == other) continue;
      state_.Report(where_, llvm::formatv("{0}: result {1} is {2} {3}, {4} {5}", what_, i,
                                          DataTypeName(first), InBranch(0, true),
                                          DataTypeName(other), InBranch(b, false))
                                .str());
      return false;
    }
    return true;
  }

  // Makes every branch take the captures of all branches as arguments.
  void MatchArgs() {
    for (size_t i = 0; i < branches_.size(); ++i) {
      for (const auto& captured : branches_[i]->captures) {
        auto takes_it = [&](TraceBody* b) { return b->CaptureOf(captured.outer) != kNoNode; };
        if (!llvm::any_of(llvm::ArrayRef<TraceBody*>(branches_).take_front(i), takes_it))
          inputs_.push_back(captured.outer);
      }
    }
    for (size_t i = 0; i < results_[0].size(); ++i) {
      types_.push_back(results_[0][i].dtype());
      Shape shape = branches_[0]->ValueOf(ends_[0][i]).shape();
      for (size_t b = 1; b < branches_.size(); ++b)
        shape = Common(shape, branches_[b]->ValueOf(ends_[b][i]).shape());
      shapes_.push_back(shape);
    }
    std::vector<bool> only_read(inputs_.size(), true);
    for (size_t i = 0; i < branches_.size(); ++i) {
      std::vector<NodeId> args;
      for (const Value& input : inputs_) args.push_back(ArgFor(*branches_[i], input));
      std::vector<bool> here = OnlyRead(*branches_[i]->graph, args);
      for (size_t k = 0; k < args.size(); ++k) only_read[k] = only_read[k] && here[k];
      FinishFunction(*branches_[i], args, FirstPorts(ends_[i]));
      state_.current->shapes.AddCall(*branches_[i]->function, branches_[i]->shapes);
      stateful_ |= branches_[i]->function->info.is_stateful;
    }
    // inputs_ lacks the op's first input, which selects the branch, so inputs_[k] is input k + 1 of
    // the op.
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (inputs_[k].dtype() == proto::DT_RESOURCE && only_read[k])
        read_only_.push_back(static_cast<int64_t>(k) + 1);
    }
  }

  NodeId ArgFor(TraceBody& branch, const Value& input) {
    if (NodeId known = branch.CaptureOf(input); known != kNoNode) return known;
    return branch.AddPlaceholder(input.dtype(), input.shape(), "Placeholder", /*keep_name=*/false,
                                 where_);
  }

  Values Make(llvm::StringRef op, const Value& chosen, std::vector<OpAttribute> attributes) {
    attributes.insert(attributes.end(), {{"Tout", types_},
                                         {"output_shapes", shapes_},
                                         {"_lower_using_switch_merge", true},
                                         {"_read_only_resource_inputs", read_only_}});
    Tracer::ScopeGuard controls = AfterOuterControls(state_, branches_);
    Operand operands[] = {Operand(chosen, where_), Operand(inputs_, where_)};
    Operation made = MakeOp(state_, {op, operands, attributes, {}, true}, where_);
    Values results;
    for (size_t i = 0; i < types_.size(); ++i)
      results.push_back(Identity(made.output(static_cast<int>(i)), {}, where_));
    return results;
  }

  TraceState& state_;
  const SourceLocation where_;
  const char* what_ = "";           // "if" or "case", for errors
  std::vector<std::string> names_;  // of the functions
  std::vector<TraceBody*> branches_;
  std::vector<Values> results_;
  std::vector<std::vector<NodeId>> ends_;
  Values inputs_;
  // Positions of the op's resource inputs that no branch writes to.
  std::vector<int64_t> read_only_;
  std::vector<DataType> types_;
  std::vector<Shape> shapes_;
  bool stateful_ = false;
};

}  // namespace

Values MakeWhile(TraceState& state, llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond,
                 llvm::function_ref<Values(llvm::ArrayRef<Value>)> body,
                 llvm::ArrayRef<Operand> init, const SourceLocation& where) {
  if (state.current->is_eager) return RunWhile(state, cond, body, init, where);
  return LoopMaker(state, init, where).Run(cond, body);
}

Values MakeIf(TraceState& state, const Operand& cond, llvm::function_ref<Values()> then,
              llvm::function_ref<Values()> otherwise, const SourceLocation& where,
              llvm::StringRef name) {
  if (state.current->is_eager) return RunIf(state, cond, then, otherwise, where);
  return BranchMaker(state, where).If(cond, then, otherwise, name);
}

Values Tracer::WhileLoop(llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond,
                         llvm::function_ref<Values(llvm::ArrayRef<Value>)> body,
                         llvm::ArrayRef<Operand> init, SourceLocation where) {
  return MakeWhile(*state_, cond, body, init, where);
}

Values Tracer::IfElse(const Operand& cond, llvm::function_ref<Values()> then,
                      llvm::function_ref<Values()> otherwise) {
  return MakeIf(*state_, cond, then, otherwise, cond.where);
}

Values Tracer::SwitchCase(const Operand& index,
                          llvm::ArrayRef<llvm::function_ref<Values()>> branches) {
  if (state_->current->is_eager) return RunCase(*state_, index, branches, index.where);
  return BranchMaker(*state_, index.where).Case(index, branches);
}

}  // namespace grapnel
