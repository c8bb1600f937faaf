#include "lib/render/replicas.h"

#include "lib/render/series.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kWords[] = {"replica", "tower",  "clone", "parallel",
                                          "gpu",     "device", "worker"};

}  // namespace

bool IsReplica(llvm::StringRef path) {
  llvm::StringRef name = path.substr(path.rfind('/') + 1), word = NameStem(name);
  if (word == name) return false;  // without a number
  while (NameStem(word) != word) word = NameStem(word);
  return llvm::any_of(kWords,
                      [&](llvm::StringRef known) { return word.equals_insensitive(known); });
}

}  // namespace grapnel
