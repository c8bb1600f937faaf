// "did you mean": finds candidates for a mistyped name, and writes the "not found" message.
#ifndef GRAPNEL_LIB_SUPPORT_SUGGEST_H_
#define GRAPNEL_LIB_SUPPORT_SUGGEST_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// A NameSource passes every existing name to the NameSink that it is called with. A NameSource may
// be called several times. Names need not live longer than the call of the NameSink.
using NameSink = llvm::function_ref<void(llvm::StringRef)>;
using NameSource = llvm::function_ref<void(NameSink)>;

// Returns at most three names that the user may have meant by `text`, nearest first; the order of
// `names` does not matter. Compares the last components of a name ("scope/op" has two), as many as
// `text` has. A name is near if few letters differ, ignoring case: a quarter of the letters of
// `text`, at least two and at most four; one if `text` has up to three letters. A name is also near
// if it is `text` without some outer scopes. Drops names that are much farther away than the
// nearest. Of equally near names, those without outer scopes come first. If no name is near,
// returns names that contain `text` (of at least two letters), or else those whose last component
// is near that of `text`. Goes through all names once, a million in about 100 ms.
std::vector<std::string> NearNames(llvm::StringRef text, NameSource names);

// Returns "; did you mean 'Relu', 'relu_1'?", to append to an error message. If NearNames finds
// none and there are at most eight names, lists all, as in "; there are 'train', 'serving_default'"
// or "; there are none". With more names, returns "".
std::string DidYouMean(llvm::StringRef text, NameSource names);
std::string DidYouMean(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> names);
std::string DidYouMean(llvm::StringRef text, llvm::ArrayRef<std::string> names);

// Returns the error "node 'relu' not found; did you mean 'Relu', 'relu_1'?". `kind` says what was
// not found ("node"); `where` says where and follows "found", such as " in function 'f'".
template <typename Names>
Error NotFound(llvm::StringRef kind, llvm::StringRef name, const Names& names,
               llvm::StringRef where = {}) {
  return MakeError("{0} '{1}' not found{2}{3}", kind, name, where, DidYouMean(name, names));
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_SUGGEST_H_
