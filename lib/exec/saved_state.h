// From a SavedModel's files to a session and back: variables, and what its initialiser makes.
#ifndef GRAPNEL_LIB_EXEC_SAVED_STATE_H_
#define GRAPNEL_LIB_EXEC_SAVED_STATE_H_

#include "lib/exec/session.h"
#include "lib/io/open.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// Runs what the model says for it, as TensorFlow's loader does: first the saver's restore op on
// `variables_prefix` (unless that is empty), then the initialiser (signature __saved_model_init_op,
// or collection saved_model_main_op or legacy_init_op) with the assets' paths fed. A graph that has
// none of these is left alone. Errors name the op that failed.
Error RestoreSession(const GraphInFile& graph, llvm::StringRef variables_prefix, Session& session,
                     ThreadPool& pool);

// Writes the variables to PREFIX.index and PREFIX.data-00000-of-00001, by the saver's own ops.
Error SaveVariables(const GraphInFile& graph, llvm::StringRef prefix, Session& session,
                    ThreadPool& pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_SAVED_STATE_H_
