// `grapnel query MODEL 'SQL'`: questions about a graph, in SQL or as chains of ops.
#include "lib/job/opened_graph.h"
#include "lib/query/graph_tables.h"
#include "lib/query/path_pattern.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "tools/command.h"

namespace grapnel {
namespace {

constexpr size_t kWidestCell = 100;

struct Flags {
  std::string model, query, graph, ledger, database;
  size_t limit = 1000;
  bool csv = false, schema = false;
};

std::string TextOfCell(const QueryCell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&cell)) return llvm::formatv("{0:g}", *number).str();
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

// On one line, and no wider than `widest` characters.
std::string ForTable(const QueryCell& cell, size_t widest) {
  std::string text = TextOfCell(cell);
  for (char& c : text)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  if (text.size() <= widest) return text;
  size_t end = widest - 3;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;  // within a character
  return text.substr(0, end) + "...";
}

void PrintTable(const QueryResult& result, size_t widest, llvm::raw_ostream& os) {
  if (result.columns.empty()) return;
  std::vector<std::vector<std::string>> rows = {result.columns};
  for (const auto& row : result.rows) {
    rows.emplace_back();
    for (const QueryCell& cell : row) rows.back().push_back(ForTable(cell, widest));
  }
  os << Table(rows) << Plural(result.rows.size(), "row") << "\n";
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

void PrintCsv(const QueryResult& result, llvm::raw_ostream& os) {
  auto print = [&](const auto& cells, auto text_of) {
    for (size_t i = 0; i < cells.size(); ++i) os << (i ? "," : "") << CsvField(text_of(cells[i]));
    os << "\n";
  };
  print(result.columns, [](const std::string& name) { return name; });
  for (const auto& row : result.rows) print(row, TextOfCell);
}

llvm::json::Value JsonOf(const QueryCell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return *number;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string>(&cell)) return llvm::json::fixUTF8(*text);
  return nullptr;
}

void PrintJson(const QueryResult& result, llvm::raw_ostream& os) {
  llvm::json::OStream json(os, 1);
  json.object([&] {
    json.attributeArray("columns", [&] {
      for (const std::string& column : result.columns) json.value(llvm::json::fixUTF8(column));
    });
    json.attributeArray("rows", [&] {
      for (const auto& row : result.rows) {
        json.array([&] {
          for (const QueryCell& cell : row) json.value(JsonOf(cell));
        });
      }
    });
  });
  os << "\n";
}

// The pattern of "path 'A -> B'"; nothing when the query is SQL.
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

Expected<QueryResult> FindInBodies(Module& module, llvm::StringRef text, size_t limit,
                                   const MessageSink& sink) {
  ASSIGN_OR_RETURN(PathPattern pattern, PathPattern::Parse(text));
  QueryResult result;
  result.columns = {"function", "path", "ops"};
  for (const Body& body : Bodies(module)) {
    const Graph& graph = *body.graph;
    for (const NodePath& path : FindPaths(graph, pattern, limit - result.rows.size())) {
      std::string names, ops;
      for (NodeId id : path) {
        names += (names.empty() ? "" : " -> ") + graph.node(id).name().str();
        ops += (ops.empty() ? "" : " -> ") + graph.node(id).op().str();
      }
      QueryCell function;
      if (body.function) function = body.function->name().str();
      result.rows.push_back({function, names, ops});
    }
  }
  if (result.rows.size() == limit)
    sink(Severity::kWarning,
         llvm::formatv("only the first {0} paths are shown (--limit)", limit).str());
  return result;
}

Expected<QueryResult> RunSql(const Module& module, const Flags& flags) {
  ASSIGN_OR_RETURN(Database database, Database::Create());
  RETURN_IF_ERROR(AddGraph(module, &database));
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
  ASSIGN_OR_RETURN(OpenedGraph input, OpenedGraph::Open(flags.model, flags.graph));
  MessageSink sink = invocation.sink();
  auto pattern = PatternOf(flags.query);
  auto found = pattern ? FindInBodies(input.module(), *pattern, flags.limit, sink)
                       : RunSql(input.module(), flags);
  if (!found) return found.takeError();
  if (invocation.flags.json) {
    PrintJson(*found, os);
  } else if (flags.csv) {
    PrintCsv(*found, os);
  } else {
    PrintTable(*found, pattern ? std::string::npos : kWidestCell, os);
  }
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "any TensorFlow graph: a file, a folder, or -");
  line.Option("QUERY", flags->query,
              "one SQL statement, or path 'A -> * -> B': chains of ops (* any op, ** any number "
              "of nodes, OP[attribute=value])");
  line.Flag("--schema", flags->schema, "say which tables there are");
  line.Option("--graph", flags->graph,
              "which graph of a file with several: its title as `info` shows it");
  line.Option("--ledger", flags->ledger, "rewrites that `opt --ledger` wrote, as tables too")
      .ShownAs("FILE");
  line.Option("--db", flags->database, "keep the database in this new file; SQL may change it")
      .ShownAs("FILE");
  line.Flag("--csv", flags->csv, "print comma-separated values");
  line.Option("--limit", flags->limit, "show at most so many paths").Positive().ShowDefault();
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("query", "answers questions about a graph, in SQL or as chains of ops",
                "query model.pb 'SELECT op, count(*) FROM nodes GROUP BY op ORDER BY 2 DESC'",
                SetUp);

}  // namespace
}  // namespace grapnel
