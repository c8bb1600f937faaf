// A graph as tables of a database.
#ifndef GRAPNEL_LIB_QUERY_GRAPH_TABLES_H_
#define GRAPNEL_LIB_QUERY_GRAPH_TABLES_H_

#include "lib/ir/line_table.h"
#include "lib/ir/module.h"
#include "lib/query/database.h"

namespace grapnel {

// The CREATE statements, with a comment for each table and column.
const char* GraphSchema();

// Makes the tables of GraphSchema() and fills those that a graph fills. Names that are not UTF-8
// are stored as they are. Cost: some microseconds for each node, edge and attribute.
Error AddGraph(const Module& module, Database* database, const LineTable& lines = {});

// Fills the tables of rewrites from a ledger that `opt --ledger` wrote. Errors name the file and
// the line.
Error AddLedger(llvm::StringRef path, Database* database);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_QUERY_GRAPH_TABLES_H_
