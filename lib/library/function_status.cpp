// Finds the callers of functions: which functions are entry points, are reached from entry points,
// are superseded, or are unused.
#include "lib/library/library_steps.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// True for functions that tf.saved_model traces to create, initialize or destroy a table or another
// resource; only a loader calls such functions.
bool IsOfResource(llvm::StringRef base) {
  return base == "_creator" || base == "_initializer" || base == "_destroyer";
}

// True for functions of tf.data's iterator over several devices. Only other functions of the
// iterator's dataset, such as _remote_init_func, call them.
bool IsCalledRemotely(llvm::StringRef base) {
  return base == "_init_func" || base == "_next_func" || base == "_finalize_func";
}

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

  // Returns the status of a function that no other function calls, in a file without a main graph.
  FunctionStatus StatusOfRoot(const LibraryFunction& each) const {
    switch (each.role) {
      case FunctionRole::kTrace:
        if (IsOfResource(each.name.base)) return FunctionStatus::kUnused;
        return (each.forward >= 0 && !WasTracedBefore(each)) || each.successor >= 0
                   ? FunctionStatus::kUnused
                   : FunctionStatus::kEntry;
      case FunctionRole::kForward:  // Python called it under a GradientTape
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
        return IsCalledRemotely(each.name.base) ? FunctionStatus::kUnused
                                                : FunctionStatus::kDataset;
      case FunctionRole::kEagerOp:
        return FunctionStatus::kEager;
      case FunctionRole::kPlain:
      case FunctionRole::kSignature:
      case FunctionRole::kRestored:
        return FunctionStatus::kEntry;
      default:
        return FunctionStatus::kUnused;
    }
  }

  // True if Python must have called the trace, because the trace is older than the first function
  // that calls its forward function. The captured tensors of that caller tell. If tracing the
  // caller started this trace, the caller at once captured what this trace captured, so the number
  // of the capture directly follows that of the trace, its forward function or its gradient.
  bool WasTracedBefore(const LibraryFunction& trace) const {
    bool captures = llvm::any_of(trace.arguments, [](const auto& each) { return each.captured; });
    const LibraryFunction* first = captures ? FirstCallerOf(trace.forward, trace) : nullptr;
    if (!first) return false;
    int64_t number = *trace.name.number;
    bool any = false;
    for (const FunctionArgument& argument : first->arguments) {
      if (!argument.captured_at) continue;
      if (*argument.captured_at <= number || IsNext(*argument.captured_at, trace)) return false;
      any = true;
    }
    return any;
  }

  // Returns the first traced function that calls the trace's forward function; null if there is
  // none, or if a caller is not a trace, or is older than `trace`.
  const LibraryFunction* FirstCallerOf(int forward, const LibraryFunction& trace) const {
    const LibraryFunction* first = nullptr;
    for (int caller : library_.functions[forward].callers) {
      if (caller < 0) return nullptr;
      const LibraryFunction& each = library_.functions[caller];
      if (each.role != FunctionRole::kTrace || !each.name.number || !trace.name.number ||
          *each.name.number <= *trace.name.number)
        return nullptr;
      if (!first || *each.name.number < *first->name.number) first = &each;
    }
    return first;
  }

  bool IsNext(int64_t captured_at, const LibraryFunction& trace) const {
    return llvm::any_of(
        std::initializer_list<const LibraryFunction*>{
            &trace, &library_.functions[trace.forward],
            trace.backward < 0 ? &trace : &library_.functions[trace.backward]},
        [&](const LibraryFunction* each) {
          return each->name.number && captured_at == *each->name.number + 1;
        });
  }

  bool IsFree(int number) const { return library_.functions[number].callers.empty(); }

  // Finds superseded traces, for which a forward function or a later trace runs instead, and
  // functions that only superseded functions call.
  void FindSuperseded() {
    std::vector<int> found;
    auto supersede = [&](size_t i) {
      functions()[i].status = FunctionStatus::kSuperseded;
      found.push_back(static_cast<int>(i));
    };
    for (size_t i = 0; i < functions().size(); ++i) {
      if (functions()[i].status == FunctionStatus::kUnused &&
          (functions()[i].forward >= 0 || functions()[i].successor >= 0))
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
