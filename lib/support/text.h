// Formats text for users, and splits lists that they type.
#ifndef GRAPNEL_LIB_SUPPORT_TEXT_H_
#define GRAPNEL_LIB_SUPPORT_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

std::string HumanBytes(uint64_t bytes);                    // "102.8 MB" (powers of 1000)
std::string WithCommas(uint64_t number);                   // "1,053"
std::string Plural(uint64_t count, llvm::StringRef noun);  // "1 node", "2 fetches"

// Returns the number with at most `digits` significant digits: "0.25", "-inf"; any NaN is "nan".
std::string NumberText(double number, int digits = 9);

bool HasPrefix(llvm::StringRef text, llvm::StringRef prefix);
bool HasSuffix(llvm::StringRef text, llvm::StringRef suffix);

// Splits "a,b,,c" into a, b and c: drops empty names, and trims spaces around names.
std::vector<std::string> SplitList(llvm::StringRef text, char separator = ',');

// Returns a field of a CSV line, in quotes if the text has a comma, a quote or a line end (RFC
// 4180).
std::string CsvField(llvm::StringRef text);

// Returns a table with two spaces between columns; the first row is the header. The cells of a
// column are aligned on the left, or on the right if all nonempty cells below the header start with
// a digit.
std::string Table(llvm::ArrayRef<std::vector<std::string>> rows, llvm::StringRef indent = "");

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_TEXT_H_
