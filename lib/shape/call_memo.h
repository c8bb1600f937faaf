// Caches the inferred results of function calls, for later calls with the same arguments.
// Private to lib/shape.
#ifndef GRAPNEL_LIB_SHAPE_CALL_MEMO_H_
#define GRAPNEL_LIB_SHAPE_CALL_MEMO_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/shape/functions.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// Returns the shapes of a function's arguments as given in the file; unknown if the file does not
// have them.
std::vector<Shape> ArgShapesInFile(const Function& function);
// Like ArgShapesInFile, but also returns the shapes of the tensors in resources and variants, from
// the signature.
std::vector<PortFacts> ArgNotesInFile(const Function& function);

// True if the function has a list argument, which stands for several inputs, so that arguments and
// inputs do not correspond by index.
bool HasListArgs(const Function& function);

// The inferred results by function and arguments. Distinguishes a limited number of argument sets
// per function; beyond that, uses results inferred without any facts about the arguments.
class CallMemo {
 public:
  // Returns the results of `function` for `args`: cached ones, or those that `infer` returns;
  // `infer` gets the facts about the arguments and may call Results for other functions. Empty if
  // the number of arguments is wrong, the function has a list argument or is being inferred
  // already, or calls are nested too deep.
  std::vector<PortFacts> Results(
      const Function& function, llvm::ArrayRef<const PortFacts*> args,
      llvm::function_ref<std::vector<PortFacts>(std::vector<PortFacts>)> infer);
  // Adds results that the caller inferred elsewhere, for a body that calls no function.
  void Add(const Function& function, llvm::ArrayRef<const PortFacts*> args,
           std::vector<PortFacts> results);
  bool empty() const { return results_.empty(); }
  // Marks the function as being inferred, until Leave is called.
  void Enter(const Function& function) { active_.insert(&function); }
  void Leave(const Function& function) { active_.erase(&function); }
  // Records that the body that is being inferred calls a missing function, which may exist the next
  // time.
  void MissFunction() {
    if (inferring_) inferring_->is_kept = false;
  }
  // Removes the results that depend on temporary state (Entry::is_kept), and lets each function
  // have new argument sets. Call it if bodies may have changed, for instance if a missing function
  // may now exist. Results of changed bodies are inferred again without it.
  void Forget();

 private:
  // The versions of the functions' graphs, by function name.
  using Versions = std::map<StringId, uint64_t>;
  struct Entry {
    std::vector<PortFacts> results;
    Versions versions;    // of the function and the functions that its inference used
    bool is_kept = true;  // false: depends on temporary state, so Forget removes it
  };
  static bool IsCurrent(const Entry& entry, const Module& module);

  std::map<std::string, Entry> results_;
  std::vector<std::string> passing_;  // keys of entries that Forget removes
  llvm::StringMap<int> variants_;     // argument sets inferred, by function
  std::set<const Function*> active_;
  Entry* inferring_ = nullptr;  // of the innermost function that is being inferred
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_CALL_MEMO_H_
