// Finds pairs of a forward function and its gradient, and the trace from which both are made.
#include "lib/library/library_steps.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using Kind = FunctionName::Kind;

std::string AttrText(const Function& function, llvm::StringRef key) {
  for (const auto& [name, value] : function.Attrs()) {
    if (name == key) return value.AsString().value_or(llvm::StringRef()).str();
  }
  return {};
}

class PairFinder {
 public:
  PairFinder(const GivenGradients& gradients, FunctionLibrary* library)
      : gradients_(gradients), library_(*library) {
    for (size_t i = 0; i < functions().size(); ++i) {
      number_.try_emplace(functions()[i].function->name(), static_cast<int>(i));
      by_base_[functions()[i].name.base].push_back(static_cast<int>(i));
    }
  }

  void Run() {
    for (size_t i = 0; i < functions().size(); ++i) {
      LibraryFunction& each = functions()[i];
      if (each.role == FunctionRole::kForward) PairForward(static_cast<int>(i));
    }
    for (size_t i = 0; i < functions().size(); ++i) {
      LibraryFunction& each = functions()[i];
      if (each.role != FunctionRole::kBackward || each.partner >= 0) continue;
      int forward = Find(AttrText(*each.function, "forward_function_name"));
      // A second-order gradient has a copy of the attribute forward_function_name of the function
      // that it differentiates, so the attribute names that function's forward function, not its
      // own.
      if (forward < 0 || functions()[forward].name.order < each.name.order) continue;
      each.partner = forward;
      each.trace = functions()[forward].trace;
    }
    for (size_t i = 0; i < functions().size(); ++i) {
      if (gradients_.gradient.count(functions()[i].function->name()) != 0)
        PairDefun(static_cast<int>(i));
      if (functions()[i].name.is_rewritten) PairPart(static_cast<int>(i));
    }
    for (size_t i = 0; i < functions().size(); ++i) {
      LibraryFunction& each = functions()[i];
      if (each.name.is_gradient && each.partner < 0) PairGradientPart(static_cast<int>(i));
      if (each.makes_variables && each.role == FunctionRole::kTrace)
        each.successor = NextTrace(each);
    }
  }

 private:
  std::vector<LibraryFunction>& functions() { return library_.functions; }
  int Find(llvm::StringRef name) const {
    auto it = number_.find(name);
    return it == number_.end() ? -1 : it->second;
  }

  void PairForward(int number) {
    LibraryFunction& forward = functions()[number];
    int backward = Find(AttrText(*forward.function, "backward_function_name"));
    if (backward >= 0) {
      forward.partner = backward;
      // A forward function that was loaded from a SavedModel is a copy with the attributes of the
      // original. It names the original's backward function, whose partner must be the original.
      if (functions()[backward].partner < 0 ||
          functions()[functions()[backward].partner].name.is_loaded)
        functions()[backward].partner = number;
    }
    forward.trace = TraceOf(forward, backward);
    if (backward >= 0 && functions()[backward].trace < 0)
      functions()[backward].trace = forward.trace;
    if (forward.trace < 0) return;
    LibraryFunction& trace = functions()[forward.trace];
    if (trace.forward >= 0 && !functions()[trace.forward].name.is_loaded) return;
    trace.forward = number;
    trace.backward = backward;
  }

  // Returns the trace that a forward function was made from: the last trace with the same arguments
  // before TensorFlow began to trace its gradient. For a second-order gradient, returns the
  // backward function that it was made from.
  int TraceOf(const LibraryFunction& forward, int backward) {
    const FunctionName& name = forward.name;
    std::optional<int64_t> begun = name.number;
    if (backward >= 0 && functions()[backward].name.begun) begun = functions()[backward].name.begun;
    int best = -1;
    for (int candidate : by_base_[name.base]) {
      const LibraryFunction& each = functions()[candidate];
      bool fits = name.order > 1
                      ? each.role == FunctionRole::kBackward && each.name.order == name.order - 1
                      : each.role == FunctionRole::kTrace;
      if (!fits || !each.name.number || !SameArguments(each, forward)) continue;
      if (best < 0 || IsNearer(*each.name.number, *functions()[best].name.number, begun))
        best = candidate;
    }
    return best;
  }

  // True if the trace with number `a` is a better choice than the one with number `b`: prefers the
  // largest number before `begun`; if all numbers are later, as in a SavedModel, where all
  // functions are renumbered, the smallest.
  static bool IsNearer(int64_t a, int64_t b, std::optional<int64_t> begun) {
    if (!begun) return a < b;
    bool a_before = a < *begun, b_before = b < *begun;
    if (a_before != b_before) return a_before;
    return a_before ? a > b : a < b;
  }

