#include "python/src/table.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "lib/support/text.h"
#include "llvm/Support/JSON.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

// The number of rows after which the total length of a column's texts is estimated.
constexpr size_t kSample = 4096;

std::string TextOfCell(const RowCell& cell) {
  if (const auto* text = std::get_if<llvm::StringRef>(&cell)) return text->str();
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  return llvm::formatv("{0}", std::get<double>(cell)).str();
}

Column::Type TypeOf(const QueryResult& result, size_t column) {
  auto type = Column::Type::kInteger;
  for (const std::vector<QueryCell>& row : result.rows) {
    if (std::holds_alternative<std::string>(row[column])) return Column::Type::kText;
    if (std::holds_alternative<double>(row[column])) type = Column::Type::kNumber;
  }
  return type;
}

nb::object CellOf(const Column& column, size_t row) {
  if (column.IsNull(row)) return nb::none();
  switch (column.type()) {
    case Column::Type::kInteger:
      return nb::int_(column.integers()[row]);
    case Column::Type::kNumber:
      return nb::float_(column.numbers()[row]);
    case Column::Type::kText:
      break;
  }
  int64_t begin = column.integers()[row];
  return nb::str(column.bytes().data() + begin, column.integers()[row + 1] - begin);
}

nb::typed<nb::list, nb::any> CellsOf(const Table& table, const std::string& name) {
  for (const Column& column : table.columns()) {
    if (column.name() != name) continue;
    nb::list cells;
    for (size_t i = 0; i < column.size(); ++i) cells.append(CellOf(column, i));
    return cells;
  }
  throw nb::key_error(name.c_str());
}

nb::typed<nb::tuple, nb::any, nb::ellipsis> RowOf(const Table& table, size_t row) {
  if (row >= table.num_rows()) throw nb::index_error("there is no such row");
  nb::list cells;
  for (const Column& column : table.columns()) cells.append(CellOf(column, row));
  return nb::tuple(cells);
}

}  // namespace

void Column::Reserve(size_t rows) {
  expected_rows_ = rows;
  valid_.reserve(rows / 8 + 1);
  if (type_ == Type::kNumber)
    numbers_.reserve(rows);
  else
    integers_.reserve(rows + 1);
}

void Column::Add(const RowCell& cell) {
  if (type_ == Type::kText && integers_.empty()) integers_.push_back(0);
  if (size_ % 8 == 0) valid_.push_back(0);
  bool is_null = std::holds_alternative<std::monostate>(cell);
  if (is_null)
    ++nulls_;
  else
    valid_.back() |= uint8_t(1 << (size_ % 8));
  ++size_;
  if (type_ == Type::kInteger) {
    integers_.push_back(is_null ? 0 : std::get<int64_t>(cell));
  } else if (type_ == Type::kNumber) {
    const auto* integer = std::get_if<int64_t>(&cell);
    numbers_.push_back(is_null   ? 0
                       : integer ? static_cast<double>(*integer)
                                 : std::get<double>(cell));
  } else {
    const auto* text = std::get_if<llvm::StringRef>(&cell);
    if (text && llvm::json::isUTF8(*text))
      bytes_.append(text->data(), text->size());
    else if (!is_null)
      bytes_ += llvm::json::fixUTF8(TextOfCell(cell));
    integers_.push_back(static_cast<int64_t>(bytes_.size()));
    if (size_ == kSample && expected_rows_ > kSample)
      bytes_.reserve(bytes_.size() / kSample * expected_rows_ * 5 / 4);
  }
}

Table Table::Of(const QueryResult& result) {
  std::vector<Column> columns;
  for (size_t i = 0; i < result.columns.size(); ++i)
    columns.emplace_back(result.columns[i], TypeOf(result, i));
  Table table(std::move(columns));
  for (const std::vector<QueryCell>& row : result.rows) table.AddRow(row);
  return table;
}

void Table::Reserve(size_t rows) {
  for (Column& column : columns_) column.Reserve(rows);
}

void Table::AddRow(llvm::ArrayRef<RowCell> cells) {
  for (size_t i = 0; i < columns_.size(); ++i) columns_[i].Add(cells[i]);
}

void Table::AddRow(const std::vector<QueryCell>& cells) {
  for (size_t i = 0; i < columns_.size(); ++i) columns_[i].Add(RowCellOf(cells[i]));
}

void AddTable(nb::module_& module) {
  nb::class_<Table>(module, "Table")
      .def_prop_ro("num_rows", &Table::num_rows)
      .def_prop_ro("columns",
                   [](const Table& table) -> nb::typed<nb::tuple, nb::str, nb::ellipsis> {
                     nb::list names;
                     for (const Column& column : table.columns()) names.append(column.name());
                     return nb::tuple(names);
                   })
      .def("column", CellsOf, nb::arg("name"))
      .def("row", RowOf, nb::arg("row"))
      .def("stream", StreamOf);
}

}  // namespace grapnel::python
