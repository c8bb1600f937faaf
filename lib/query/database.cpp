#include "lib/query/database.h"

#include <sqlite3.h>

#include <set>

#include "lib/support/file.h"
#include "lib/support/name_list.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr const char kOnlyReading[] =
    "the statement changes something, and only reading is allowed";

// An SQLite authorizer that allows only statements that read.
int AllowReads(void*, int action, const char*, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

// An SQLite authorizer that adds the name of each table that a statement reads to the set `tables`.
int NoteTable(void* tables, int action, const char* table, const char*, const char*, const char*) {
  if (action == SQLITE_READ) static_cast<llvm::StringSet<>*>(tables)->insert(table);
  return SQLITE_OK;
}

std::vector<std::string> NamesOfTables(sqlite3* db) {
  constexpr const char kTables[] = "SELECT name FROM sqlite_schema WHERE type = 'table'";
  std::vector<std::string> names;
  sqlite3_stmt* prepared = nullptr;
  sqlite3_prepare_v2(db, kTables, -1, &prepared, nullptr);
  while (prepared && sqlite3_step(prepared) == SQLITE_ROW)
    names.push_back(reinterpret_cast<const char*>(sqlite3_column_text(prepared, 0)));
  sqlite3_finalize(prepared);
  return names;
}

std::vector<std::string> ColumnNames(sqlite3* db, const std::string& table) {
  std::vector<std::string> names;
  sqlite3_stmt* prepared = nullptr;
  sqlite3_prepare_v2(db, ("SELECT * FROM \"" + table + "\"").c_str(), -1, &prepared, nullptr);
  int columns = sqlite3_column_count(prepared);
  names.reserve(columns);
  for (int i = 0; i < columns; ++i) names.push_back(sqlite3_column_name(prepared, i));
  sqlite3_finalize(prepared);
  return names;
}

std::vector<std::string> NamesOfColumns(sqlite3* db) {
  std::set<std::string> names;
  for (const std::string& table : NamesOfTables(db))
    for (std::string& column : ColumnNames(db, table)) names.insert(std::move(column));
  return {names.begin(), names.end()};
}

std::vector<std::string> TablesWith(sqlite3* db, llvm::StringRef column) {
  std::vector<std::string> tables = NamesOfTables(db);
  llvm::erase_if(tables, [&](const std::string& table) {
    return llvm::none_of(ColumnNames(db, table),
                         [&](llvm::StringRef name) { return name.equals_insensitive(column); });
  });
  return tables;
}

// If SQLite's message `text` is about an unknown table or column, returns a suggestion of similar
// names, otherwise "".
std::string NearOf(sqlite3* db, llvm::StringRef text) {
  if (text.consume_front("no such table: ")) return DidYouMean(text, NamesOfTables(db));
  if (!text.consume_front("no such column: ")) return "";
  llvm::StringRef column = text.rsplit('.').second.empty() ? text : text.rsplit('.').second;
  std::vector<std::string> tables = TablesWith(db, column);
  if (tables.empty()) return DidYouMean(column, NamesOfColumns(db));
  return Sentence("; {0} {1} {2} it", tables.size() == 1 ? "table" : "tables", NameList(tables, 8),
                  tables.size() == 1 ? "has" : "have");
}

// Returns the number, from 1, of the UTF-8 character that begins at this byte.
size_t CharacterAt(llvm::StringRef text, size_t byte) {
  return 1 + llvm::count_if(text.take_front(byte), [](char c) { return (c & 0xC0) != 0x80; });
}

Error SqlError(sqlite3* db, llvm::StringRef sql) {
  std::string text = sqlite3_errmsg(db);
  if (text == "not authorized") text = kOnlyReading;
  int offset = sqlite3_error_offset(db);
  std::string near = NearOf(db, text);
  if (offset < 0 || static_cast<size_t>(offset) >= sql.size())
    return MakeError("SQL: {0}{1}", text, near);
  llvm::StringRef rest = sql.substr(offset, 30);
  return MakeError("SQL: {0}, at character {1}: \"{2}{3}\"{4}", text, CharacterAt(sql, offset),
                   rest, offset + rest.size() < sql.size() ? "..." : "", near);
}

int Bind(sqlite3_stmt* statement, int index, const RowCell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell))
    return sqlite3_bind_int64(statement, index, *number);
  if (const auto* number = std::get_if<double>(&cell))
    return sqlite3_bind_double(statement, index, *number);
  if (const auto* text = std::get_if<llvm::StringRef>(&cell))  // a null pointer would be NULL
    return sqlite3_bind_text64(statement, index, text->empty() ? "" : text->data(), text->size(),
                               SQLITE_STATIC, SQLITE_UTF8);
  return sqlite3_bind_null(statement, index);
}

