// Puts the contents of lookup tables into a frozen graph.
#ifndef GRAPNEL_LIB_JOB_FROZEN_TABLES_H_
#define GRAPNEL_LIB_JOB_FROZEN_TABLES_H_

#include "lib/exec/session.h"
#include "lib/job/opened_graph.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// Whether the graph, or a function of its library, has a table that nodes outside of it can fill.
bool HasTables(const Module& module);

// Gives `frozen` for each such table a LookupTableImportV2 with all keys and values as constants,
// and the node kTableInit, which runs these. The contents come from `session`, where the model
// `whole` was restored: so it does not matter whether an op, a function, a checkpoint or a text
// file among the model's assets filled the table, and the frozen graph needs none of them. A table
// that holds nothing and that nothing fills stays as it is. Errors name the table.
Error FreezeTables(Module& frozen, OpenedGraph& whole, Session& session, ThreadPool& pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FROZEN_TABLES_H_
