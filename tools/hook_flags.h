// Flags of `run` for hooks around each run: summaries, assertions, conditions to stop, saving
// variables.
#ifndef GRAPNEL_TOOLS_HOOK_FLAGS_H_
#define GRAPNEL_TOOLS_HOOK_FLAGS_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/watch/assertion.h"
#include "lib/watch/run_control.h"
#include "lib/watch/summary_hook.h"
#include "tools/command_line.h"

namespace grapnel {

struct HookFlags {
  std::string summaries, until, save_variables;
  std::vector<std::string> summary, assertions;
  int save_every = 0;
  void AddTo(CommandLine& line);
};

// The hooks that the flags request.
class FlaggedHooks {
 public:
  // `signature`: its keys may name tensors. Errors: a flag that cannot be parsed, or lacks another
  // that it requires; a name that matches nothing; variables that cannot be saved.
  static Expected<FlaggedHooks> Make(const HookFlags& flags, const OpenedGraph& opened,
                                     const std::string& signature, const MessageSink& sink);
  // The hooks in the order in which they are called.
  std::vector<StepHook*> hooks() const;
  // Null if nothing is asserted.
  AssertionHook* assertions() const { return assertions_.get(); }

 private:
  std::unique_ptr<SummaryHook> summaries_;
  std::unique_ptr<AssertionHook> assertions_;
  std::unique_ptr<StopWhen> until_;
  std::unique_ptr<SaveVariablesHook> save_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_HOOK_FLAGS_H_
