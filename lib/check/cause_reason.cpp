#include "lib/check/cause_reason.h"

#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

enum class Of { kZero, kNegative };
enum class Makes { kInf, kNan, kBoth };

// An input of an op for which zeros or negative numbers give infinity or NaN.
struct KnownCause {
  llvm::StringRef op_type;
  size_t input;
  Of of;
  Makes makes;
};

constexpr KnownCause kKnownCauses[] = {
    {"Log", 0, Of::kZero, Makes::kInf},          {"Log", 0, Of::kNegative, Makes::kNan},
    {"Log1p", 0, Of::kNegative, Makes::kBoth},   {"Reciprocal", 0, Of::kZero, Makes::kInf},
    {"Inv", 0, Of::kZero, Makes::kInf},          {"Rsqrt", 0, Of::kZero, Makes::kInf},
    {"Rsqrt", 0, Of::kNegative, Makes::kNan},    {"Sqrt", 0, Of::kNegative, Makes::kNan},
    {"SqrtGrad", 0, Of::kZero, Makes::kBoth},    {"RealDiv", 1, Of::kZero, Makes::kBoth},
    {"Div", 1, Of::kZero, Makes::kBoth},         {"FloorDiv", 1, Of::kZero, Makes::kBoth},
    {"TruncateDiv", 1, Of::kZero, Makes::kBoth}, {"Xdivy", 1, Of::kZero, Makes::kBoth},
    {"FloorMod", 1, Of::kZero, Makes::kNan},     {"Mod", 1, Of::kZero, Makes::kNan},
    {"TruncateMod", 1, Of::kZero, Makes::kNan},  {"Xlogy", 1, Of::kZero, Makes::kInf},
    {"Xlogy", 1, Of::kNegative, Makes::kNan},    {"Pow", 0, Of::kZero, Makes::kInf},
    {"Pow", 0, Of::kNegative, Makes::kNan},      {"Lgamma", 0, Of::kZero, Makes::kInf},
    {"Digamma", 0, Of::kZero, Makes::kBoth},
};

bool Made(const RecordedTensor& value, Makes makes) {
  if (value.what < Recorded::kBadCounts || makes == Makes::kBoth) return true;
  return makes == Makes::kNan ? value.health.nan > 0
                              : value.health.neg_inf > 0 || value.health.pos_inf > 0;
}

std::string NameOf(const CauseInput& input) {
  return input.made_by.empty() ? input.tensor : input.made_by;
}

std::string CountOf(Of of, int64_t count) {
  if (of == Of::kZero) return Plural(count, "zero");
  return Plural(count, "negative number");
}

// Returns how many elements of the op's input are zero or negative, whichever `pitfall` is about; 0
// if `pitfall` is about another op, if they were not counted, or if the output lacks what they
// would cause (NaN or infinity).
int64_t CountFallen(const Cause& cause, const KnownCause& pitfall) {
  if (pitfall.op_type != cause.op_type || pitfall.input >= cause.inputs.size() ||
      !Made(cause.value, pitfall.makes))
    return 0;
  const RecordedTensor& value = cause.inputs[pitfall.input].value;
  if (value.what != Recorded::kCounts) return 0;
  return pitfall.of == Of::kZero ? value.health.zero : value.health.negative;
}

// Returns the reason if a known cause explains the output: "because its input x:0 holds 2 zeros";
// else an empty string.
std::string KnownCauseText(const Cause& cause) {
  std::string text;
  for (const KnownCause& pitfall : kKnownCauses) {
    int64_t count = CountFallen(cause, pitfall);
    if (count == 0) continue;
    const CauseInput& input = cause.inputs[pitfall.input];
    text += (text.empty() ? "because its input " + NameOf(input) + " holds " : " and ") +
            CountOf(pitfall.of, count);
  }
  return text;
}

bool HasPitfall(llvm::StringRef op_type) {
  return llvm::any_of(kKnownCauses, [&](const KnownCause& p) { return p.op_type == op_type; });
}

// Returns a note if a known cause is possible, but the debug mode did not count the zeros or
// negative numbers of the op's input; else an empty string.
std::string UncountedKnownCauseText(const Cause& cause) {
  for (const KnownCause& pitfall : kKnownCauses) {
    if (pitfall.op_type != cause.op_type || pitfall.input >= cause.inputs.size() ||
        !Made(cause.value, pitfall.makes))
      continue;
    const CauseInput& input = cause.inputs[pitfall.input];
    if (input.value.what == Recorded::kCounts) continue;
    llvm::StringRef what = pitfall.of == Of::kZero ? "zeros" : "negative numbers";
    return llvm::formatv("; whether its input {0} holds {1} was not recorded (FULL_HEALTH does)",
                         NameOf(input), what)
        .str();
  }
  return "";
}

// True if a bad output has infinities but no NaN: for products, sums and exponentials of finite
// numbers, that is an overflow.
bool MadeOnlyInfinity(const RecordedTensor& value) {
  return value.what >= Recorded::kBadCounts && value.health.nan == 0;
}

}  // namespace

std::string CauseReason(const Cause& cause) {
  if (!cause.value.bad) return "";
  for (const CauseInput& input : cause.inputs) {
    if (input.value.bad)
      return "because its input " + NameOf(input) + " holds " + BadText(input.value);
    if (input.is_bad_variable) return "because the variable was assigned NaN or infinity before";
  }
  if (cause.op_type == "Const") return "as a constant of the program";
  if (cause.op_type == "Placeholder") return "as an argument passed to the function";
  std::string pitfall = KnownCauseText(cause);
  if (!pitfall.empty()) return pitfall;
  if (cause.inputs.empty()) return "without any input";
  size_t known =
      llvm::count_if(cause.inputs, [](const CauseInput& input) { return input.value.TellsBad(); });
  if (known == 0) return "from inputs that were not recorded";
  for (const CauseInput& input : cause.inputs) {
    if (input.value.what >= Recorded::kBadCounts && input.value.health.elements == 0)
      return "because its input " + NameOf(input) + " has no elements";
  }
  std::string text = known < cause.inputs.size() ? "though every recorded input is finite"
                                                 : "though all its inputs are finite";
  std::string uncounted = UncountedKnownCauseText(cause);
  if (!uncounted.empty()) return text + uncounted;
  // The op that made the bad value inside a merged op is unknown.
  if (cause.op_type == "_UnaryOpsComposition")
    return text +
           ": it is several ops merged into one; the original graph shows which of them is the "
           "cause";
  if (known == cause.inputs.size() && MadeOnlyInfinity(cause.value) && !HasPitfall(cause.op_type))
    text += ": the result may be too large for its dtype";
  return text;
}

int KnownCauseInput(const Cause& cause) {
  for (const KnownCause& pitfall : kKnownCauses) {
    if (CountFallen(cause, pitfall) > 0) return static_cast<int>(pitfall.input);
  }
  return -1;
}

}  // namespace grapnel
