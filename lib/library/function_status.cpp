// Who runs what: entry points, what they reach, what is superseded, and what nothing calls.
#include "lib/library/library_steps.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class StatusFinder {
 public:
  StatusFinder(bool has_main, const std::set<std::string>& from_outside, FunctionLibrary* library)
      : has_main_(has_main), from_outside_(from_outside), library_(*library) {}

  void Run() {
    std::vector<int> roots;
    for (size_t i = 0; i < functions().size(); ++i) {
      LibraryFunction& each = functions()[i];
      int self = static_cast<int>(i);
      bool called = llvm::any_of(each.callers, [&](int caller) { return caller != self; });
      bool by_main = llvm::is_contained(each.callers, -1);
      if (from_outside_.count(each.function->name().str())) {
        each.status = FunctionStatus::kEntry;
      } else if (by_main) {
        each.status = FunctionStatus::kCalled;
      } else if (!called && !has_main_) {
        each.status = StatusOfRoot(each);
      }
      if (each.status != FunctionStatus::kUnused) roots.push_back(self);
    }
    while (!roots.empty()) {
      int caller = roots.back();
      roots.pop_back();
      for (int callee : functions()[caller].calls) {
        if (functions()[callee].status != FunctionStatus::kUnused) continue;
        functions()[callee].status = FunctionStatus::kCalled;
        roots.push_back(callee);
      }
    }
    FindSuperseded();
  }

 private:
  std::vector<LibraryFunction>& functions() { return library_.functions; }

  // Of what nothing in a file without a main graph calls.
  FunctionStatus StatusOfRoot(const LibraryFunction& each) const {
    switch (each.role) {
      case FunctionRole::kTrace:
        return each.forward >= 0 ? FunctionStatus::kUnused : FunctionStatus::kEntry;
      case FunctionRole::kForward:  // Python ran it under a tape
        return each.name.is_loaded || each.partner < 0 || !IsFree(each.partner)
                   ? FunctionStatus::kUnused
                   : FunctionStatus::kEntry;
      case FunctionRole::kBackward:
        return each.partner < 0 || !IsFree(each.partner) ||
                       library_.functions[each.partner].name.is_loaded ||
                       library_.functions[each.partner].partner !=
                           static_cast<int>(&each - library_.functions.data())
                   ? FunctionStatus::kUnused
                   : FunctionStatus::kEntry;
      case FunctionRole::kDataset:
        return FunctionStatus::kDataset;
      case FunctionRole::kEagerOp:
        return FunctionStatus::kEager;
      case FunctionRole::kPlain:
      case FunctionRole::kSignature:
      case FunctionRole::kRestored:
      case FunctionRole::kSaver:
        return FunctionStatus::kEntry;
      default:
        return FunctionStatus::kUnused;
    }
  }

  bool IsFree(int number) const { return library_.functions[number].callers.empty(); }

  // What has a forward function, and what only such functions call.
  void FindSuperseded() {
    std::vector<int> found;
    auto supersede = [&](size_t i) {
      functions()[i].status = FunctionStatus::kSuperseded;
      found.push_back(static_cast<int>(i));
    };
    for (size_t i = 0; i < functions().size(); ++i) {
      if (functions()[i].status == FunctionStatus::kUnused && functions()[i].forward >= 0)
        supersede(i);
    }
    while (!found.empty()) {
      int caller = found.back();
      found.pop_back();
      for (int callee : functions()[caller].calls) {
        if (functions()[callee].status != FunctionStatus::kUnused) continue;
        bool all = llvm::all_of(functions()[callee].callers, [&](int each) {
          return each >= 0 && functions()[each].status == FunctionStatus::kSuperseded;
        });
        if (all) supersede(callee);
      }
    }
  }

  bool has_main_;
  const std::set<std::string>& from_outside_;
  FunctionLibrary& library_;
};

}  // namespace

void FindStatus(bool has_main, const std::set<std::string>& from_outside,
                FunctionLibrary* library) {
  StatusFinder(has_main, from_outside, library).Run();
}

}  // namespace grapnel
