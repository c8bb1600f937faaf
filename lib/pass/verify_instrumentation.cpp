// Checks the graph after each pass that changed it: a pass that breaks a graph is stopped where it
// did.
#include "lib/ir/verify.h"
#include "lib/pass/pass_manager.h"

namespace grapnel {
namespace {

class VerifyInstrumentation : public Instrumentation {
 public:
  bool TakesBodiesApart() const override { return true; }
  Error AfterPass(const Stage& stage, const Module& module) override {
    if (!stage.changed) return Error::success();
    const Function* function = module.FindFunction(stage.function);
    std::vector<Problem> problems =
        function ? VerifyGraph(function->body, function) : VerifyGraph(module.main);
    // Functions that the pass made are looked at when they are optimised; calls of them now.
    for (const Problem& problem : problems) {
      if (problem.severity != Severity::kError) continue;
      return MakeError(
          "broke the graph: {0} ({1} problems in all; a bug of grapnel's: please report it with "
          "the model)",
          problem.ToString(), problems.size());
    }
    return Error::success();
  }
};

}  // namespace

std::unique_ptr<Instrumentation> MakeVerifyInstrumentation() {
  return std::make_unique<VerifyInstrumentation>();
}

}  // namespace grapnel
