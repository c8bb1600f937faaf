// Queries about a function library: reachability, and the attributes of functions.
#ifndef GRAPNEL_LIB_PASS_LIBRARY_H_
#define GRAPNEL_LIB_PASS_LIBRARY_H_

#include <string>

#include "lib/ir/module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

using FunctionSet = llvm::DenseSet<const Function*>;

// Returns the functions that the main graph calls or names in attributes, and those that these
// functions call, name or have as gradients; with `choices` also the functions that could replace
// one of them, because both implement the same interface (api_implements). Linear in the reached
// nodes.
FunctionSet ReachableFunctions(const Module& module, bool choices = true);

// Adds `start`, unless `reached` has it already, and the functions that its nodes call or name in
// attributes, or that are its gradient, directly or through other functions.
void AddReachable(const Function& start, FunctionSet* reached);

// Returns the functions that the attribute `key` of any node with this op names. Linear.
FunctionSet FunctionsNamedBy(const Module& module, llvm::StringRef op, llvm::StringRef key);

// For each function of a library, the functions that it mentions when the CallGraph is constructed:
// those that its nodes call or name in an attribute that their op declares, and its gradient.
class CallGraph {
 public:
  // Linear in the module.
  explicit CallGraph(const Module& module);
  // True if `function` was in the library and mentions no function.
  bool IsLeaf(const Function& function) const;
  // True if `from` mentions one of `functions`, directly or indirectly. Also true if `from` was not
  // in the library. Linear in the reached functions.
  bool Reaches(const Function& from, const FunctionSet& functions) const;

 private:
  llvm::DenseMap<const Function*, llvm::SmallVector<const Function*, 4>> mentioned_;
};

// Drops functions that the main graph does not reach (ReachableFunctions), and the entries that
// register gradients for dropped functions. Returns the names of the dropped functions, in library
// order.
std::vector<std::string> DropUnreachableFunctions(Module& module, bool choices = true);

// The name of the function that the library registers as the gradient of `function`, or empty.
std::string CustomGradientOf(const Module& module, llvm::StringRef function);

// True if dtypes or attributes in the function depend on the calling node.
bool IsParametrized(const Function& function);

// An attribute of the function itself (FunctionDef.attr).
std::optional<AttrView> FunctionAttr(const Function& function, llvm::StringRef key);
bool FunctionFlag(const Function& function, llvm::StringRef key);  // false if it is missing
void SetFunctionAttr(Function* function, llvm::StringRef key, llvm::StringRef value);
void RemoveFunctionAttr(Function* function, llvm::StringRef key);

// Attributes of a FunctionDef that describe its arguments by position, above all their shapes. Code
// that changes the arguments must drop them, since TensorFlow trusts them.
inline constexpr const char* kInputShapes = "_input_shapes";  // of the function, one per argument
void DropArgumentNotes(Function* function);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_LIBRARY_H_
