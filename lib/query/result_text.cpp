#include "lib/query/result_text.h"

#include <charconv>

#include "lib/support/json.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// Returns the fewest digits that read back as the same number.
std::string ExactText(double number) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// `number_text` makes the text of a number that is not an integer.
std::string TextOfCell(const QueryCell& cell, std::string (*number_text)(double)) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&cell)) return number_text(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

// Returns the cell on one line, truncated to `widest` bytes.
std::string ForTable(const QueryCell& cell, const ShortNames& names, size_t widest) {
  std::string text =
      names.InText(TextOfCell(cell, [](double number) { return NumberText(number); }));
  for (char& c : text)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  if (text.size() <= widest) return text;
  size_t end = widest - 3;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80)
    --end;  // the start of a character
  return text.substr(0, end) + "...";
}

llvm::json::Value JsonOf(const QueryCell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return *number;
  if (const auto* number = std::get_if<double>(&cell)) return NumberOrText(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) return llvm::json::fixUTF8(*text);
  return nullptr;
}

}  // namespace

ShortNames NamesOf(const QueryResult& result, const Module& module) {
  std::vector<std::string> known = AllNodeNames(module), printed;
  llvm::StringSet<> names;
  for (const std::string& name : known) names.insert(name);
  for (const auto& row : result.rows) {
    for (const QueryCell& cell : row) {
      const auto* text = std::get_if<std::string>(&cell);
      if (text && names.contains(*text)) printed.push_back(*text);
    }
  }
  return ShortNames(std::move(known), printed);
}

void WriteTable(const QueryResult& result, size_t widest, const ShortNames& names,
                llvm::raw_ostream& os) {
  if (result.columns.empty()) return;
  if (std::string left_out = names.Note(); !left_out.empty()) os << left_out << "\n";
  std::vector<std::vector<std::string>> rows = {result.columns};
  for (const auto& row : result.rows) {
    rows.emplace_back();
    for (const QueryCell& cell : row) rows.back().push_back(ForTable(cell, names, widest));
  }
  os << Table(rows) << Plural(result.rows.size(), "row") << "\n";
}

void WriteCsv(const QueryResult& result, llvm::raw_ostream& os) {
  auto print = [&](const auto& cells, auto text_of) {
    for (size_t i = 0; i < cells.size(); ++i) os << (i ? "," : "") << CsvField(text_of(cells[i]));
    os << "\n";
  };
  print(result.columns, [](const std::string& name) { return name; });
  for (const auto& row : result.rows)
    print(row, [](const QueryCell& cell) { return TextOfCell(cell, ExactText); });
}

void WriteResultJson(const QueryResult& result, llvm::json::OStream& json) {
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
}

}  // namespace grapnel
