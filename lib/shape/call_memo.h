// Caches what is inferred of a function's body for a call, for later calls with the same arguments.
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

// Shapes of a function's arguments as given in the file; unknown if missing.
std::vector<Shape> ArgShapesInFile(const Function& function);
// The same, plus the types of tensors in resources and variants as given in the signature.
std::vector<PortFacts> ArgNotesInFile(const Function& function);

// True if the function has a list argument: it has several ports, so arguments and shapes do not
// pair up by number.
bool HasListArgs(const Function& function);

// Results by function and arguments. Distinguishes a limited number of argument sets per function;
// for more, it assumes nothing about the arguments.
class CallMemo {
 public:
  // Returns the results of `function` for `args`: cached ones, or those of `infer`, which receives
  // the facts of the arguments and may request other functions' results. Empty if the arguments do
  // not pair up, the function is being inferred already, or calls are nested too deep.
  std::vector<PortFacts> Results(
      const Function& function, llvm::ArrayRef<const PortFacts*> args,
      llvm::function_ref<std::vector<PortFacts>(std::vector<PortFacts>)> infer);
  // Adds results that were inferred elsewhere, for a body that calls no function.
  void Add(const Function& function, llvm::ArrayRef<const PortFacts*> args,
           std::vector<PortFacts> results);
  bool empty() const { return results_.empty(); }
  // Marks the function as being inferred, until Leave.
  void Enter(const Function& function) { active_.insert(&function); }
  void Leave(const Function& function) { active_.erase(&function); }
  // Records that the body being inferred calls a missing function, which may exist next time.
  void MissFunction() {
    if (inferring_) inferring_->is_kept = false;
  }
  // Call this if bodies may have changed: results of those that did are inferred anew.
  void Forget();

 private:
  // The versions of functions' graphs, by name.
  using Versions = std::map<StringId, uint64_t>;
  struct Entry {
    std::vector<PortFacts> results;
    Versions versions;    // of the function and of all others that its inference used
    bool is_kept = true;  // by Forget: does not depend on temporary state
  };
  static bool IsCurrent(const Entry& entry, const Module& module);

  std::map<std::string, Entry> results_;
  std::vector<std::string> passing_;  // keys of entries that Forget removes
  llvm::StringMap<int> variants_;     // the number of argument sets inferred for each function
  std::set<const Function*> active_;
  Entry* inferring_ = nullptr;  // the innermost one
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_CALL_MEMO_H_
