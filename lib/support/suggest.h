// "did you mean": the names that a mistyped one may stand for, and the one form of the message.
#ifndef GRAPNEL_LIB_SUPPORT_SUGGEST_H_
#define GRAPNEL_LIB_SUPPORT_SUGGEST_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Calls its argument with every name that there is, each time it is called. The names need live no
// longer than that call.
using NameSink = llvm::function_ref<void(llvm::StringRef)>;
using NameSource = llvm::function_ref<void(NameSink)>;

// The names that `text` may stand for, three at most, the nearest first; the order in which they
// come from `names` does not matter. Compared are as many components ("scope/op" has two) as `text`
// has, from the end: a name is near when few letters differ, capitals apart (one in four; from two
// to four, one in names of three letters); nearer, when it has no scopes beside. Where nothing is
// near, names that hold `text` are; else those whose last component is near that of `text`. Walks
// all names once, a million of them in about 100 ms.
std::vector<std::string> NearNames(llvm::StringRef text, NameSource names);

// "; did you mean 'Relu', 'relu_1'?". Where nothing is near and there are eight names or fewer, all
// of them: "; there are 'train', 'serving_default'"; "; there are none"; else "".
std::string DidYouMean(llvm::StringRef text, NameSource names);
std::string DidYouMean(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> names);
std::string DidYouMean(llvm::StringRef text, llvm::ArrayRef<std::string> names);

// "node 'relu' not found; did you mean 'Relu', 'relu_1'?", for anything that has a name; `where`
// comes after "found": " in function 'f'".
template <typename Names>
Error NotFound(llvm::StringRef kind, llvm::StringRef name, const Names& names,
               llvm::StringRef where = {}) {
  return MakeError("{0} '{1}' not found{2}{3}", kind, name, where, DidYouMean(name, names));
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_SUGGEST_H_
