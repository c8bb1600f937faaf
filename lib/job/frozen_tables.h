// Puts the contents of lookup tables into a frozen graph.
#ifndef GRAPNEL_LIB_JOB_FROZEN_TABLES_H_
#define GRAPNEL_LIB_JOB_FROZEN_TABLES_H_

#include "lib/exec/session.h"
#include "lib/job/opened_graph.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// True if the graph, or a function of its library, creates a lookup table whose contents
// FreezeTables can store.
bool HasTables(const Module& module);

// Adds to `frozen`, for each table that HasTables counts, a LookupTableImport (V2 for a table op
// V2) with all keys and values as constants, and the node kTableInit, which runs these imports. The
// contents come from `session`, which holds the restored model `whole`: it does not matter whether
// an op, a function, a checkpoint or a text file among the model's assets filled the table, and the
// frozen graph needs no such op, function or file. An empty table gets an import only if it is not
// mutable and the file's initializer, but no op of the frozen graph, may fill it. Errors name the
// table.
Error FreezeTables(Module& frozen, OpenedGraph& whole, Session& session, ThreadPool& pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FROZEN_TABLES_H_
