// "did you mean": finds candidates for a mistyped name, and writes the "not found" message.
#ifndef GRAPNEL_LIB_SUPPORT_SUGGEST_H_
#define GRAPNEL_LIB_SUPPORT_SUGGEST_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// A NameSource calls its argument with every existing name, each time the source is called. The
// names need not outlive the call of the NameSink.
using NameSink = llvm::function_ref<void(llvm::StringRef)>;
using NameSource = llvm::function_ref<void(NameSink)>;

// Returns the names that `text` may stand for, three at most, nearest first; their order in `names`
// does not matter. Compares as many components ("scope/op" has two) as `text` has, from the end. A
// name is near when few letters differ, ignoring case (a quarter of the letters, two to four; one
// in names of up to three letters). Among equally near names, those without further scopes come
// first. If no name is near, returns names that contain `text`, or else those whose last component
// is near that of `text`. Walks all names once, a million of them in about 100 ms.
std::vector<std::string> NearNames(llvm::StringRef text, NameSource names);

// Returns "; did you mean 'Relu', 'relu_1'?". If no name is near and there are eight names or
// fewer, lists all names: "; there are 'train', 'serving_default'", or `; there are none` if there
// are no names. Otherwise returns "".
std::string DidYouMean(llvm::StringRef text, NameSource names);
std::string DidYouMean(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> names);
std::string DidYouMean(llvm::StringRef text, llvm::ArrayRef<std::string> names);

// Returns the error "node 'relu' not found; did you mean 'Relu', 'relu_1'?". `kind` is what the
// name is a name of ("node"); `where` follows "found": " in function 'f'".
template <typename Names>
Error NotFound(llvm::StringRef kind, llvm::StringRef name, const Names& names,
               llvm::StringRef where = {}) {
  return MakeError("{0} '{1}' not found{2}{3}", kind, name, where, DidYouMean(name, names));
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_SUGGEST_H_
