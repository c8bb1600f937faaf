// `grapnel query MODEL 'SQL'`: answers questions about a graph, in SQL or as chains of ops.
#include "lib/io/named_functions.h"
#include "lib/job/model_layers.h"
#include "lib/job/source.h"
#include "lib/job/value_rows.h"
#include "lib/query/graph_tables.h"
#include "lib/query/path_pattern.h"
#include "lib/query/result_text.h"
#include "llvm/ADT/StringExtras.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/size_flags.h"

namespace grapnel {
namespace {

constexpr size_t kWidestCell = 100;

struct Flags {
  std::string model, query, graph, ledger, database;
  ShownPart part;
  SizeFlags sizes;
  size_t limit = 1000;
  bool csv = false, schema = false;
};

// Returns 'A -> B' for a query "path 'A -> B'"; nullopt if the query is SQL.
std::optional<llvm::StringRef> PatternOf(llvm::StringRef query) {
  query = query.trim();
  if (!query.consume_front("path") || query.empty() || !llvm::isSpace(query[0]))
    return std::nullopt;
  query = query.trim();
  for (char quote : {'\'', '"'}) {
    if (query.size() >= 2 && query.front() == quote && query.back() == quote)
      return query.drop_front().drop_back();
  }
  return query;
}

TableSources SourcesOf(const OpenedGraph& input, Invocation& invocation) {
  TableSources sources;
  sources.named_outside = FunctionsNamedOutside(input.file());
  sources.layers = [&] { return QueriedLayers{LayerNames(input.file()), LayerRowsOf(input)}; };
  sources.values = [&] {
    ThreadPool pool(invocation.flags.threads);
    std::vector<ValueRow> values = ValueRowsOf(input, pool);
    std::string unknown = UnknownValuesText(values);
    if (!unknown.empty())
      invocation.sink()(Severity::kWarning, input.model().path + ": " + unknown);
    return values;
  };
  return sources;
}

Expected<QueryResult> RunSql(const OpenedGraph& input, const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(Database database, Database::Create());
  // A saved database gets all tables, otherwise only the tables that the query uses are filled.
  llvm::StringRef only_for;
  if (flags.database.empty()) only_for = flags.query;
  RETURN_IF_ERROR(
      AddGraph(input.module(), &database, LinesOf(input), only_for, SourcesOf(input, invocation)));
  if (!flags.ledger.empty()) RETURN_IF_ERROR(AddLedger(flags.ledger, &database));
  if (flags.database.empty()) database.ForbidWrites();
  QueryResult result;
  if (!flags.query.empty()) {
    ASSIGN_OR_RETURN(result, database.Query(flags.query));
  }
  if (!flags.database.empty()) RETURN_IF_ERROR(database.SaveTo(flags.database));
  return result;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  llvm::raw_ostream& os = invocation.out();
  if (flags.schema) {
    os << GraphSchema();
    return kExitOk;
  }
  if (flags.model.empty() || (flags.query.empty() && flags.database.empty()))
    return MakeError("MODEL and QUERY are required (or MODEL and --db, or --schema)");
  ASSIGN_OR_RETURN(OpenedGraph input, OpenInput(flags.model, flags.graph, invocation.sink()));
  ASSIGN_OR_RETURN(std::string shown, flags.part.Take(flags.sizes, &input));
  if (!shown.empty()) invocation.sink()(Severity::kInfo, flags.model + ": " + shown);
  auto pattern = PatternOf(flags.query);
  if (pattern && !(flags.database.empty() && flags.ledger.empty()))
    return MakeError("--db and --ledger are for SQL, and the query is a chain of ops");
  auto found = pattern ? FindPathRows(input.module(), *pattern, flags.limit)
                       : RunSql(input, flags, invocation);
  if (!found) return found.takeError();
  if (pattern && found->rows.size() == flags.limit)
    invocation.sink()(
        Severity::kWarning,
        llvm::formatv("{0} paths are shown; there may be more (--limit)", flags.limit).str());
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) { WriteResultJson(*found, json); });
  } else if (flags.csv) {
    WriteCsv(*found, os);
  } else {
    WriteTable(*found, pattern ? std::string::npos : kWidestCell, NamesOf(*found, input.module()),
               os);
  }
  if (!pattern) invocation.Wrote(flags.database);
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutPlugins();
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model,
              "any TensorFlow graph: a file, a folder, or - for standard input");
  line.Option("QUERY", flags->query,
              "one SQL statement, or path 'A -> * -> B': chains of ops (* any op, ** any number "
              "of nodes, OP[attribute=value])");
  line.Flag("--schema", flags->schema, "list the tables");
  line.Option("--graph", flags->graph,
              "the title of one of several graphs, as `info` shows it; for dumps FUNCTION:STAGE");
  flags->part.AddTo(line);
  line.Option("--ledger", flags->ledger,
              "add tables of the rewrites in this file, which `opt --ledger` wrote")
      .ShownAs("FILE");
  line.Option("--db", flags->database, "keep the database in this new file; SQL may change it")
      .ShownAs("FILE");
  flags->sizes.AddTo(line);
  line.Flag("--csv", flags->csv, "print comma-separated values");
  line.Option("--limit", flags->limit, "show at most this many paths").Positive().ShowDefault();
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("query", "answers questions about a graph, in SQL or as chains of ops",
                "query model.pb 'SELECT op, count(*) FROM nodes GROUP BY op ORDER BY 2 DESC'",
                SetUp);

}  // namespace
}  // namespace grapnel
