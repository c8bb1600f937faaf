// Ops that abort a run: Assert, CheckNumerics, CheckNumericsV2.
#include <atomic>
#include <cmath>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/text/tensor_text.h"
#include "lib/ir/module.h"

namespace grapnel {
namespace {

// XLA drops Assert and CheckNumerics from the functions it compiles. The kernel warns once that its
// op is dropped, and once that the check would have failed; if its first check fails, in one
// warning.
class XlaDrop {
 public:
  explicit XlaDrop(const Node& node) : node_(node) {}

  // Returns whether the op checks nothing in this run because XLA drops it, and prints the
  // warnings. `failure` is the error of a check that fails, empty if it holds.
  bool Drops(const KernelContext& ctx, llvm::StringRef failure) const {
    if (!ctx.services().is_xla) return false;
    std::atomic<bool>& is_said = failure.empty() ? said_->dropped : said_->failed;
    if (is_said.exchange(true) || !ctx.services().print) return true;
    said_->dropped = true;
    std::string text = llvm::formatv(
        "node '{0}' ({1}){2} is left out, as XLA leaves it out of what it compiles "
        "(jit_compile=True, _XlaMustCompile)",
        node_.name(), node_.op(), FunctionText());
    if (!failure.empty()) text += ("; without XLA the run would stop here: " + failure).str();
    ctx.services().print(Severity::kWarning, text);
    return true;
  }

 private:
  std::string FunctionText() const {
    for (const auto& function : node_.graph().module().functions) {
      if (&function->body == &node_.graph())
        return (" of function '" + function->name() + "'").str();
    }
    return "";
  }

  struct Said {
    std::atomic<bool> dropped{false}, failed{false};
  };
  Node node_;
  std::unique_ptr<Said> said_ = std::make_unique<Said>();
};

Expected<KernelFn> MakeAssert(const KernelSetup& setup) {
  int64_t summarize = setup.node().GetInt("summarize", 3);
  return KernelFn([summarize, xla = XlaDrop(setup.node())](KernelContext& ctx) -> Error {
    const Tensor& condition = ctx.input(0);
    if (condition.rank() != 0) {
      return MakeError("the condition should be a scalar, got shape {0}",
                       DimsText(condition.dims()));
    }
    std::string text;
    if (!*condition.data<bool>()) {
      text = "assertion failed:";
      for (int i = 1; i < ctx.num_inputs(); ++i)
        text += " [" + SummaryText(ctx.input(i), summarize) + "]";
    }
    if (xla.Drops(ctx, text) || text.empty()) return Error::success();
    return MakeError("{0}", text);
  });
}

enum Found : int { kNan = 1, kNegativeInf = 2, kPositiveInf = 4 };

template <typename T>
int FindBad(const void* pin, int64_t n) {
  const T* in = static_cast<const T*>(pin);
  float wide[kFloatBlock];
  int found = 0;
  for (int64_t i = 0; i < n; i += kFloatBlock) {
    int64_t m = std::min(kFloatBlock, n - i);
    auto look = [&](const auto* x) {
      // Looks at single elements only when the block has a non-finite one: x - x is 0 for every
      // finite x.
      bool finite = true;
      for (int64_t j = 0; j < m; ++j) finite &= x[j] - x[j] == 0;
      if (finite) return;
      for (int64_t j = 0; j < m; ++j) {
        if (std::isnan(x[j]))
          found |= kNan;
        else if (std::isinf(x[j]))
          found |= x[j] < 0 ? kNegativeInf : kPositiveInf;
      }
    };
    if constexpr (kIsSmallFloat<T>) {
      Widen(in + i, wide, m);
      look(static_cast<const float*>(wide));
    } else {
      look(in + i);
    }
  }
  return found;
}

// Returns the names of what was found, such as "Inf and NaN" or, with signs, "-Inf, +Inf, and NaN".
std::string NameOf(int found, bool signs) {
  std::vector<std::string> names;
  if (signs) {
    if (found & kNegativeInf) names.push_back("-Inf");
    if (found & kPositiveInf) names.push_back("+Inf");
  } else if (found & (kNegativeInf | kPositiveInf)) {
    names.push_back("Inf");
  }
  if (found & kNan) names.push_back("NaN");
  if (names.size() == 3) return names[0] + ", " + names[1] + ", and " + names[2];
  return names.size() == 2 ? names[0] + " and " + names[1] : names[0];
}

template <bool kSigns>
Expected<KernelFn> MakeCheckNumerics(const KernelSetup& setup) {
  using Find = int (*)(const void*, int64_t);
  Find find = ForType(setup.input_type(0), FloatTypes(),
                      [](auto tag) -> Find { return &FindBad<typename decltype(tag)::type>; });
  if (!find) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  std::string message = setup.node().GetString("message");
  return KernelFn([find, message, xla = XlaDrop(setup.node())](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    std::atomic<int> found{0};
    ctx.ParallelFor(in.num_elements(), 0.2,
                    [&](int64_t begin, int64_t end) { found |= find(At(in, begin), end - begin); });
    std::string text;
    if (found) text = message + " : Tensor had " + NameOf(found, kSigns) + " values";
    // XLA has no CheckNumericsV2 and does not compile functions that contain one.
    if (!(!kSigns && xla.Drops(ctx, text)) && found) return MakeError("{0}", text);
    ctx.SetOutput(0, in);
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("Assert", MakeAssert, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("CheckNumerics", MakeCheckNumerics<false>,
                   OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("CheckNumericsV2", MakeCheckNumerics<true>,
                   OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
