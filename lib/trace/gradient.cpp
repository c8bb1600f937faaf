#include "lib/trace/gradient.h"

#include "lib/ir/node_types.h"
#include "lib/trace/backprop.h"
#include "lib/trace/eager_runner.h"
#include "lib/trace/variable_reads.h"
#include "llvm/ADT/ScopeExit.h"

namespace grapnel {
namespace {

// Checks the user's arguments and converts them to a BackpropRequest.
class GradientRequest {
 public:
  GradientRequest(Tracer& t, const SourceLocation& where) : state_(t.state()), where_(where) {
    // SetTargets sets this to the innermost body that contains a y. That body may enclose the body
    // that is being traced, because a function may request gradients of values outside of it.
    request_.forward = nullptr;
  }

  bool SetTargets(llvm::ArrayRef<Value> ys, const GradientOptions& options) {
    if (state_.current->is_eager) {
      EagerRecording* recording = state_.eager->recording();
      if (!recording) {
        Report(
            "gradients: an eager program does not keep ops: make a Tape before the relevant ops, "
            "or the "
            "Tracer with {.records = true}");
        return false;
      }
      request_.forward = &recording->body;
    }
    for (const Value& y : ys) {
      if (!Check(y, "y")) return false;
      if (state_.current->is_eager) continue;
      if (!request_.forward || y.body()->IsInside(request_.forward)) request_.forward = y.body();
    }
    if (!request_.forward) request_.forward = state_.current;
    for (const Value& y : ys) request_.targets.push_back(PortOf(y));
    for (size_t i = 0; i < options.grad_ys.size(); ++i) {
      const Value& seed = options.grad_ys[i];
      request_.seeds.push_back(seed.body() ? Gradient(seed) : Gradient());
      if (!seed.body() || i >= ys.size()) continue;
      if (!Check(seed, "the gradient given")) return false;
      if (seed.dtype() == ys[i].dtype()) continue;
      Report(llvm::formatv("gradients: y {0} ('{1}') is {2}, its given gradient is {3}", i,
                           ys[i].name(), DataTypeName(ys[i].dtype()), DataTypeName(seed.dtype())));
      return false;
    }
    if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size()) {
      Report(llvm::formatv("gradients: {0} gradients were given for {1} ys", options.grad_ys.size(),
                           ys.size()));
      return false;
    }
    for (const Value& stop : options.stop_gradients) {
      if (!Check(stop, "a stop_gradient")) return false;
      request_.stops.push_back(PortOf(stop));
    }
    return true;
  }

  bool SetSources(llvm::ArrayRef<Value> xs) {
    for (const Value& x : xs) {
      if (!Check(x, "x")) return false;
      if (!IsTrainable(x.dtype())) {
        Report(
            llvm::formatv("gradients: x '{0}' is {1}: only floating-point and complex tensors "
                          "have gradients",
                          x.name(), DataTypeName(x.dtype())));
        return false;
      }
      request_.sources.push_back(PortOf(x));
    }
    return true;
  }

  BackpropRequest& get() { return request_; }

  // Replaces missing gradients by zeros, if `unconnected` requests that.
  void FillIn(std::vector<Gradient>& gradients, llvm::ArrayRef<Value> xs, Unconnected unconnected) {
    if (unconnected != Unconnected::kZeros) return;
    for (size_t i = 0; i < xs.size(); ++i) {
      if (gradients[i].exists()) continue;
      bool is_handle = xs[i].dtype() == proto::DT_RESOURCE;
      gradients[i] = is_handle ? ZerosOfVariable(state_, xs[i]) : ZerosFor(state_, xs[i]);
    }
  }

 private:
  bool Check(const Value& value, const char* what) {
    if (value.ok()) {
      std::string foreign = ForeignText(value, state_);
      if (!foreign.empty()) {
        Report(llvm::formatv("gradients: {0}{1}", what, foreign));
      } else if (!state_.current->IsInside(value.body())) {
        Report(
            llvm::formatv("gradients: {0} '{1}' belongs to function '{2}' and is not visible here",
                          what, value.name(), value.body()->function->name()));
      } else {
        return true;
      }
      return false;
    }
    if (!value.body() && state_.errors.empty())
      Report(llvm::formatv("gradients: {0} is a Value that was never made", what));
    return false;
  }

  // Returns the port of `value` in the body that is differentiated, in which a value of an
  // enclosing body is an argument.
  Port PortOf(const Value& value) {
    if (request_.forward->recording) return state_.eager->PortIn(value);
    return value.body() == request_.forward ? value.port()
                                            : request_.forward->Capture(value, where_);
  }

  void Report(const std::string& text) { state_.Report(where_, text); }

