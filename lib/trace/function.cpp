#include "lib/trace/function.h"

#include "lib/trace/eager_runner.h"
#include "lib/trace/function_gradient.h"
#include "lib/trace/user_call.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// TensorFlow warns if kManyTraces of about the last kCallsRemembered calls made a trace, and does
// so at most kMaxAlerts times.
constexpr int kManyTraces = 5, kCallsRemembered = 10, kMaxAlerts = 2;

using Signature = std::vector<TensorSpec>;

std::string SpecText(const TensorSpec& spec) {
  std::string text = DataTypeName(spec.dtype).str();
  return spec.shape.known_rank() && spec.shape.rank() == 0 ? text : text + spec.shape.ToString();
}

std::string SignatureText(const Signature& signature) {
  std::vector<std::string> texts;
  for (const TensorSpec& spec : signature) texts.push_back(SpecText(spec));
  return texts.empty() ? "no arguments" : llvm::join(texts, ", ");
}

// True if every tensor that matches `given` also matches `wanted`.
bool Takes(const TensorSpec& wanted, const TensorSpec& given) {
  return wanted.dtype == given.dtype && IsAsKnown(given.shape, wanted.shape);
}

bool AreTaken(const Signature& wanted, const Signature& given, bool exactly) {
  if (wanted.size() != given.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!Takes(wanted[i], given[i])) return false;
    if (exactly && wanted[i].shape != given[i].shape) return false;
  }
  return true;
}

// Returns the reason for a new trace: how its signature differs from those of the earlier traces.
std::string ReasonFor(const Signature& given, llvm::ArrayRef<const Signature*> before) {
  if (before.empty()) return "the first call";
  auto distinct = [&](auto text_of) {
    std::vector<std::string> texts;
    for (const Signature* one : before) {
      std::string text = text_of(*one);
      if (!llvm::is_contained(texts, text)) texts.push_back(text);
    }
    return texts;
  };
  auto counts = distinct([](const Signature& s) { return std::to_string(s.size()); });
  if (!llvm::is_contained(counts, std::to_string(given.size())))
    return llvm::formatv("a call with {0} arguments is new; before: {1}", given.size(),
                         llvm::join(counts, ", "));
  for (size_t i = 0; i < given.size(); ++i) {
    auto at = [&](auto text_of) {
      return distinct([&](const Signature& s) { return i < s.size() ? text_of(s[i]) : "none"; });
    };
    auto dtype = [](const TensorSpec& spec) { return DataTypeName(spec.dtype).str(); };
    auto shape = [](const TensorSpec& spec) { return spec.shape.ToString(); };
    auto dtypes = at(dtype), shapes = at(shape);
    const char* text = "argument {0}: {1} {2} is new; before: {3}";
    if (!llvm::is_contained(dtypes, dtype(given[i])))
      return llvm::formatv(text, i, "dtype", dtype(given[i]), llvm::join(dtypes, ", "));
    if (!llvm::is_contained(shapes, shape(given[i])))
      return llvm::formatv(text, i, "shape", shape(given[i]), llvm::join(shapes, ", "));
  }
  return "this combination of dtypes and shapes is new";
}

}  // namespace

struct PolymorphicFunction::Impl {
  // One trace, in the module of one Tracer.
  struct Traced {
    std::weak_ptr<int> tracer;  // expires with the Tracer
    const TraceState* state;
    Signature signature;
    TraceBody* body;
    std::vector<DataType> types;  // of the results
    bool is_stateful;
  };

  std::string name;
  Body body;
  FunctionOptions options;
  SourceLocation where;
  std::vector<Traced> traced;
  std::vector<TraceRecord> records;
  bool is_tracing = false;
  std::unique_ptr<Tracer> own;
  // For each trace, the number of remembered calls from the one that made it up to the next trace.
  std::vector<int> calls_of_trace;
  int num_calls = 0, num_alerts = 0;

  Values Call(Tracer& t, llvm::ArrayRef<Operand> operands, const SourceLocation& at);
  const Traced* Find(const TraceState& state, const Signature& signature) const;
  const Traced* MakeTrace(Tracer& t, const Signature& given, const SourceLocation& at);
  bool TraceBodyOf(Tracer& t, Traced* made, const SourceLocation& at);
  Signature Relaxed(const TraceState& state, const Signature& given) const;
  std::vector<const Signature*> Before(const TraceState& state) const;
  bool CheckSignature(TraceState& state, const Signature& given, const SourceLocation& at) const;
  void CountTrace(const SourceLocation& at);
  void CountCall();
};

std::vector<const Signature*> PolymorphicFunction::Impl::Before(const TraceState& state) const {
  std::vector<const Signature*> before;
  for (const Traced& one : traced) {
    if (!one.tracer.expired() && one.state == &state) before.push_back(&one.signature);
  }
  return before;
}

