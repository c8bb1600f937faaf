#include "lib/watch/assertion.h"

#include "lib/exec/call_stack.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr int kMostElements = 8;  // shown of each value in a message

std::string Headline(const Assertion& assertion, llvm::StringRef verdict) {
  return llvm::formatv("assertion '{0}' {1}{2}{3}", assertion.expression.text(), verdict,
                       assertion.message.empty() ? "" : ": ", assertion.message)
      .str();
}

// Returns the place of a failure, the innermost call first: "at node 'y' (Relu), in body that w
// calls, iteration 2".
std::string Place(const Node& maker, int64_t run) {
  std::string text =
      maker ? llvm::formatv("at node '{0}' ({1})", maker.name(), maker.op()).str() : "as it is fed";
  for (const CallFrame* frame = CurrentCall(); frame; frame = frame->outer) {
    if (!frame->function) {
      text += (", in loop " + frame->loop).str();
    } else {
      text += (", in " + frame->function->name()).str();
      text += frame->caller ? (" that " + frame->caller->name() + " calls").str()
                            : " that a dataset calls";
    }
    if (frame->iteration >= 0) text += ", iteration " + std::to_string(frame->iteration);
  }
  return text + (run > 0 ? ", run " + std::to_string(run) : "");
}

// Returns which elements of the expression's result are false: "false for 2 of 6 elements, the
// first at [0,1]"; empty if the result is a scalar, not bool or not computable.
std::string WhichFail(const TensorExpression& expression, const TensorExpression::Lookup& lookup) {
  auto answers = expression.Evaluate(lookup);
  if (!answers) return llvm::consumeError(answers.takeError()), "";
  if (answers->rank() == 0 || answers->dtype() != proto::DT_BOOL) return "";
  const bool* at = answers->data<bool>();
  int64_t size = answers->num_elements(), fails = std::count(at, at + size, false);
  int64_t flat = std::find(at, at + size, false) - at;
  Dims index(answers->dims().begin(), answers->dims().end());
  for (size_t d = index.size(); d-- > 0;) {
    int64_t dim = index[d];
    index[d] = flat % dim;
    flat /= dim;
  }
  return llvm::formatv("false for {0} of {1} elements, the first at {2}", fails, size,
                       DimsText(index))
      .str();
}

}  // namespace

Expected<Assertion> Assertion::Parse(llvm::StringRef text) {
  llvm::StringRef rest = text;
  auto expression = TensorExpression::ParseFirst(&rest);
  size_t column = rest.data() - text.data();
  if (!expression) return CaretError(text, column, expression.takeError());
  Assertion assertion{std::move(*expression), ""};
  if (rest.empty()) return assertion;
  if (!rest.consume_front(":"))
    return CaretError(text, column,
                      MakeError("an operator, the end, or ':' and a message was expected"));
  assertion.message = rest.trim().str();
  return assertion;
}

Expected<std::unique_ptr<AssertionHook>> AssertionHook::Make(
    const Module& module, std::vector<Assertion> assertions,
    const std::function<std::string(llvm::StringRef)>& key, MessageSink sink) {
  std::unique_ptr<AssertionHook> hook(new AssertionHook(module, std::move(sink)));
  for (Assertion& assertion : assertions) {
    auto place = PlaceOf(assertion.expression, module, key);
    if (!place) return Annotate("'" + assertion.expression.text() + "'", place.takeError());
    hook->Watch(std::move(*place));
    hook->entries_.push_back(std::make_unique<Entry>());
    hook->entries_.back()->assertion = std::move(assertion);
  }
  return hook;
}

TensorExpression::Form AssertionHook::FormOf(const ModuleShapes& shapes,
                                             const ExpressionPlace& place, size_t i,
                                             llvm::ArrayRef<Port> fed) const {
  Port port = place.ports[i];
  const ShapeMap& map = shapes.Of(*place.body);
  TensorExpression::Form form{map.TypeOf(port), map.OfPort(port), Tensor()};
  Node maker = place.body->node(port.node);
  bool is_fed = place.body == &module_.main && llvm::is_contained(fed, port);
  if (maker.op() != "Const" || is_fed) return form;
  auto literal = Literal::FromConst(maker);
  auto value = literal ? Tensor::FromLiteral(*literal) : literal.takeError();
  if (value)
    form.value = std::move(*value);
  else
    llvm::consumeError(value.takeError());
  return form;
}

