// What is inferred of a function's body for a call, and for the next call with the same arguments.
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

// Shapes that the file gives a function's arguments; unknown where it says nothing.
std::vector<Shape> ArgShapesInFile(const Function& function);
// The same, and what the signature says of the tensors that resources and variants hold.
std::vector<PortFacts> ArgNotesInFile(const Function& function);

// A list argument has several ports; then arguments and shapes do not pair up by number.
bool HasListArgs(const Function& function);

// Results by function and arguments. Of one function only so many sets of arguments are told apart:
// for more, nothing is assumed of them.
class CallMemo {
 public:
  // The results of `function` for `args`: those kept, else of `infer`, which is given the facts of
  // the arguments and may ask for other functions' results. Empty: the arguments do not pair up,
  // the function is being inferred already, or calls are nested too deep.
  std::vector<PortFacts> Results(
      const Function& function, llvm::ArrayRef<const PortFacts*> args,
      llvm::function_ref<std::vector<PortFacts>(std::vector<PortFacts>)> infer);
  // What Results would infer, found otherwise: of a body that calls no function.
  void Add(const Function& function, llvm::ArrayRef<const PortFacts*> args,
           std::vector<PortFacts> results);
  bool empty() const { return results_.empty(); }
  // The body is being inferred, from now on until Leave.
  void Enter(const Function& function) { active_.insert(&function); }
  void Leave(const Function& function) { active_.erase(&function); }
  // What is being inferred calls a function that is not there, and may be there next time.
  void MissFunction() {
    if (inferring_) inferring_->is_kept = false;
  }
  // A body may have changed: results of those that did are inferred anew.
  void Forget();

 private:
  // A function as it was: its graph's version.
  using Versions = std::map<StringId, uint64_t>;
  struct Entry {
    std::vector<PortFacts> results;
    Versions versions;    // of the function and of all that its inference went through
    bool is_kept = true;  // by Forget: nothing in it is of the moment
  };
  static bool IsCurrent(const Entry& entry, const Module& module);

  std::map<std::string, Entry> results_;
  std::vector<std::string> passing_;  // keys of entries that Forget lets go
  llvm::StringMap<int> variants_;     // how many sets of arguments each function was inferred for
  std::set<const Function*> active_;
  Entry* inferring_ = nullptr;  // the innermost one
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_CALL_MEMO_H_