const PolymorphicFunction::Impl::Traced* PolymorphicFunction::Impl::Find(
    const TraceState& state, const Signature& given) const {
  bool exactly = !options.reduce_retracing && !options.input_signature;
  for (const Traced& one : traced) {
    if (one.tracer.expired() || one.state != &state) continue;
    if (!AreTaken(one.signature, given, exactly)) continue;
    // The current body must be able to use all values that the trace captures.
    bool is_seen = llvm::all_of(one.body->captures, [&](const TraceBody::Captured& captured) {
      return state.current->IsInside(captured.outer.body());
    });
    if (is_seen) return &one;
  }
  return nullptr;
}

// Returns the signature to trace for: the input signature, if there is one; else `given`. With
// reduce_retracing, those dimensions of `given` that differ from an earlier signature of the same
// dtypes become unknown.
Signature PolymorphicFunction::Impl::Relaxed(const TraceState& state,
                                             const Signature& given) const {
  if (options.input_signature) return *options.input_signature;
  if (!options.reduce_retracing) return given;
  Signature relaxed = given;
  for (const Signature* one : Before(state)) {
    bool is_alike = one->size() == given.size();
    for (size_t i = 0; is_alike && i < given.size(); ++i)
      is_alike = (*one)[i].dtype == given[i].dtype;
    if (!is_alike) continue;
    for (size_t i = 0; i < given.size(); ++i)
      relaxed[i].shape = Common(relaxed[i].shape, (*one)[i].shape);
  }
  return relaxed;
}

bool PolymorphicFunction::Impl::CheckSignature(TraceState& state, const Signature& given,
                                               const SourceLocation& at) const {
  if (!options.input_signature) return true;
  const Signature& wanted = *options.input_signature;
  std::string problem;
  if (given.size() != wanted.size())
    problem = llvm::formatv("{0} arguments were given, the input signature has {1}", given.size(),
                            wanted.size());
  for (size_t i = 0; problem.empty() && i < given.size(); ++i) {
    if (Takes(wanted[i], given[i])) continue;
    problem = llvm::formatv("argument {0} is {1}, the input signature requires {2}", i,
                            SpecText(given[i]), SpecText(wanted[i]));
  }
  if (!problem.empty()) state.Report(at, "function '" + name + "': " + problem);
  return problem.empty();
}

bool PolymorphicFunction::Impl::TraceBodyOf(Tracer& t, Traced* made, const SourceLocation& at) {
  TraceState& state = t.state();
  const size_t errors = state.errors.size();
  InBody back(state, state.current);
  std::string prefix = "__inference_" + name;
  made->body = state.Enter(FreeFunctionName(state, prefix));
  TraceBody& inner = *made->body;
  inner.scope.clear();
  std::vector<NodeId> args;
  Values values, results;
  for (size_t i = 0; i < made->signature.size(); ++i) {
    const TensorSpec& spec = made->signature[i];
    args.push_back(inner.AddPlaceholder(spec.dtype, spec.shape, spec.name, /*keep_name=*/true, at));
    values.push_back(inner.ValueOf(args.back()));
  }
  is_tracing = true;
  auto end = llvm::make_scope_exit([&] { is_tracing = false; });
  bool has_returned =
      CallUser(state, "function '" + name + "'", at, [&] { results = body(t, values); });
  if (!has_returned || state.errors.size() != errors) return false;
  std::vector<NodeId> ends = EndBody(inner, results, at);
  if (ends.size() != results.size()) return false;
  std::vector<Port> ports;
  for (NodeId id : ends) {
    ports.push_back({id, 0});
    made->types.push_back(inner.ValueOf(id).dtype());
  }
  for (const TraceBody::Captured& captured : inner.captures) args.push_back(captured.placeholder);
  FinishFunction(inner, args, ports);
  made->is_stateful = inner.function->info.is_stateful;
  return true;
}

const PolymorphicFunction::Impl::Traced* PolymorphicFunction::Impl::MakeTrace(
    Tracer& t, const Signature& given, const SourceLocation& at) {
  TraceState& state = t.state();
  llvm::erase_if(traced, [](const Traced& one) { return one.tracer.expired(); });
  Traced made = {state.lifetime, &state, Relaxed(state, given), nullptr, {}, false};
  records.push_back({SignatureText(made.signature), ReasonFor(given, Before(state)), at});
  CountTrace(at);
  if (!TraceBodyOf(t, &made, at)) return nullptr;
  traced.push_back(std::move(made));
  return &traced.back();
}

