#include "tools/hook_flags.h"

#include "lib/exec/saved_state.h"
#include "lib/ir/find.h"
#include "lib/job/name_resolver.h"

namespace grapnel {

void HookFlags::AddTo(CommandLine& line) {
  line.Option("--summaries", summaries,
              "write event files for TensorBoard: of the fetches, or of each --summary")
      .ShownAs("DIR");
  line.Option("--summary", summary,
              "with --summaries: a scalar, histogram, image or text of a tensor or an expression; "
              "also in a function, as body/loss:0")
      .ShownAs("KIND:TENSOR[=TAG]");
  line.Option("--assert", assertions,
              "a condition that must hold, as 'rank(x:0) == 2: a batch is a matrix'; checked "
              "before the run if shapes and dtypes decide it, else in the run, which stops where "
              "it fails; exit code 1")
      .ShownAs("EXPR[: MESSAGE]");
  line.Option("--until", until, "with --repeat: stop after the first run after which this is true")
      .ShownAs("EXPR");
  line.Option("--save-variables", save_variables,
              "at the end, write the variables as a checkpoint that TensorFlow reads")
      .ShownAs("PREFIX");
  line.Option("--save-every", save_every,
              "with --save-variables: also after every N runs, as PREFIX-RUN")
      .ShownAs("N")
      .Positive();
}

Expected<FlaggedHooks> FlaggedHooks::Make(const HookFlags& flags, const OpenedGraph& opened,
                                          const std::string& signature, const MessageSink& sink) {
  FlaggedHooks made;
  const Module& module = opened.module();
  NameResolver resolver(opened, signature);
  auto key = [&](llvm::StringRef name) {
    // A tensor of a function is meant in each of its calls, an argument too.
    if (auto node = FindNode(module, name); !node)
      llvm::consumeError(node.takeError());
    else if (FunctionOf(node->graph()))
      return name.str();
    auto tensor = resolver.MainTensor(name);
    if (tensor) return *tensor;
    llvm::consumeError(tensor.takeError());
    return name.str();
  };
  if (!flags.summary.empty() && flags.summaries.empty())
    return MakeError("--summary requires --summaries DIR");
  if (!flags.summaries.empty()) {
    std::vector<SummaryRequest> requests;
    for (const std::string& text : flags.summary) {
      auto request = SummaryRequest::Parse(text);
      if (!request) return Annotate("--summary", request.takeError());
      requests.push_back(std::move(*request));
    }
    auto hook = SummaryHook::Make(module, std::move(requests), flags.summaries, key, sink);
    if (!hook) return Annotate("--summary", hook.takeError());
    made.summaries_ = std::move(*hook);
  }
  if (!flags.assertions.empty()) {
    std::vector<Assertion> assertions;
    for (const std::string& text : flags.assertions) {
      auto assertion = Assertion::Parse(text);
      if (!assertion) return Annotate("--assert", assertion.takeError());
      assertions.push_back(std::move(*assertion));
    }
    auto hook = AssertionHook::Make(module, std::move(assertions), key, sink);
    if (!hook) return Annotate("--assert", hook.takeError());
    made.assertions_ = std::move(*hook);
  }
  if (!flags.until.empty()) {
    auto hook = StopWhen::Make(flags.until, module, key, sink);
    if (!hook) return Annotate("--until", hook.takeError());
    made.until_ = std::move(*hook);
  }
  if (flags.save_every > 0 && flags.save_variables.empty())
    return MakeError("--save-every requires --save-variables PREFIX");
  if (flags.save_variables.empty()) return made;
  if (Error error = CheckHasSaver(opened.file()))
    return Annotate("--save-variables", std::move(error));
  made.save_ = std::make_unique<SaveVariablesHook>(flags.save_variables, flags.save_every);
  return made;
}

std::vector<StepHook*> FlaggedHooks::hooks() const {
  std::vector<StepHook*> hooks;
  for (StepHook* hook :
       {static_cast<StepHook*>(summaries_.get()), static_cast<StepHook*>(assertions_.get()),
        static_cast<StepHook*>(until_.get()), static_cast<StepHook*>(save_.get())}) {
    if (hook) hooks.push_back(hook);
  }
  return hooks;
}

}  // namespace grapnel
