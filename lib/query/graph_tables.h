// A graph as tables of a database.
#ifndef GRAPNEL_LIB_QUERY_GRAPH_TABLES_H_
#define GRAPNEL_LIB_QUERY_GRAPH_TABLES_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/ir/line_table.h"
#include "lib/ir/module.h"
#include "lib/query/database.h"

namespace grapnel {

// The CREATE statements, with a comment for each table and column.
const char* GraphSchema();

struct TableColumn {
  std::string name;
  bool is_number;  // INTEGER, else TEXT
};
// The columns of a table that a graph fills, as GraphSchema() has them.
std::vector<TableColumn> ColumnsOf(llvm::StringRef table);

// Hands over the rows of one such table in order, without a database, and computes no other.
// `from_outside`: functions that something beside the graph names (lib/io/named_functions.h).
using RowSink = std::function<Error(llvm::ArrayRef<RowCell>)>;
Error ForEachRow(const Module& module, const LineTable& lines, llvm::StringRef table, RowSink sink,
                 llvm::ArrayRef<std::string> from_outside = {});

// Makes the tables of GraphSchema() and fills those that a graph fills; where `only_for` is the one
// statement that will be asked, those that it reads. Names that are not UTF-8 are stored as they
// are. Cost: some microseconds for each node, edge and attribute.
Error AddGraph(const Module& module, Database* database, const LineTable& lines = {},
               llvm::StringRef only_for = {}, llvm::ArrayRef<std::string> from_outside = {});

// Fills the tables of rewrites from a ledger that `opt --ledger` wrote. Errors name the file and
// the line.
Error AddLedger(llvm::StringRef path, Database* database);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_QUERY_GRAPH_TABLES_H_
