#include "lib/query/database.h"

#include "gtest/gtest.h"
#include "lib/query/graph_tables.h"

namespace grapnel {
namespace {

QueryResult Query(Database& database, llvm::StringRef sql) {
  auto result = database.Query(sql);
  if (!result) {
    ADD_FAILURE() << TextOf(result.takeError());
    return {};
  }
  return std::move(*result);
}

std::string ErrorOf(Database& database, llvm::StringRef sql) {
  auto result = database.Query(sql);
  return result ? "" : TextOf(result.takeError());
}

TEST(Database, KeepsEachKindOfCell) {
  auto database = llvm::cantFail(Database::Create());
  QueryResult result = Query(database, "SELECT 1, 0.5, 'x', NULL");
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(std::get<int64_t>(result.rows[0][0]), 1);
  EXPECT_EQ(std::get<double>(result.rows[0][1]), 0.5);
  EXPECT_EQ(std::get<std::string>(result.rows[0][2]), "x");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(result.rows[0][3]));
}

TEST(Database, ReadsOnlyWhenTold) {
  auto database = llvm::cantFail(Database::Create());
  llvm::cantFail(database.Execute("CREATE TABLE t (x)"));
  database.ForbidWrites();
  for (const char* sql :
       {"INSERT INTO t VALUES (1)", "DROP TABLE t", "ATTACH '/x' AS y", "PRAGMA query_only=OFF",
        "CREATE TABLE u (x)", "BEGIN", "VACUUM", "VACUUM INTO '/x'"})
    EXPECT_NE(ErrorOf(database, sql).find("only reading"), std::string::npos) << sql;
  EXPECT_EQ(Query(database,
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n LIMIT 3) "
                  "SELECT count(*) FROM n")
                .rows.size(),
            1u);
}

TEST(Database, ErrorsSayWhere) {
  auto database = llvm::cantFail(Database::Create());
  EXPECT_EQ(ErrorOf(database, "SELECT nope"),
            "SQL: no such column: nope, at character 8: \"nope\"; there are none");
  llvm::cantFail(database.Execute("CREATE TABLE nodes (name, op)"));
  llvm::cantFail(database.Execute("CREATE TABLE costs (node, flops)"));
  database.ForbidWrites();
  EXPECT_EQ(
      ErrorOf(database, "SELECT nodes.nam FROM nodes"),
      "SQL: no such column: nodes.nam, at character 8: \"nodes.nam FROM nodes\"; did you mean "
      "'name'?");
  EXPECT_NE(ErrorOf(database, "SELECT 'éé', nam FROM nodes").find("at character 14: \"nam"),
            std::string::npos);
  EXPECT_EQ(
      ErrorOf(database, "SELECT flops FROM nodes"),
      "SQL: no such column: flops, at character 8: \"flops FROM nodes\"; table 'costs' has it");
  EXPECT_EQ(ErrorOf(database, "SELECT * FROM nods"),
            "SQL: no such table: nods; did you mean 'nodes'?");
  EXPECT_NE(ErrorOf(database, " -- only a comment").find("no statement"), std::string::npos);
  EXPECT_NE(ErrorOf(database, "SELECT 1/0; x").find("character 13"), std::string::npos);
}

// A statement fills exactly the tables that it reads, also through views and subqueries.
TEST(GraphTables, OnlyWhatAStatementReads) {
  Module module;
  module.main.AddNode("a", "Nowhere");
  for (auto [sql, rows] : {std::pair("SELECT count(*) FROM nodes", 1),
                           {"SELECT 1 FROM scopes WHERE 'a' IN (SELECT name FROM nodes)", 1},
                           {"SELECT count(*) FROM devices", 1},
                           {"SELECT 'nodes' FROM scopes", 0},
                           {"", 1},
                           {"SELECT nope", 1}}) {
    auto database = llvm::cantFail(Database::Create());
    llvm::cantFail(AddGraph(module, &database, {}, sql));
    EXPECT_EQ(Query(database, "SELECT 1 FROM nodes").rows.size(), static_cast<size_t>(rows)) << sql;
  }
}

// A dangling input is an edge without a source, and names keep arbitrary bytes.
TEST(GraphTables, BrokenGraphsAreTablesToo) {
  Module module;
  NodeId id = module.main.AddNode("a\xFF/b", "Nowhere");
  module.main.AddImportedInput(id, {kNoNode, 0}, "missing", false);
  auto database = llvm::cantFail(Database::Create());
  llvm::cantFail(AddGraph(module, &database));
  QueryResult edges = Query(database, "SELECT source, output, target, input FROM edges");
  ASSERT_EQ(edges.rows.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(edges.rows[0][0]));
  EXPECT_EQ(std::get<std::string>(Query(database, "SELECT scope FROM nodes").rows[0][0]), "a\xFF");
}

}  // namespace
}  // namespace grapnel
