// Parses the file names of dumps.
#ifndef GRAPNEL_LIB_DIFF_DUMP_NAMES_H_
#define GRAPNEL_LIB_DIFF_DUMP_NAMES_H_

#include <optional>
#include <string>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

inline llvm::StringRef WithoutGraphSuffix(llvm::StringRef file) {
  if (!file.consume_back(".pbtxt")) file.consume_back(".pb");
  return file;
}

// A file name of the form NAME.NNNN.GROUP.TAG.
struct NumberedName {
  std::string graph, tag;
  std::string parent;  // the graph of which this is a partition, if any
  int number = 0;
};
// Parses a file name; nullopt if it does not have this form.
std::optional<NumberedName> ParseNumberedName(llvm::StringRef file);

inline bool IsDigits(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, llvm::isDigit);
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DUMP_NAMES_H_
