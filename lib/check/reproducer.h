// What is left of a run whose pass failed: the graph that the pass was given.
#ifndef GRAPNEL_LIB_CHECK_REPRODUCER_H_
#define GRAPNEL_LIB_CHECK_REPRODUCER_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/pass/pass_manager.h"

namespace grapnel {

// Notes the stage that failed in `failed`, which must outlive the run. To be added before what may
// fail, the verifier for one.
std::unique_ptr<Instrumentation> MakeFailureInstrumentation(std::optional<Stage>* failed);

// Runs the passes on `module`, the graph as it was at the start, up to the stage that failed, and
// writes the graph to `path`. Costs nothing while no pass fails: no graph is kept.
Error SaveReproducer(Module& module, const OptimizeOptions& options, const Stage& failed,
                     llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_REPRODUCER_H_
