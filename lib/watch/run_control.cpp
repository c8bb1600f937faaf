#include "lib/watch/run_control.h"

#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

Expected<std::unique_ptr<StopWhen>> StopWhen::Make(
    llvm::StringRef text, const Module& module,
    const std::function<std::string(llvm::StringRef)>& key, MessageSink sink) {
  llvm::StringRef rest = text;
  auto expression = TensorExpression::ParseFirst(&rest);
  size_t column = rest.data() - text.data();
  if (!expression) return CaretError(text, column, expression.takeError());
  if (!rest.empty())
    return CaretError(text, column, MakeError("an operator or the end was expected"));
  ASSIGN_OR_RETURN(ExpressionPlace place, PlaceOf(*expression, module, key));
  if (place.body != &module.main || place.is_in_loop)
    return MakeError("'{0}': all tensors must be in the main graph, outside of loops", text);
  auto hook = std::make_unique<StopWhen>();
  for (Port port : place.ports)
    hook->tensors_.push_back(OutputName(module.main.node(port.node).name(), port.index));
  hook->names_ = std::move(place.names);
  hook->expression_ = std::move(*expression);
  hook->sink_ = std::move(sink);
  return hook;
}

Error StopWhen::Begin(StepContext& step) {
  for (const std::string& tensor : tensors_) step.Fetch(tensor);
  return Error::success();
}

Error StopWhen::AfterRun(StepContext& step) {
  ASSIGN_OR_RETURN(bool stops, expression_.IsTrue([&](llvm::StringRef name) {
    return step.Value(tensors_[llvm::find(names_, name) - names_.begin()]);
  }));
  if (stops) step.RequestStop();
  return Error::success();
}

Error StopWhen::End(StepContext& step) {
  if (!step.has_failed && !step.stops && step.run > 0)
    sink_(Severity::kWarning, llvm::formatv("--until '{0}' was not true after any of {1}",
                                            expression_.text(), Plural(step.run, "run"))
                                  .str());
  return Error::success();
}

Error SaveVariablesHook::AfterRun(StepContext& step) {
  if (every_ <= 0 || step.run % every_ != 0) return Error::success();
  return step.save_variables(prefix_ + "-" + std::to_string(step.run));
}

Error SaveVariablesHook::End(StepContext& step) {
  return step.has_failed ? Error::success() : step.save_variables(prefix_);
}

}  // namespace grapnel
