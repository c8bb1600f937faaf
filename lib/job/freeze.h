// A job: a model with variables becomes a graph without.
#ifndef GRAPNEL_LIB_JOB_FREEZE_H_
#define GRAPNEL_LIB_JOB_FREEZE_H_

#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// What the frozen graph is for: the outputs of a signature (see ChooseSignature), unless tensors
// are named.
struct FreezeFor {
  std::string signature;
  std::vector<std::string> fetches;
};

// Restores the model and puts the values of variables into the graph, see lib/function/freeze.h,
// and what tables hold, see lib/job/frozen_tables.h. What the outputs do not need goes first, so
// unread variables, savers and other signatures do not matter. To run the graph, run
// TableInitOf(main) first. Errors: FreezeVariables', FreezeTables', RestoreSession's, a variable
// without a value; the module must not be used then.
Error Freeze(OpenedGraph& opened, const FreezeFor& what, ThreadPool& pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FREEZE_H_
