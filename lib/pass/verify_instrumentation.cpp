// Checks the graph after each pass that changed it: a pass that breaks a graph is stopped where it
// did.
#include "lib/ir/verify.h"
#include "lib/pass/pass_manager.h"

namespace grapnel {
namespace {

class VerifyInstrumentation : public Instrumentation {
 public:
  Error AfterPass(const Stage& stage, const Module& module) override {
    if (!stage.changed) return Error::success();
    std::vector<Problem> problems = VerifyGraph(module.main);
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