QueryCell CellAt(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return std::monostate();
    case SQLITE_INTEGER:
      return static_cast<int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    default: {
      const void* bytes = sqlite3_column_blob(statement, column);
      size_t size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
      return bytes ? std::string(static_cast<const char*>(bytes), size) : std::string();
    }
  }
}

using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

}  // namespace

RowCell RowCellOf(const QueryCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return llvm::StringRef(*text);
  if (const auto* integer = std::get_if<int64_t>(&cell)) return *integer;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return std::monostate();
}

Database::Database(sqlite3* db) : db_(db, [](sqlite3* open) { sqlite3_close_v2(open); }) {}

Expected<Database> Database::Create() {
  sqlite3* db = nullptr;
  int status = sqlite3_open(":memory:", &db);
  Database database(db);
  if (status != SQLITE_OK) return MakeError("SQLite cannot open a database in memory");
  return database;
}

Error Database::Execute(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return SqlError(db_.get(), sql);
  return Error::success();
}

Expected<Database::Insert> Database::Prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql, -1, &statement, nullptr) != SQLITE_OK)
    return SqlError(db_.get(), sql);
  Insert insert(db_.get());
  insert.statement_ = {statement, sqlite3_finalize};
  return insert;
}

Error Database::Insert::Row(llvm::ArrayRef<RowCell> cells) {
  sqlite3_reset(statement_.get());
  for (size_t i = 0; i < cells.size(); ++i)
    if (Bind(statement_.get(), static_cast<int>(i + 1), cells[i]) != SQLITE_OK)
      return SqlError(db_, {});
  if (sqlite3_step(statement_.get()) != SQLITE_DONE) return SqlError(db_, {});
  return Error::success();
}

std::optional<llvm::StringSet<>> Database::TablesReadBy(llvm::StringRef sql) {
  llvm::StringSet<> tables;
  sqlite3_set_authorizer(db_.get(), NoteTable, &tables);
  sqlite3_stmt* prepared = nullptr;
  int status =
      sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &prepared, nullptr);
  sqlite3_finalize(prepared);
  sqlite3_set_authorizer(db_.get(), writes_forbidden_ ? AllowReads : nullptr, nullptr);
  if (status != SQLITE_OK) return std::nullopt;
  return tables;
}

void Database::ForbidWrites() {
  sqlite3_set_authorizer(db_.get(), AllowReads, nullptr);
  writes_forbidden_ = true;
}

Expected<QueryResult> Database::Query(llvm::StringRef sql) {
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  std::string text = sql.str();
  if (sqlite3_prepare_v2(db_.get(), text.c_str(), -1, &prepared, &rest) != SQLITE_OK)
    return SqlError(db_.get(), text);
  Statement statement(prepared, sqlite3_finalize);
  if (!statement) return MakeError("SQL: there is no statement in '{0}'", sql);
  // The authorizer refuses VACUUM INTO, which writes a file, only when the statement runs.
  if (writes_forbidden_ && !sqlite3_stmt_readonly(statement.get()))
    return MakeError("SQL: {0}", kOnlyReading);
  llvm::StringRef second = llvm::StringRef(rest).trim(" \t\r\n;");
  if (!second.empty())
    return MakeError(
        "SQL: one statement was expected, but another begins at character {0}: \"{1}\"",
        CharacterAt(text, second.data() - text.c_str()), second.take_front(30));
  QueryResult result;
  int columns = sqlite3_column_count(statement.get());
  for (int i = 0; i < columns; ++i)
    result.columns.push_back(sqlite3_column_name(statement.get(), i));
  int status;
  while ((status = sqlite3_step(statement.get())) == SQLITE_ROW) {
    std::vector<QueryCell>& row = result.rows.emplace_back();
    for (int i = 0; i < columns; ++i) row.push_back(CellAt(statement.get(), i));
  }
  if (status != SQLITE_DONE) return SqlError(db_.get(), text);
  return result;
}

Error Database::SaveTo(llvm::StringRef path) {
  if (FileExists(path) || IsDirectory(path))
    return MakeError("{0}: exists already; a new file was expected", path);
  sqlite3_int64 size = 0;
  std::unique_ptr<unsigned char, void (*)(void*)> bytes(
      sqlite3_serialize(db_.get(), "main", &size, 0), sqlite3_free);
  if (!bytes) return MakeError("{0}: cannot write: out of memory", path);
  return WriteFile(path, {reinterpret_cast<const char*>(bytes.get()), static_cast<size_t>(size)});
}

}  // namespace grapnel
