// A graph as database tables.
#ifndef GRAPNEL_LIB_QUERY_GRAPH_TABLES_H_
#define GRAPNEL_LIB_QUERY_GRAPH_TABLES_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/io/layers/layer_names.h"
#include "lib/io/layers/layer_row.h"
#include "lib/io/value_row.h"
#include "lib/ir/line_table.h"
#include "lib/ir/module.h"
#include "lib/query/database.h"

namespace grapnel {

// The CREATE statements, with comments on the tables and columns.
const char* GraphSchema();

struct TableColumn {
  enum class Type { kInteger, kNumber, kText };
  std::string name;
  Type type;
};
// Returns the columns of a table of graph data, as in GraphSchema().
std::vector<TableColumn> ColumnsOf(llvm::StringRef table);

// The layers of the graph. In a graph without any, the columns `layer` are NULL.
struct QueriedLayers {
  LayerNames names;
  std::vector<LayerRow> rows;
};
// The data of tables that is not in the module. Each function may be empty, and is called at most
// once, and only if a table needs it.
struct TableSources {
  std::vector<std::string> named_outside;  // functions (lib/io/named_functions.h)
  std::function<QueriedLayers()> layers;
  // The values of the module's variables and constants; reads all of them.
  std::function<std::vector<ValueRow>()> values;
};

// Calls `sink` with each row of one table of graph data, in the order of bodies and nodes; creates
// no database and computes no other table.
using RowSink = std::function<Error(llvm::ArrayRef<RowCell>)>;
Error ForEachRow(const Module& module, const LineTable& lines, llvm::StringRef table, RowSink sink,
                 const TableSources& sources = {});

// Creates the tables of GraphSchema() and fills the tables of graph data. If `only_for` is given,
// the single statement that the caller will run, fills only the tables that this statement reads;
// all if SQLite cannot prepare it. Stores names that are not UTF-8 unchanged. Costs some
// microseconds for each node, edge and attribute.
Error AddGraph(const Module& module, Database* database, const LineTable& lines = {},
               llvm::StringRef only_for = {}, const TableSources& sources = {});

// Fills the tables about rewrites from a ledger written by `opt --ledger`. Errors in the ledger's
// text name the file and the line.
Error AddLedger(llvm::StringRef path, Database* database);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_QUERY_GRAPH_TABLES_H_
