#include "lib/watch/summary_hook.h"

#include "lib/exec/run_order.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {

namespace {

// True for an expression over a variable's handle in the main graph, outside of loops: such an
// expression uses the variable's value after the run.
bool HasVariables(const ExpressionPlace& place, const Graph& main) {
  return place.body == &main && !place.is_in_loop && llvm::any_of(place.ports, [&](Port port) {
           return TypeOfPort(main, port) == proto::DT_RESOURCE;
         });
}

}  // namespace

Expected<std::unique_ptr<SummaryHook>> SummaryHook::Make(
    const Module& module, std::vector<SummaryRequest> requests, llvm::StringRef folder,
    const std::function<std::string(llvm::StringRef)>& key, MessageSink sink) {
  std::unique_ptr<SummaryHook> hook(new SummaryHook(module, std::move(sink)));
  llvm::StringSet<> tags;
  for (const SummaryRequest& request : requests) {
    std::string what =
        ("'" + SummaryKindName(request.kind) + ":" + request.expression.text() + "'").str();
    if (!tags.insert(request.tag).second)
      return MakeError(
          "{0}: another summary has the tag '{1}' too: give this one its own, as in "
          "{2}:{3}=TAG",
          what, request.tag, SummaryKindName(request.kind), request.expression.text());
    auto place = PlaceOf(request.expression, module, key);
    if (!place) return Annotate(what, place.takeError());
    hook->is_of_variables_.push_back(HasVariables(*place, module.main));
    hook->Watch(std::move(*place));
  }
  hook->times_.resize(requests.size());
  hook->requests_ = std::move(requests);
  hook->folder_ = folder.str();
  return hook;
}

// Makes the runs compute the tensors of the main graph. Tensors in a loop cannot be fetched; they
// are observed when the loop runs.
Error SummaryHook::Begin(StepContext& step) {
  ASSIGN_OR_RETURN(events_, EventStream::Create(folder_, EventStream::kUsualSuffix));
  for (size_t e = 0; e < requests_.size(); ++e) {
    const ExpressionPlace& place = this->place(e);
    if (place.body != &module_.main || place.is_in_loop) continue;
    for (Port port : place.ports)
      step.Fetch(OutputName(place.body->node(port.node).name(), port.index));
  }
  return Error::success();
}

Error SummaryHook::BeforeRun(StepContext& step) {
  run_ = step.run;
  Clear();
  for (size_t i = 0; i < step.feeds.size(); ++i) {
    ASSIGN_OR_RETURN(Port port, FindTensor(module_.main, step.feeds[i]));
    RETURN_IF_ERROR(SetFed(port, step.feed_values[i]));
  }
  return Error::success();
}

Error SummaryHook::WriteOfVariables(const StepContext& step, size_t expression) {
  const SummaryRequest& request = requests_[expression];
  const ExpressionPlace& place = this->place(expression);
  auto tensor = request.expression.Evaluate([&](llvm::StringRef name) {
    Port port = place.ports[llvm::find(place.names, name) - place.names.begin()];
    return step.Value(OutputName(place.body->node(port.node).name(), port.index));
  });
  auto value = tensor ? SummaryOf(request.kind, *tensor) : tensor.takeError();
  if (!value)
    return Annotate("'" + SummaryKindName(request.kind) + ":" + request.expression.text() + "'",
                    value.takeError());
  ++times_[expression];
  Write(request.tag, step.run, std::move(*value));
  return Error::success();
}

Error SummaryHook::OnValues(size_t expression, const Node& /*maker*/,
                            llvm::ArrayRef<Tensor> values) {
  if (is_of_variables_[expression]) return Error::success();
  const SummaryRequest& request = requests_[expression];
  const ExpressionPlace& place = this->place(expression);
  auto tensor = request.expression.Evaluate([&](llvm::StringRef name) -> Expected<Tensor> {
    return values[llvm::find(place.names, name) - place.names.begin()];
  });
  auto value = tensor ? SummaryOf(request.kind, *tensor) : tensor.takeError();
  if (!value)
    return Annotate("'" + SummaryKindName(request.kind) + ":" + request.expression.text() + "'",
                    value.takeError());
  bool is_of_run = place.body == &module_.main && !place.is_in_loop;
  EmitInOrder([this, expression, is_of_run, value = std::move(*value)]() mutable {
    // A dataset calls functions in no fixed order, and the calls may overlap.
    std::lock_guard lock(mutex_);
    int64_t count = ++times_[expression];
    Write(requests_[expression].tag, is_of_run ? run_ : count, std::move(value));
  });
  return events_->FlushNowAndThen();
}

void SummaryHook::Write(const std::string& tag, int64_t step, proto::Summary::Value value) {
  value.set_tag(tag);
  proto::Event event;
  *event.mutable_summary()->add_value() = std::move(value);
  events_->Add(step, std::move(event));
}

// Writes fetch `i` unchanged if it is the output of a summary op of the graph; returns false if it
// is not.
Expected<bool> SummaryHook::WriteWhole(const StepContext& step, size_t i) {
  const Tensor& value = step.fetched[i];
  auto port = FindTensorIfThere(module_.main, step.fetches[i]);
  if (!port || !value || value.dtype() != proto::DT_STRING || value.num_elements() != 1)
    return false;
  llvm::StringRef op = module_.main.node(port->node).op();
  if (!op.ends_with("Summary") && !op.ends_with("SummaryV2")) return false;
  proto::Event event;
  if (!event.mutable_summary()->ParseFromString(*value.data<std::string>()))
    return MakeError("fetch '{0}' is not a serialized Summary", step.fetches[i]);
  events_->Add(step.run, std::move(event));
  return true;
}

Error SummaryHook::AfterRun(StepContext& step) {
  for (size_t i = 0; i < step.fetches.size() && requests_.empty(); ++i) {
    ASSIGN_OR_RETURN(bool is_whole, WriteWhole(step, i));
    if (is_whole) continue;
    std::optional<SummaryKind> kind = UsualKind(step.fetched[i]);
    if (!kind) continue;
    ASSIGN_OR_RETURN(proto::Summary::Value value, SummaryOf(*kind, step.fetched[i]));
    Write(UsualTag(step.fetch_names[i]), step.run, std::move(value));
  }
  for (size_t e = 0; e < requests_.size(); ++e) {
    if (is_of_variables_[e]) RETURN_IF_ERROR(WriteOfVariables(step, e));
  }
  return events_->FlushNowAndThen();
}

Error SummaryHook::End(StepContext& step) {
  if (!events_) return Error::success();
  for (size_t e = 0; e < requests_.size() && !step.has_failed; ++e) {
    if (times_[e] > 0) continue;
    sink_(Severity::kWarning, "--summary " + SummaryKindName(requests_[e].kind).str() + ":" +
                                  requests_[e].expression.text() +
                                  " was never written: its tensors were not computed");
  }
  return events_->Close();
}

}  // namespace grapnel
