// Short lists of names for error messages.
#ifndef GRAPNEL_LIB_SUPPORT_NAME_LIST_H_
#define GRAPNEL_LIB_SUPPORT_NAME_LIST_H_

#include <algorithm>
#include <string>

#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

constexpr size_t kMostCandidates = 10;  // the most names that an error lists

// Returns at most `most` of the names, as in "'a', 'b' and 30 more": a message with hundreds of
// names would be too long to read.
inline std::string NameList(llvm::ArrayRef<std::string> names, size_t most = kMostCandidates) {
  std::string text;
  for (const std::string& name : names.take_front(std::min(most, names.size())))
    text += (text.empty() ? "'" : ", '") + Printable(name) + "'";
  if (names.size() > most) text += " and " + WithCommas(names.size() - most) + " more";
  return text;
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_NAME_LIST_H_
