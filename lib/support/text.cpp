#include "lib/support/text.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {

std::string HumanBytes(uint64_t bytes) {
  if (bytes < 1000) return llvm::formatv("{0} B", bytes).str();
  const char* units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = bytes;
  int unit = -1;
  while (value >= 999.95 && unit < 5) {
    value /= 1000;
    ++unit;
  }
  return llvm::formatv("{0:F1} {1}", value, units[std::max(unit, 0)]).str();
}

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) text.insert(i, ",");
  return text;
}

std::string Plural(uint64_t count, llvm::StringRef noun) {
  const char* ending = count == 1                                       ? ""
                       : HasSuffix(noun, "ch") || HasSuffix(noun, "ss") ? "es"
                                                                        : "s";
  return (WithCommas(count) + " " + noun + ending).str();
}

std::string NumberText(double number, int digits) {
  if (std::isnan(number)) return "nan";
  return llvm::formatv("{0}", llvm::format("%.*g", digits, number)).str();
}

bool HasPrefix(llvm::StringRef text, llvm::StringRef prefix) {
  return text.take_front(prefix.size()) == prefix;
}
bool HasSuffix(llvm::StringRef text, llvm::StringRef suffix) {
  return text.take_back(suffix.size()) == suffix;
}

std::vector<std::string> SplitList(llvm::StringRef text, char separator) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  text.split(parts, separator);
  std::vector<std::string> list;
  for (llvm::StringRef part : parts) {
    part = part.trim();
    if (!part.empty()) list.push_back(part.str());
  }
  return list;
}

std::string CsvField(llvm::StringRef text) {
  if (text.find_first_of(",\"\r\n") == llvm::StringRef::npos) return text.str();
  std::string field = "\"";
  for (char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

std::string Table(llvm::ArrayRef<std::vector<std::string>> cells, llvm::StringRef indent) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : cells)
    llvm::transform(row, std::back_inserter(rows.emplace_back()), Printable);
  std::vector<size_t> widths;
  std::vector<bool> numeric;
  for (size_t r = 0; r < rows.size(); ++r) {
    widths.resize(std::max(widths.size(), rows[r].size()), 0);
    numeric.resize(widths.size(), true);
    for (size_t c = 0; c < rows[r].size(); ++c) {
      const std::string& cell = rows[r][c];
      widths[c] = std::max(widths[c], cell.size());
      if (r > 0 && !cell.empty() && !std::isdigit(static_cast<unsigned char>(cell[0])))
        numeric[c] = false;
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = indent.str();
    for (size_t c = 0; c < row.size(); ++c) {
      if (c) line += "  ";
      std::string space(widths[c] - row[c].size(), ' ');
      line += numeric[c] ? space + row[c] : row[c] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace grapnel
