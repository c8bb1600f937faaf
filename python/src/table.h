// Stores the rows of a query result as columns, for consumers of Arrow's C stream interface:
// pandas, polars, DuckDB, pyarrow.
#ifndef GRAPNEL_PYTHON_SRC_TABLE_H_
#define GRAPNEL_PYTHON_SRC_TABLE_H_

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/query/database.h"

namespace grapnel::python {

// A column. Its texts are UTF-8: invalid bytes in names are replaced.
class Column {
 public:
  enum class Type { kInteger, kNumber, kText };
  Column(std::string name, Type type) : name_(std::move(name)), type_(type) {}

  void Reserve(size_t rows);
  // Adds a cell that is NULL or of the column's type; kNumber takes integers, kText numbers too.
  void Add(const RowCell& cell);

  const std::string& name() const { return name_; }
  Type type() const { return type_; }
  size_t size() const { return size_; }
  size_t nulls() const { return nulls_; }
  bool IsNull(size_t row) const { return !(valid_[row / 8] >> (row % 8) & 1); }
  // Arrow's buffers: a validity bit per row; integers or numbers; for texts, offsets and bytes.
  const std::vector<uint8_t>& valid() const { return valid_; }
  const std::vector<int64_t>& integers() const { return integers_; }
  const std::vector<double>& numbers() const { return numbers_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string name_;
  Type type_;
  size_t size_ = 0, nulls_ = 0, expected_rows_ = 0;
  std::vector<uint8_t> valid_;
  std::vector<int64_t> integers_;  // for texts the offsets
  std::vector<double> numbers_;
  std::string bytes_;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Makes a table. A column is of integers if all its cells are integers, of numbers if all are
  // integers or numbers, else of text; NULLs fit each type.
  static Table Of(const QueryResult& result);
  // Reserves memory for that many rows.
  void Reserve(size_t rows);
  void AddRow(llvm::ArrayRef<RowCell> cells);
  void AddRow(const std::vector<QueryCell>& cells);

  const std::vector<Column>& columns() const { return columns_; }
  size_t num_rows() const { return columns_.empty() ? 0 : columns_[0].size(); }

 private:
  std::vector<Column> columns_;
};

// Returns a PyCapsule with an ArrowArrayStream of one batch. The stream keeps the table alive.
nanobind::object StreamOf(std::shared_ptr<const Table> table);

// Adds the class Table.
void AddTable(nanobind::module_& module);

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_TABLE_H_
