#include "lib/job/values_text.h"

#include <algorithm>
#include <vector>

#include "lib/ir/node_selection.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostVariables = 500, kMostConstants = 50;  // unless all are asked for
constexpr size_t kMostNames = 3;                             // in NotFiniteText
constexpr int kDigits = 6;

using Rows = std::vector<const ValueRow*>;

template <typename Condition>
Rows RowsWhere(llvm::ArrayRef<ValueRow> rows, bool are_variables, Condition condition) {
  Rows found;
  for (const ValueRow& row : rows)
    if (row.is_variable == are_variables && condition(row)) found.push_back(&row);
  return found;
}

int64_t InfiniteOf(const ValueRow& row) {
  return row.numbers ? row.numbers->positive_infinite + row.numbers->negative_infinite : 0;
}
int64_t NansOf(const ValueRow& row) { return row.numbers ? row.numbers->nan : 0; }

// Returns "2 variables have NaN: a, b".
std::string HaveText(const Rows& rows, llvm::StringRef noun, llvm::StringRef what,
                     const ShortNames& names) {
  std::string text =
      Plural(rows.size(), noun) + (rows.size() == 1 ? " has " : " have ") + what.str() + ":";
  for (size_t i = 0; i < std::min(rows.size(), kMostNames); ++i)
    text += (i == 0 ? " " : ", ") + Printable(names.Of(rows[i]->name));
  if (rows.size() > kMostNames) text += " and " + WithCommas(rows.size() - kMostNames) + " more";
  return text;
}

std::vector<std::string> CellsOf(const ValueRow& row, bool infinite, const ShortNames& names) {
  std::vector<std::string> cells = {names.Of(row.name), row.Type()};
  bool has_finite = row.numbers && row.numbers->finite() > 0;
  for (double number : {has_finite ? row.numbers->min : 0, has_finite ? row.numbers->max : 0,
                        has_finite ? row.numbers->mean() : 0})
    cells.push_back(has_finite ? NumberText(number, kDigits) : "");
  cells.push_back(row.numbers ? WithCommas(row.numbers->nan) : "");
  if (infinite) cells.push_back(row.numbers ? WithCommas(InfiniteOf(row)) : "");
  cells.push_back(row.hash);
  return cells;
}

void WriteTable(llvm::StringRef title, const Rows& rows, size_t most, const ShortNames& names,
                llvm::raw_ostream& os) {
  if (rows.empty()) return;
  bool infinite = llvm::any_of(rows, [](const ValueRow* row) { return InfiniteOf(*row) > 0; });
  std::vector<std::vector<std::string>> cells = {{"name", "type", "min", "max", "mean", "NaN"}};
  if (infinite) cells.back().emplace_back("infinite");
  cells.back().emplace_back("hash");
  for (const ValueRow* row : llvm::ArrayRef(rows).take_front(most))
    cells.push_back(CellsOf(*row, infinite, names));
  os << "\n" << title << "\n" << Table(cells, "  ");
  if (rows.size() > most) os << "  ... and " << WithCommas(rows.size() - most) << " more (--all)\n";
}

void WriteRow(const ValueRow& row, llvm::json::OStream& json) {
  json.attribute("kind", row.is_variable ? "variable" : "constant");
  json.attribute("name", llvm::json::fixUTF8(row.name));
  json.attribute("node", llvm::json::fixUTF8(NameWithFunction(row.node)));
  if (!row.layer.empty()) json.attribute("layer", llvm::json::fixUTF8(row.layer));
  json.attribute("dtype", DataTypeName(row.dtype));
  json.attribute("shape", row.shape.ToString());
  if (row.elements() >= 0) json.attribute("elements", row.elements());
  if (row.numbers && row.numbers->finite() > 0) {
    json.attribute("min", row.numbers->min);
    json.attribute("max", row.numbers->max);
    json.attribute("mean", row.numbers->mean());
    json.attribute("deviation", row.numbers->deviation());
  }
  if (row.numbers) {
    json.attribute("nan", row.numbers->nan);
    json.attribute("infinite", InfiniteOf(row));
    json.attribute("zeros", row.numbers->zero);
  }
  if (!row.hash.empty()) json.attribute("hash", row.hash);
  if (!row.problem.empty()) json.attribute("problem", llvm::json::fixUTF8(row.problem));
}

}  // namespace

std::string NotFiniteText(llvm::ArrayRef<ValueRow> rows, const ShortNames& names) {
  std::vector<std::string> parts;
  for (bool variables : {true, false}) {
    llvm::StringRef noun = variables ? "variable" : "constant";
    Rows nan = RowsWhere(rows, variables, [](const ValueRow& row) { return NansOf(row) > 0; });
    if (!nan.empty()) parts.push_back(HaveText(nan, noun, "NaN", names));
    Rows infinite =
        RowsWhere(rows, variables, [](const ValueRow& row) { return InfiniteOf(row) > 0; });
    if (!infinite.empty()) parts.push_back(HaveText(infinite, noun, "infinities", names));
  }
  return llvm::join(parts, "; ");
}

void WriteValuesText(llvm::ArrayRef<ValueRow> rows, bool all, const ShortNames& names,
                     llvm::raw_ostream& os) {
  auto any = [](const ValueRow&) { return true; };
  Rows variables = RowsWhere(rows, true, any), constants = RowsWhere(rows, false, any);
  llvm::stable_sort(constants, [](const ValueRow* a, const ValueRow* b) {
    return a->elements() > b->elements();
  });
  WriteTable("values of variables", variables, all ? variables.size() : kMostVariables, names, os);
  WriteTable("values of constants", constants, all ? constants.size() : kMostConstants, names, os);
}

void WriteValuesJson(llvm::ArrayRef<ValueRow> rows, llvm::json::OStream& json) {
  json.attributeArray("values", [&] {
    for (const ValueRow& row : rows) json.object([&] { WriteRow(row, json); });
  });
}

}  // namespace grapnel