  static bool SameArguments(const LibraryFunction& a, const LibraryFunction& b) {
    return a.arguments.size() == b.arguments.size() &&
           llvm::all_of(llvm::zip(a.arguments, b.arguments), [](const auto& pair) {
             const auto& [x, y] = pair;
             return x.type == y.type && x.shape == y.shape;
           });
  }

  // Returns the trace that replaces `first`: tf.function traces again, for the same arguments,
  // after the first trace has created its variables.
  int NextTrace(const LibraryFunction& first) {
    int best = -1;
    for (int candidate : by_base_[first.name.base]) {
      const LibraryFunction& each = functions()[candidate];
      if (each.role != FunctionRole::kTrace || each.makes_variables) continue;
      if (each.name.number <= first.name.number || !SameParameters(each, first)) continue;
      if (best < 0 || each.name.number < functions()[best].name.number) best = candidate;
    }
    return best;
  }

  static bool SameParameters(const LibraryFunction& a, const LibraryFunction& b) {
    auto text = [](const LibraryFunction& each) {
      std::string all;
      for (const FunctionArgument& argument : each.arguments)
        if (!argument.captured) all += argument.name + " " + argument.ToString() + ",";
      return all;
    };
    return text(a) == text(b);
  }

  void PairDefun(int number) {
    int gradient = Find(gradients_.gradient.lookup(functions()[number].function->name()));
    if (gradient < 0) return;
    functions()[number].backward = gradient;
    functions()[gradient].trace = number;
  }

  // Pairs cond_true_108 with cond_true_108_rewritten, which runs instead of it.
  void PairPart(int number) {
    llvm::StringRef name = functions()[number].function->name();
    int trace = name.consume_back("_rewritten") ? Find(name) : -1;
    if (trace < 0) trace = SavedPart(number, false);
    if (trace < 0) return;
    functions()[number].trace = trace;
    functions()[trace].forward = number;
  }

  // Pairs the gradient cond_true_108_grad_203 with the forward function cond_true_108_rewritten or,
  // without one, with cond_true_108.
  void PairGradientPart(int number) {
    llvm::StringRef name = functions()[number].function->name();
    llvm::StringRef stem = name.take_front(name.rfind("_grad_"));
    int forward = Find((stem + "_rewritten").str());
    int trace = Find(stem);
    if (trace < 0 && forward < 0) forward = SavedPart(number, true);
    if (forward < 0)
      forward = trace >= 0 && functions()[trace].forward >= 0 ? functions()[trace].forward : trace;
    if (forward < 0) return;
    LibraryFunction &gradient = functions()[number], &of = functions()[forward];
    gradient.partner = forward;
    if (of.partner < 0) of.partner = number;
    gradient.trace = of.trace >= 0 ? of.trace : forward;
    if (functions()[gradient.trace].backward < 0) functions()[gradient.trace].backward = number;
  }

  // For a SavedModel, which puts a new number at the end of each function's name, so that only the
  // names before it match. Returns the trace of the branch or loop body `number`; with `gradient`,
  // `number` is a gradient, and the result is its forward function or, without one, its trace. -1
  // if there is no such function.
  int SavedPart(int number, bool gradient) {
    const FunctionName& name = library_.functions[number].name;
    auto stem_of = [](llvm::StringRef text) {
      return text.rtrim("0123456789").drop_back(1);  // __inference_cond_true_108_rewritten
    };
    llvm::StringRef stem = stem_of(library_.functions[number].function->name());
    if (name.kind != Kind::kTrace) return -1;
    if (gradient) {
      stem = stem.take_front(stem.rfind("_grad_"));
    } else {
      stem.consume_back("_rewritten");
    }
    for (bool rewritten : {true, false}) {
      if (rewritten && !gradient) continue;
      for (int candidate : by_base_.lookup(name.base)) {
        llvm::StringRef other = stem_of(functions()[candidate].function->name());
        if (candidate != number && other == (stem + (rewritten ? "_rewritten" : "")).str())
          return candidate;
      }
    }
    return -1;
  }

  const GivenGradients& gradients_;
  FunctionLibrary& library_;
  llvm::StringMap<int> number_;
  llvm::StringMap<std::vector<int>> by_base_;
};

}  // namespace

void FindPairs(const GivenGradients& gradients, FunctionLibrary* library) {
  PairFinder(gradients, library).Run();
}

}  // namespace grapnel