  TraceState& state_;
  const SourceLocation where_;
  BackpropRequest request_;
};

std::vector<Gradient> None(TraceState& state, size_t count) {
  return std::vector<Gradient>(count, Gradient(Value(state.current, {})));
}

Values Dense(TraceState& state, llvm::ArrayRef<Gradient> gradients) {
  Values values;
  for (const Gradient& gradient : gradients) values.push_back(ToDense(state, gradient));
  return values;
}

// While an object of this class lives, new nodes are within the call that requests the gradient.
// Nodes without a forward op (ones, sums) have the line of that call.
class LineGuard {
 public:
  LineGuard(TraceState& state, const SourceLocation& where)
      : state_(state), before_(state.line), call_(state, before_.value_or(where)) {
    if (!before_) state.line = where;
  }
  ~LineGuard() { state_.line = before_; }
  LineGuard(const LineGuard&) = delete;

 private:
  TraceState& state_;
  std::optional<SourceLocation> before_;
  CallGuard call_;
};

}  // namespace

std::vector<Gradient> SparseGradients(Tracer& t, llvm::ArrayRef<Value> ys, llvm::ArrayRef<Value> xs,
                                      const GradientOptions& options, SourceLocation where) {
  TraceState& state = t.state();
  LineGuard line(state, where);
  GradientRequest request(t, where);
  if (!request.SetTargets(ys, options) || !request.SetSources(xs)) return None(state, xs.size());
  for (Port source : request.get().sources) request.get().watched.push_back({source, 0});
  std::vector<Gradient> gradients = Backprop(state, request.get());
  request.FillIn(gradients, xs, options.unconnected);
  return gradients;
}

Values Gradients(Tracer& t, llvm::ArrayRef<Value> ys, llvm::ArrayRef<Value> xs,
                 const GradientOptions& options, SourceLocation where) {
  LineGuard line(t.state(), where);
  return Dense(t.state(), SparseGradients(t, ys, xs, options, where));
}

struct Tape::Impl {
  Tracer* tracer;
  TapeOptions options;
  TraceBody* body;
  NodeId begin, end = kNoNode;
  bool is_used = false;
  std::vector<Watched> watched = {};
  bool is_recording = false, owns_recording = false;  // for eager mode

  NodeId EndId() const { return body->graph->end_id(); }
  // Stops recording.
  void Stop() {
    end = std::min(end, EndId());
    if (std::exchange(is_recording, false)) tracer->state().eager->Pause();
  }
  // Stops recording and releases the recorded values: after the only gradient of a tape that is not
  // persistent, or when the tape is destroyed.
  void Release() {
    Stop();
    if (!std::exchange(owns_recording, false)) return;
    tracer->state().eager->Leave();
    body = nullptr;
  }

  // Returns the watched tensors and, with watch_accessed_variables, the handles of variables that
  // the recorded ops read, or that the functions called by these ops read.
  std::vector<Watched> AllWatched() const {
    std::vector<Watched> all = watched;
    if (!options.watch_accessed_variables) return all;
    llvm::DenseSet<std::pair<NodeId, int32_t>> seen;
    auto watch = [&](Port handle) {
      if (seen.insert({handle.node, handle.index}).second) all.push_back({handle, begin});
    };
    for (NodeId id = begin, last = std::min(end, EndId()); id < last; ++id) {
      if (!body->graph->IsAlive(id)) continue;
      Node node = body->graph->node(id);
      if (ReadsVariable(node)) {
        watch(node.input(0));
      } else if (MayCallFunctions(node)) {
        for (int i = 0; i < node.num_inputs(); ++i) {
          if (ReadsThroughCall(node, i)) watch(node.input(i));
        }
      }
    }
    return all;
  }

  // True if the functions that `call` calls read a variable that can be differentiated, whose
  // handle is input `i`.
  bool ReadsThroughCall(const Node& call, int i) const {
    if (body->shapes.TypeOf(call.input(i)) != proto::DT_RESOURCE) return false;
    return IsTrainable(VariableReads(body->graph->module()).InCallees(call, i));
  }
};

Tape::Tape(Tracer& t, const TapeOptions& options, SourceLocation)
    : impl_(new Impl{&t, options, t.state().current, 0}) {
  if (impl_->body->is_eager) {
    impl_->body = &t.state().eager->Join().body;
    impl_->is_recording = impl_->owns_recording = true;
  }
  impl_->begin = impl_->EndId();
}

Tape::~Tape() {
  if (impl_->owns_recording) impl_->Release();
}

void Tape::Watch(const Value& x) {
  if (!x.ok() || !impl_->body) return;
  if (EagerOf(x)) {
    bool is_own = impl_->is_recording && x.body() == impl_->body->outer;
    if (!is_own) return;
    Port port = impl_->tracer->state().eager->PortIn(x);
    impl_->watched.push_back({port, impl_->EndId()});
  } else if (x.body() == impl_->body) {
    impl_->watched.push_back({x.port(), impl_->EndId()});
  }
}

