// A job: turns a model with variables into a graph without variables.
#ifndef GRAPNEL_LIB_JOB_FREEZE_H_
#define GRAPNEL_LIB_JOB_FREEZE_H_

#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// The outputs that the frozen graph must compute: those of a signature (see ChooseOneSignature), or
// `fetches` if that list is not empty.
struct FreezeFor {
  std::string signature;
  std::vector<std::string> fetches;
};

// Restores the model and replaces variables by their values (lib/function/freeze.h) and tables by
// their contents (lib/job/frozen_tables.h). Nodes that the outputs do not need are removed first,
// so unread variables, savers and other signatures do not matter. To run the graph, run
// TableInitOf(main) first. Errors: no such signature; those of FreezeVariables, FreezeTables,
// OpenedGraph::Reopen and RestoreSession; a variable without a value. After an error the module
// must not be used.
Error Freeze(OpenedGraph& opened, const FreezeFor& what, ThreadPool& pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FREEZE_H_
