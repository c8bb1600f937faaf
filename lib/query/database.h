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

// A cell that is about to be taken: its text is the giver's.
using RowCell = std::variant<std::monostate, int64_t, double, llvm::StringRef>;
RowCell RowCellOf(const QueryCell& cell);

struct QueryResult {
  std::vector<std::string> columns;  // none: the statement gives no rows
  std::vector<std::vector<QueryCell>> rows;
};

// SQLite's dialect. Move-only; one thread at a time.
class Database {
 public:
  static Expected<Database> Create();

  // For our own statements, several with semicolons between them.
  Error Execute(const char* sql);
  // Rows that are inserted one after the other; `sql` has a ? for each cell. Texts may hold any
  // bytes.
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

  // The tables that a statement reads, by itself or through a view; nothing where it cannot be
  // prepared, and Query says why.
  std::optional<llvm::StringSet<>> TablesReadBy(llvm::StringRef sql);

  // From now on statements read only: no writes, no other databases, no settings.
  void ForbidWrites();
  // One statement of the user. Errors: what SQLite says, and at which character; more than one
  // statement, or none.
  Expected<QueryResult> Query(llvm::StringRef sql);
  // Writes the database to a file that is not there yet; it appears when it is whole.
  Error SaveTo(llvm::StringRef path);

 private:
  explicit Database(sqlite3* db);
  std::shared_ptr<sqlite3> db_;
  bool writes_forbidden_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_QUERY_DATABASE_H_
