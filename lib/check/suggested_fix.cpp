#include "lib/check/suggested_fix.h"

#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

constexpr const char* kWhere =
    "; if you use `where`, apply it to the input: on the output, it does not stop a NaN gradient";

// True if the op computes a gradient, according to TensorFlow's names.
bool IsOfGradient(const Cause& cause) {
  llvm::StringRef name = cause.node;
  return name.contains("gradient_tape/") || name.starts_with("gradients/") ||
         name.contains("/gradients/");
}

bool IsSmall(DataType type) { return type == proto::DT_HALF || type == proto::DT_BFLOAT16; }

}  // namespace

std::string SuggestedFix(const Cause& cause) {
  llvm::StringRef op = cause.op_type;
  if (op == "Placeholder") return "clean the data before it is fed";
  if (op == "Const")
    return "the constant is part of the program: find out where its value comes from";
  std::string text =
      llvm::StringSwitch<const char*>(op)
          .Case("Log",
                "take the log of max(x, 1e-7) or of x + 1e-7; of a softmax use log_softmax, and in "
                "a loss the logits")
          .Case("Log1p", "keep x above -1: log1p(max(x, -1 + 1e-7))")
          .Cases("RealDiv", "Div", "Xdivy", "Reciprocal", "Inv",
                 "add a small number to the divisor, or use divide_no_nan if 0 is a correct result")
          .Cases("FloorDiv", "FloorMod", "Mod", "TruncateMod", "TruncateDiv",
                 "keep the divisor from being 0")
          .Cases("Sqrt", "Rsqrt", "take the root of max(x, 1e-12): an epsilon inside of the root")
          .Cases("SqrtGrad", "RsqrtGrad",
                 "the gradient of a root at 0 is infinite: take the root of x + 1e-12")
          .Cases("Exp", "Expm1", "Sinh", "Cosh",
                 "subtract the largest element first, as softmax and logsumexp do, or clip x")
          .Case("Pow", "clip the base (above 0 for a fractional exponent) or the exponent")
          .Cases("Atanh", "Acos", "Asin", "Erfinv", "Ndtri",
                 "clip x to slightly less than the op's domain, as in clip(x, -1 + 1e-6, 1 - 1e-6)")
          .Case("Acosh", "clip x to at least 1")
          .Cases("Lgamma", "Digamma", "Polygamma", "Zeta",
                 "keep x away from 0 and negative integers")
          .Case("Mean", "the tensor has no elements: do not take the mean of empty tensors")
          .Cases("Max", "Min", "the tensor has no elements: do not reduce empty tensors")
          .Case("Cast", "the number is too large for the dtype: scale it, or use a wider dtype")
          .Cases("Prod", "Cumprod", "sum logarithms instead of multiplying")
          .Cases("Square", "Mul", "MatMul", "BatchMatMulV2", "Conv2D", "Sum", "Cumsum", "AddV2",
                 "the numbers are too large: scale or clip them, or lower the learning rate")
          .Cases("MatrixInverse", "MatrixSolve", "Cholesky", "LogMatrixDeterminant",
                 "the matrix is singular or nearly so: add a small multiple of the identity")
          .Default("");
  if (text.empty()) return text;
  if (IsSmall(cause.value.dtype) && op != "Cast")
    text += "; the 16-bit dtype may be too narrow for this op: compute it in float32";
  if (IsOfGradient(cause)) text += kWhere;
  return text;
}

}  // namespace grapnel