// Refutes nothing if a fed tensor is not a Placeholder: only for placeholders does the executor
// check that the fed value has the declared shape.
std::vector<std::string> AssertionHook::Refuted(llvm::ArrayRef<std::string> feeds) {
  ModuleShapes shapes(module_);
  bool trusts = true;
  std::vector<Port> fed;
  for (const std::string& feed : feeds) {
    auto port = FindTensorIfThere(module_.main, feed);
    if (!port) continue;
    fed.push_back(*port);
    trusts &= module_.main.node(port->node).op() == "Placeholder";
  }
  std::vector<std::string> refuted;
  for (size_t e = 0; e < entries_.size() && trusts; ++e) {
    Entry& entry = *entries_[e];
    const ExpressionPlace& place = this->place(e);
    std::string known;
    auto form_of = [&](llvm::StringRef name) {
      size_t i = llvm::find(place.names, name) - place.names.begin();
      TensorExpression::Form form = FormOf(shapes, place, i, fed);
      std::string what = form.value ? form.value.ToString(kMostElements)
                                    : (DataTypeName(form.dtype) + form.shape.ToString()).str();
      std::string line = llvm::formatv("\n  {0} is {1}", name, what).str();
      if (!llvm::StringRef(known).contains(line)) known += line;
      return form;
    };
    std::optional<bool> holds = entry.assertion.expression.Decide(form_of);
    entry.is_decided = holds.has_value();
    if (holds == false) refuted.push_back(Headline(entry.assertion, "cannot hold") + known);
  }
  return refuted;
}

RunHook* AssertionHook::node_hook() {
  bool asks = llvm::any_of(entries_, [](const auto& entry) { return !entry->is_decided; });
  return asks ? this : nullptr;
}

Error AssertionHook::BeforeRun(StepContext& step) {
  run_ = step.run;
  Clear();
  for (size_t i = 0; i < step.feeds.size(); ++i) {
    ASSIGN_OR_RETURN(Port port, FindTensor(module_.main, step.feeds[i]));
    RETURN_IF_ERROR(SetFed(port, step.feed_values[i]));
  }
  for (size_t e = 0; e < entries_.size(); ++e) {
    std::string missing = entries_[e]->is_decided ? "" : NotComputed(e);
    if (missing.empty()) continue;
    return MakeError("'{0}': no fetch needs '{1}', so it is not computed: fetch it too",
                     entries_[e]->assertion.expression.text(), missing);
  }
  return Error::success();
}

Error AssertionHook::OnValues(size_t expression, const Node& maker, llvm::ArrayRef<Tensor> values) {
  Entry& entry = *entries_[expression];
  if (entry.is_decided) return Error::success();
  ++entry.times;
  const std::vector<std::string>& names = place(expression).names;
  auto lookup = [&](llvm::StringRef name) -> Expected<Tensor> {
    return values[llvm::find(names, name) - names.begin()];
  };
  auto holds = entry.assertion.expression.AreTrue(lookup);
  if (holds && *holds) return Error::success();
  if (!holds)
    return MakeError("{0}\n  {1}\n  {2}", Headline(entry.assertion, "cannot be evaluated"),
                     Place(maker, run_), TextOf(holds.takeError()));
  std::string text = FailureText(entry, maker, lookup);
  std::lock_guard lock(failure_mutex_);
  if (failure_.empty()) failure_ = text;
  return MakeError("{0}", text);
}

std::string AssertionHook::FailureText(const Entry& entry, const Node& maker,
                                       const TensorExpression::Lookup& lookup) const {
  const TensorExpression& expression = entry.assertion.expression;
  std::string text = Headline(entry.assertion, "does not hold") + "\n  " + Place(maker, run_);
  std::string which = WhichFail(expression, lookup);
  if (!which.empty()) text += "\n  " + which;
  std::vector<std::string> named = expression.Tensors();
  for (const auto& [side, value] : expression.Sides(lookup)) {
    if (!llvm::is_contained(named, side))
      text += "\n  " + side + " is " + value.ToString(kMostElements);
  }
  for (const std::string& name : named)
    text += "\n  " + name + " is " + llvm::cantFail(lookup(name)).ToString(kMostElements);
  return text;
}

Error AssertionHook::End(StepContext& step) {
  for (const auto& entry : entries_) {
    if (step.has_failed || entry->is_decided || entry->times > 0) continue;
    sink_(Severity::kWarning, "--assert '" + entry->assertion.expression.text() +
                                  "' was never checked: its tensors were not computed");
  }
  return Error::success();
}

}  // namespace grapnel