void Tape::Stop() {
  if (impl_->body) impl_->Stop();
}

Values Tape::Jacobian(const Value& y, llvm::ArrayRef<Value> xs, Unconnected unconnected,
                      SourceLocation where) {
  LineGuard line(impl_->tracer->state(), where);
  if (!impl_->options.persistent) Stop();
  const bool was_persistent = impl_->options.persistent;
  impl_->options.persistent = true;  // for the loop below, which requests one gradient inside
  Values rows = MakeJacobian(
      *impl_->tracer, y, xs, unconnected, [&](llvm::ArrayRef<Value> connected, const Value& seed) {
        return Gradient(llvm::ArrayRef<Value>(y), connected,
                        {.grad_ys = {seed}, .unconnected = Unconnected::kZeros}, where);
      });
  impl_->options.persistent = was_persistent;
  if (!was_persistent && impl_->owns_recording) impl_->Release();
  return rows;
}

Values Jacobian(Tracer& t, const Value& y, llvm::ArrayRef<Value> xs, Unconnected unconnected,
                SourceLocation where) {
  LineGuard line(t.state(), where);
  return MakeJacobian(
      t, y, xs, unconnected, [&](llvm::ArrayRef<Value> connected, const Value& seed) {
        return Gradients(t, {y}, connected, {.grad_ys = {seed}, .unconnected = Unconnected::kZeros},
                         where);
      });
}

Values Tape::Gradient(llvm::ArrayRef<Value> ys, llvm::ArrayRef<Value> xs,
                      const GradientOptions& options, SourceLocation where) {
  TraceState& state = impl_->tracer->state();
  LineGuard line(state, where);
  if (impl_->is_used && !impl_->options.persistent) {
    state.Report(where,
                 "tape: a tape that is not persistent can return gradients only once; make it with "
                 "{.persistent = true}");
    return Dense(state, None(state, xs.size()));
  }
  impl_->is_used = true;
  if (!impl_->options.persistent) Stop();
  // An eager tape releases its values, even after an error.
  auto release = llvm::make_scope_exit([&] {
    if (!impl_->options.persistent && impl_->owns_recording) impl_->Release();
  });
  GradientRequest request(*impl_->tracer, where);
  if (!request.SetTargets(ys, options) || !request.SetSources(xs))
    return Dense(state, None(state, xs.size()));
  request.get().watched = impl_->AllWatched();
  request.get().begin = impl_->begin;
  request.get().end = impl_->end;
  std::vector<grapnel::Gradient> gradients = Backprop(state, request.get());
  request.FillIn(gradients, xs, options.unconnected);
  return Dense(state, gradients);
}

Values CustomGradient(Tracer& t, const Values& inputs,
                      llvm::function_ref<WithGradient(llvm::ArrayRef<Value>)> fn,
                      SourceLocation where) {
  TraceState& state = t.state();
  WithGradient made = fn(inputs);
  Values all = made.values;
  // TensorFlow makes these nodes too, although no node reads them.
  if (!state.current->is_eager) {
    for (const Value& value : made.values) Identity(value, {}, where);
  }
  all.insert(all.end(), inputs.begin(), inputs.end());
  const int results = static_cast<int>(made.values.size());
  Operand operands[] = {Operand(all, where)};
  // In eager mode the attribute has no number, so that all of these IdentityN ops share one
  // signature.
  const std::string number =
      state.current->is_eager ? "" : "-" + std::to_string(state.custom_gradients.size());
  Operation identity =
      MakeOp(state, {"IdentityN", operands, {{"_gradient_op_type", "CustomGradient" + number}}, {}},
             where);
  if (!identity.ok()) return Values(made.values.size(), Value(state.current, {}));
  const TraceBody* body = identity.body();
  if (body->is_eager && state.eager->recording()) body = &state.eager->recording()->body;
  if (!body->is_eager)
    state.custom_gradients[{body, identity.node()}] = {results, std::move(made.gradient)};
  Values values;
  for (int i = 0; i < results; ++i) values.push_back(identity.output(i));
  return values;
}

Value StopGradient(const Value& x, SourceLocation where) {
  if (!x.ok()) return x;
  Operand operands[] = {Operand(x, where)};
  return MakeOp(*x.body()->state, {"StopGradient", operands, {}, {}}, where);
}

Value PreventGradient(const Value& x, llvm::StringRef message, SourceLocation where) {
  if (!x.ok()) return x;
  Operand operands[] = {Operand(x, where)};
  return MakeOp(*x.body()->state, {"PreventGradient", operands, {{"message", message}}, {}}, where);
}

}  // namespace grapnel
