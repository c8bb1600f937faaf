// What optimizers ask of a function library: who is reached, what a function's own attributes say.
#ifndef GRAPNEL_LIB_PASS_LIBRARY_H_
#define GRAPNEL_LIB_PASS_LIBRARY_H_

#include <string>

#include "lib/ir/module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

using FunctionSet = llvm::DenseSet<const Function*>;

// Functions that the main graph calls, and those that they call or have as gradients; with
// `choices` also those that could be called instead, being of one interface (api_implements).
// Linear in the nodes of what is reached.
FunctionSet ReachableFunctions(const Module& module, bool choices = true);

// Functions that `start` mentions, and those that they do; `start` too.
void AddReachable(const Function& start, FunctionSet* reached);

// Functions that the attribute `key` of nodes of this op names, anywhere. Linear.
FunctionSet FunctionsNamedBy(const Module& module, llvm::StringRef op, llvm::StringRef key);

// Which function of a library mentions which, as the library was when this was made.
class CallGraph {
 public:
  // Linear in the module.
  explicit CallGraph(const Module& module);
  // Whether `function` was there and its body mentions no function.
  bool IsLeaf(const Function& function) const;
  // Whether `from` mentions one of `functions`, or one that does. True for a function that was not
  // there. Linear in the functions that are reached.
  bool Reaches(const Function& from, const FunctionSet& functions) const;

 private:
  llvm::DenseMap<const Function*, llvm::SmallVector<const Function*, 4>> mentioned_;
};

// Drops functions that the main graph does not reach, and the gradients of what is dropped. The
// names of those that went, in the library's order.
std::vector<std::string> DropUnreachableFunctions(Module& module, bool choices = true);

// The name of the function that the library gives as the gradient of `function`; empty: none.
std::string CustomGradientOf(const Module& module, llvm::StringRef function);

// Its dtypes or attributes are known only from the node that calls it.
bool IsParametrized(const Function& function);

// An attribute of the function itself (FunctionDef.attr).
std::optional<AttrView> FunctionAttr(const Function& function, llvm::StringRef key);
bool FunctionFlag(const Function& function, llvm::StringRef key);  // false when it is not there
void SetFunctionAttr(Function* function, llvm::StringRef key, llvm::StringRef value);
void RemoveFunctionAttr(Function* function, llvm::StringRef key);

// What a FunctionDef says of its arguments by number: their shapes above all. Whoever changes the
// arguments drops it, since TensorFlow believes it.
inline constexpr const char* kInputShapes = "_input_shapes";  // of the function, one for each
void DropArgumentNotes(Function* function);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_LIBRARY_H_
