// Saves the input graph of a pass that failed.
#ifndef GRAPNEL_LIB_CHECK_REPRODUCER_H_
#define GRAPNEL_LIB_CHECK_REPRODUCER_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/pass/pass_manager.h"

namespace grapnel {

// Returns an instrumentation that stores the stage that fails in `failed`, which must outlive the
// run. Add it before instrumentations that may fail themselves, such as the verifier.
std::unique_ptr<Instrumentation> MakeFailureInstrumentation(std::optional<Stage>* failed);

// Runs the passes on `module`, which must be the initial graph again, up to the failed stage, and
// writes the graph to `path`. Runs in which no pass fails cost nothing, since the passes run again
// only after a failure.
Error SaveReproducer(Module& module, const OptimizeOptions& options, const Stage& failed,
                     llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_REPRODUCER_H_
