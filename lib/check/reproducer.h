// Saves the input graph of a pass that failed.
#ifndef GRAPNEL_LIB_CHECK_REPRODUCER_H_
#define GRAPNEL_LIB_CHECK_REPRODUCER_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/pass/pass_manager.h"

namespace grapnel {

// Stores the failing stage in `failed`, which must outlive the run. Add it before instrumentations
// that may fail, such as the verifier.
std::unique_ptr<Instrumentation> MakeFailureInstrumentation(std::optional<Stage>* failed);

// Runs the passes on `module`, the initial graph, up to the failed stage, and writes the graph to
// `path`. Costs nothing unless a pass fails: no graph is kept.
Error SaveReproducer(Module& module, const OptimizeOptions& options, const Stage& failed,
                     llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_REPRODUCER_H_
