// What files of dumps are called.
#ifndef GRAPNEL_LIB_DIFF_DUMP_NAMES_H_
#define GRAPNEL_LIB_DIFF_DUMP_NAMES_H_

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

inline llvm::StringRef WithoutGraphSuffix(llvm::StringRef file) {
  if (!file.consume_back(".pbtxt")) file.consume_back(".pb");
  return file;
}

inline bool IsDigits(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, llvm::isDigit);
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DUMP_NAMES_H_