Values PolymorphicFunction::Impl::Call(Tracer& t, llvm::ArrayRef<Operand> operands,
                                       const SourceLocation& at) {
  TraceState& state = t.state();
  auto failed = [&] {
    return Values{state.current->is_eager ? state.eager->FailedAlready()
                                          : Value(state.current, {})};
  };
  auto fail = [&](const std::string& text) {
    state.Report(at, "function '" + name + "': " + text);
    return failed();
  };
  if (is_tracing)
    return fail("it calls itself while it is being traced, so tracing would never end");
  Values args;
  Signature given;
  for (const Operand& operand : operands) {
    args.push_back(ToValue(state, operand));
    const Value& arg = args.back();
    size_t i = given.size();
    if (!arg.body())
      return fail(llvm::formatv("argument {0} is a Value that was never made", i).str());
    if (!arg.ok()) return {arg};
    std::string foreign = ForeignText(arg, state);
    if (!foreign.empty()) return fail(llvm::formatv("argument {0}{1}", i, foreign).str());
    std::string named = "args_" + std::to_string(i);
    if (options.input_signature && i < options.input_signature->size())
      named = (*options.input_signature)[i].name;
    given.emplace_back(named, arg.dtype(), arg.shape());
  }
  if (!CheckSignature(state, given, at)) return failed();
  const Traced* found = Find(state, given);
  if (found) CountCall();
  if (!found) found = MakeTrace(t, given, at);
  if (!found) return failed();
  for (const TraceBody::Captured& captured : found->body->captures) args.push_back(captured.outer);
  Operand list(args, at);
  Operation call = MakeOp(state,
                          {found->is_stateful ? "StatefulPartitionedCall" : "PartitionedCall",
                           list,
                           {OpAttribute::Serialized("f", attr::Func(found->body->function->name())),
                            {"Tout", found->types}},
                           {}},
                          at);
  if (!call.ok()) return {call.output(0)};
  Values results;
  for (size_t i = 0; i < found->types.size(); ++i)
    results.push_back(call.output(static_cast<int>(i)));
  return results;
}

void PolymorphicFunction::Impl::CountCall() {
  if (calls_of_trace.empty()) calls_of_trace.push_back(0);
  ++calls_of_trace.back();
  ++num_calls;
}

void PolymorphicFunction::Impl::CountTrace(const SourceLocation& at) {
  ++num_calls;
  calls_of_trace.push_back(1);
  while (num_calls - calls_of_trace.front() > kCallsRemembered) {
    num_calls -= calls_of_trace.front();
    calls_of_trace.erase(calls_of_trace.begin());
  }
  int recent = static_cast<int>(calls_of_trace.size());
  if (recent < kManyTraces || num_alerts >= kMaxAlerts || !options.sink) return;
  ++num_alerts;
  std::vector<std::string> reasons;
  for (size_t i = records.size() - std::min<size_t>(records.size(), recent); i < records.size();
       ++i)
    reasons.push_back("  " + TextOf(records[i].where) + ": " + records[i].reason);
  options.sink(
      Severity::kWarning,
      llvm::formatv("{0}: function '{1}': {2} of the last {3} calls traced it again:\n{4}\n"
                    "  a trace takes far longer than a call: make varying dimensions unknown "
                    "({{.reduce_retracing = true}, or an input_signature with kUnknownDim), and "
                    "make the function once, outside loops",
                    TextOf(at), name, recent, num_calls, llvm::join(reasons, "\n"))
          .str());
}

PolymorphicFunction::PolymorphicFunction(llvm::StringRef name, Body body, FunctionOptions options,
                                         SourceLocation where)
    : impl_(new Impl) {
  impl_->name = name.str();
  impl_->body = std::move(body);
  impl_->options = std::move(options);
  impl_->where = where;
}

PolymorphicFunction::~PolymorphicFunction() = default;

Values PolymorphicFunction::operator()(Tracer& t, llvm::ArrayRef<Operand> args,
                                       SourceLocation where) {
  return impl_->Call(t, args, where);
}

Expected<std::vector<Tensor>> PolymorphicFunction::Run(std::vector<Tensor> args,
                                                       SourceLocation where) {
  if (!impl_->own) impl_->own = std::make_unique<Tracer>(Mode::kEager);
  std::vector<Operand> operands;
  operands.reserve(args.size());
  for (Tensor& arg : args)
    operands.emplace_back(FromTensor(*impl_->own, std::move(arg), where), where);
  std::vector<Tensor> tensors;
  for (const Value& result : impl_->Call(*impl_->own, operands, where)) {
    Expected<Tensor> tensor = result.tensor();
    if (tensor) tensors.push_back(std::move(*tensor));
    llvm::consumeError(tensor.takeError());
  }
  RETURN_IF_ERROR(impl_->own->TakeErrors());
  return tensors;
}

Expected<std::unique_ptr<Module>> PolymorphicFunction::Concrete(
    llvm::ArrayRef<TensorSpec> signature) const {
  return TraceFunction(impl_->name, signature, impl_->body, impl_->where);
}

const std::vector<PolymorphicFunction::TraceRecord>& PolymorphicFunction::traces() const {
  return impl_->records;
}

}  // namespace grapnel
