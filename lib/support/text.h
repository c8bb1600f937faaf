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

std::string NumberText(double number, int digits = 9);  // "0.25", "-inf"; any NaN is "nan"

bool HasPrefix(llvm::StringRef text, llvm::StringRef prefix);
bool HasSuffix(llvm::StringRef text, llvm::StringRef suffix);

// Splits "a,b,,c" into a, b and c: drops empty names, and trims spaces around names.
std::vector<std::string> SplitList(llvm::StringRef text, char separator = ',');

// Returns a table: the cells of each column are aligned by spaces, with two spaces between columns.
// Numbers (cells that start with a digit) are aligned on the right. The first row is the header.
std::string Table(llvm::ArrayRef<std::vector<std::string>> rows, llvm::StringRef indent = "");

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_TEXT_H_
