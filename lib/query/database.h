// An SQL database in memory.
#ifndef GRAPNEL_LIB_QUERY_DATABASE_H_
#define GRAPNEL_LIB_QUERY_DATABASE_H_

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

struct sqlite3;
struct sqlite3_stmt;

namespace grapnel {

// NULL, an integer, a number or text.
using QueryCell = std::variant<std::monostate, int64_t, double, std::string>;

// A cell to insert; the caller owns its text.
using RowCell = std::variant<std::monostate, int64_t, double, llvm::StringRef>;
RowCell RowCellOf(const QueryCell& cell);

struct QueryResult {
  std::vector<std::string> columns;  // empty: the statement returns no rows
  std::vector<std::vector<QueryCell>> rows;
};

// An SQL database in SQLite's dialect. A copy is another handle of the same database, which one
// thread at a time may use.
class Database {
 public:
  static Expected<Database> Create();

  // Runs grapnel's own statements; semicolons separate several statements.
  Error Execute(const char* sql);
  // Inserts rows one after the other; the statement `sql` has a ? for each cell. Texts may contain
  // any bytes.
  class Insert {
   public:
    Error Row(llvm::ArrayRef<RowCell> cells);

   private:
    friend class Database;
    explicit Insert(sqlite3* db) : db_(db) {}
    sqlite3* db_;
    std::shared_ptr<sqlite3_stmt> statement_;
  };
  Expected<Insert> Prepare(const char* sql);

  // Returns the tables and views that the statement `sql` reads, directly or through a view;
  // nullopt if SQLite cannot prepare the statement, in which case Query reports why.
  std::optional<llvm::StringSet<>> TablesReadBy(llvm::StringRef sql);

  // Makes all later statements read-only: no writes, no other databases, no settings.
  void ForbidWrites();
  // Runs one statement that the user wrote. An error is SQLite's message, with the character
  // position if SQLite gives one, or says, for example, that `sql` contains several statements.
  Expected<QueryResult> Query(llvm::StringRef sql);
  // Writes the database to a file, which must not exist yet; the file appears when it is complete.
  Error SaveTo(llvm::StringRef path);

 private:
  explicit Database(sqlite3* db);
  std::shared_ptr<sqlite3> db_;
  bool writes_forbidden_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_QUERY_DATABASE_H_
