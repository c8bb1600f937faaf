// Softmax and LogSoftmax over the last dimension, shifted by the largest logit so that nothing
// overflows.
#include <cmath>
#include <vector>

#include "Eigen/Core"
#include "kernels/common/epilogue.h"
#include "kernels/common/half_fold.h"
#include "kernels/common/stepped.h"

namespace grapnel {
namespace {

template <typename T>
void SoftmaxRow(const T* in, T* out, int64_t n, bool log) {
  Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> x(in, n);
  Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> y(out, n);
  T largest = x.template maxCoeff<Eigen::PropagateNaN>();
  y = x - largest;
  if (log) {
    y -= std::log(y.exp().sum());
  } else {
    y = y.exp();
    y *= T(1) / y.sum();
  }
}

// TensorFlow takes the steps of halves in half, and those of LogSoftmax in bfloat16 likewise.
template <typename T>
void SteppedSoftmaxRow(const T* in, T* out, int64_t n, int64_t first, bool log) {
  using Number = Stepped<T>;
  float largest = -INFINITY;
  for (int64_t i = 0; i < n; ++i) {
    float x = static_cast<float>(in[i]);
    if (!(x <= largest)) largest = x;  // a NaN is the largest
  }
  auto shifted = [&](int64_t i) { return Number(static_cast<float>(in[i])) - Number(largest); };
  std::vector<T> powers(n);
  for (int64_t i = 0; i < n; ++i) powers[i] = T(Exp(shifted(i)).value());
  Number sum(FoldRow(HalfFold::kSum, powers.data(), n, first));
  Number factor = log ? Log(sum) : Number(1) / sum;
  for (int64_t i = 0; i < n; ++i) {
    Number power(static_cast<float>(powers[i]));
    out[i] = T((log ? shifted(i) - factor : power * factor).value());
  }
}

template <typename T>
Error Softmax(KernelContext& ctx, bool log) {
  Dims dims(ctx.input(0).dims().begin(), ctx.input(0).dims().end());
  if (dims.empty()) return MakeError("the logits must have rank 1 or more, not shape []");
  int64_t n = dims.back();
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, dims));
  if (out->num_elements() == 0) return Error::success();
  const T* in = ctx.input(0).data<T>();
  T* to = out->data<T>();
  ctx.ParallelFor(out->num_elements() / n, 20 + n * 1.5, [&](int64_t begin, int64_t end) {
    if constexpr (kIsSmallFloat<T>) {
      if (log || std::is_same_v<T, Eigen::half>) {
        for (int64_t i = begin; i < end; ++i)
          SteppedSoftmaxRow(in + i * n, to + i * n, n, i * n, log);
        return;
      }
      std::vector<float> row(n);
      for (int64_t i = begin; i < end; ++i) {
        Widen(in + i * n, row.data(), n);
        SoftmaxRow(row.data(), row.data(), n, log);
        Narrow(row.data(), to + i * n, n);
      }
    } else {
      for (int64_t i = begin; i < end; ++i) SoftmaxRow(in + i * n, to + i * n, n, log);
    }
  });
  return Error::success();
}

Expected<KernelFn> MakeSoftmax(const KernelSetup& setup) {
  bool log = setup.node().op() == "LogSoftmax";
  KernelFn fn;
  ForType(setup.output_type(0), FloatTypes(), [&](auto tag) {
    fn = [log](KernelContext& ctx) { return Softmax<typename decltype(tag)::type>(ctx, log); };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("Softmax", MakeSoftmax, OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("LogSoftmax", MakeSoftmax, OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
