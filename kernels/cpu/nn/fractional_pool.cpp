// FractionalMaxPool and FractionalAvgPool, and their gradients: pools with windows of different
// sizes, so that the image shrinks by a fraction (Graham, "Fractional max-pooling", 2014). The
// sequence of sizes is random; for given seeds it equals TensorFlow's.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/cpu/random/random.h"

namespace grapnel {
namespace {

using PoolTypes = TypeList<float, double, int32_t, int64_t>;
using Sequence = std::vector<int64_t>;  // start of each window, and the end of the last one

// Returns a uniform number below `n`.
uint32_t Below(uint32_t n, PhiloxNumbers& numbers) {
  if ((n & (n - 1)) == 0) return numbers.Next() & (n - 1);
  uint32_t refused = std::numeric_limits<uint32_t>::max() % n + 1, number;
  do {
    number = numbers.Next();
  } while (number < refused);
  return number % n;
}

// Draws numbers even when all windows have the same size, as TensorFlow does: later draws depend on
// how many were drawn.
Sequence DrawSequence(int64_t in, int64_t out, bool pseudo_random, Philox& philox) {
  Sequence begins(out + 1, 0);
  int64_t size = in / out, rest = in % out;
  std::vector<int64_t> sizes(out, size);
  if (pseudo_random) {
    double ratio = static_cast<double>(in) / static_cast<double>(out);
    double whole = static_cast<double>(size);
    double most = std::min((whole + 2) / ratio - 1, (static_cast<double>(in) + 1 - whole) / ratio -
                                                        static_cast<double>(out - 1));
    Philox::Group x = philox.Next();
    double shift = ToDouble(x[0], x[1]) * most;
    auto edge = [&](int64_t i) {
      if (i == 0) return int64_t{1};
      if (i == out) return in + 1;
      return static_cast<int64_t>(std::ceil(ratio * (static_cast<double>(i) + shift)));
    };
    for (int64_t i = 0; i < out; ++i) sizes[i] = edge(i + 1) - edge(i);
  } else {
    for (int64_t i = 0; i < rest; ++i) ++sizes[i];
    PhiloxNumbers numbers(philox);
    philox.Skip((out + 3) / 4);
    for (int64_t i = 0; i + 1 < out; ++i)
      std::swap(sizes[i], sizes[i + Below(static_cast<uint32_t>(out - i), numbers)]);
  }
  std::partial_sum(sizes.begin(), sizes.end(), begins.begin() + 1);
  return begins;
}

// Returns window `i` as [begin, end) of `limit` positions. Overlapping windows share their borders.
std::pair<int64_t, int64_t> WindowAt(const Sequence& begins, int64_t i, bool overlapping,
                                     int64_t limit) {
  int64_t end = overlapping ? begins[i + 1] + 1 : begins[i + 1];
  return {begins[i], std::min(end, limit)};
}

// An image [batch, rows, columns, channels] and its windows.
struct Pools {
  Dims in;
  Sequence rows, columns;
  bool overlapping;

  int64_t out_rows() const { return static_cast<int64_t>(rows.size()) - 1; }
  int64_t out_columns() const { return static_cast<int64_t>(columns.size()) - 1; }
  Dims OutDims() const { return {in[0], out_rows(), out_columns(), in[3]}; }
  // Calls visit(image element) for each pixel of output element `i`; returns their number.
  template <typename F>
  int64_t ForPixels(int64_t i, F&& visit) const {
    int64_t channel = i % in[3], x = i / in[3] % out_columns();
    int64_t y = i / in[3] / out_columns() % out_rows(),
            batch = i / in[3] / out_columns() / out_rows();
    auto [y0, y1] = WindowAt(rows, y, overlapping, in[1]);
    auto [x0, x1] = WindowAt(columns, x, overlapping, in[2]);
    for (int64_t r = y0; r < y1; ++r) {
      for (int64_t c = x0; c < x1; ++c) visit(((batch * in[1] + r) * in[2] + c) * in[3] + channel);
    }
    return std::max<int64_t>(0, y1 - y0) * std::max<int64_t>(0, x1 - x0);
  }
};

template <bool kMax, typename T>
T PoolOf(const Pools& pools, int64_t i, const T* in) {
  T value = kMax ? std::numeric_limits<T>::lowest() : T(0);
  int64_t count = pools.ForPixels(
      i, [&](int64_t at) { value = kMax ? std::max(value, in[at]) : AddOf(value, in[at]); });
  return kMax || count == 0 ? value : static_cast<T>(value / static_cast<T>(count));
}

Error PutSequence(KernelContext& ctx, int output, const Sequence& sequence) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(output, {static_cast<int64_t>(sequence.size())}));
  std::copy(sequence.begin(), sequence.end(), out->data<int64_t>());
  return Error::success();
}

template <typename F>
Error ForPoolType(DataType dtype, F&& f) {
  bool known = ForType(dtype, PoolTypes(), [&](auto tag) {
    f(tag);
    return true;
  });
  return known ? Error::success() : MakeError("no kernel for dtype {0}", DataTypeName(dtype));
}

template <bool kMax>
Expected<KernelFn> MakePool(const KernelSetup& setup) {
  const Node& node = setup.node();
  std::optional<AttrView> attr = node.Attr("pooling_ratio");
  std::vector<float> ratio =
      attr ? attr->AsFloats().value_or(std::vector<float>()) : std::vector<float>();
  if (ratio.size() != 4 || ratio[0] != 1 || ratio[3] != 1)
    return MakeError("pooling_ratio must have 4 numbers, 1 for batch and channels");
  for (float r : ratio) {
    if (!(r >= 1)) return MakeError("pooling_ratio must be 1 or more, got {0}", r);
  }
  bool pseudo_random = node.GetBool("pseudo_random"), overlapping = node.GetBool("overlapping");
  bool keeps = node.GetBool("deterministic");
  if (!keeps && (node.GetInt("seed") != 0 || node.GetInt("seed2") != 0))
    return MakeError("seed and seed2 must be 0 unless deterministic is true");
  return KernelFn(
      [=, start = FromAttrs(setup), shared = SharedPhilox(setup)](KernelContext& ctx) -> Error {
        const Tensor& in = ctx.input(0);
        if (in.rank() != 4)
          return MakeError("value must have rank 4, got shape {0}", DimsText(in.dims()));
        Pools pools{Dims(in.dims().begin(), in.dims().end()), {}, {}, overlapping};
        int64_t sizes[3] = {};
        for (int d : {1, 2}) {
          sizes[d] = static_cast<int64_t>(std::floor(static_cast<float>(in.dim(d)) / ratio[d]));
          if (sizes[d] < 1)
            return MakeError("pooling_ratio[{0}] = {1} is too large for a dimension of size {2}", d,
                             ratio[d], in.dim(d));
        }
        auto draw = [&](Philox& philox) {
          pools.rows = DrawSequence(in.dim(1), sizes[1], pseudo_random, philox);
          pools.columns = DrawSequence(in.dim(2), sizes[2], pseudo_random, philox);
        };
        Philox again = start;
        if (keeps)
          draw(again);
        else
          shared.Use(draw);
        ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, pools.OutDims()));
        RETURN_IF_ERROR(PutSequence(ctx, 1, pools.rows));
        RETURN_IF_ERROR(PutSequence(ctx, 2, pools.columns));
        return ForPoolType(in.dtype(), [&](auto tag) {
          using T = typename decltype(tag)::type;
          ctx.ParallelFor(out->num_elements(), 10, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
              out->data<T>()[i] = PoolOf<kMax>(pools, i, in.data<T>());
          });
        });
      });
}

// Reads a sequence from an input; it must not decrease, and be within [0, limit].
Expected<Sequence> ReadSequence(const Tensor& tensor, const char* name, int64_t windows,
                                int64_t limit) {
  if (tensor.rank() != 1 || tensor.num_elements() != windows + 1)
    return MakeError("{0} must be a vector of {1} elements, got shape {2}", name, windows + 1,
                     DimsText(tensor.dims()));
  Sequence sequence;
  for (int64_t i = 0; i <= windows; ++i) {
    int64_t at = tensor.IntAt(i);
    if (at < (i == 0 ? 0 : sequence.back()) || at > limit)
      return MakeError("{0}[{1}] = {2} is below its predecessor or not in [0, {3}]", name, i, at,
                       limit);
    sequence.push_back(at);
  }
  return sequence;
}

Expected<Pools> ReadPools(const Dims& in, const Tensor& grads, const Tensor& rows,
                          const Tensor& columns, bool overlapping) {
  if (in.size() != 4 || grads.rank() != 4 || grads.dim(0) != in[0] || grads.dim(3) != in[3])
    return MakeError(
        "an input of shape {0} does not match out_backprop of shape {1}: both must have rank 4 and "
        "the same batch and channels",
        DimsText(in), DimsText(grads.dims()));
  Pools pools{in, {}, {}, overlapping};
  ASSIGN_OR_RETURN(pools.rows, ReadSequence(rows, "row_pooling_sequence", grads.dim(1), in[1]));
  ASSIGN_OR_RETURN(pools.columns,
                   ReadSequence(columns, "col_pooling_sequence", grads.dim(2), in[2]));
  return pools;
}

// Distributes the gradient evenly over the pixels of a window.
Expected<KernelFn> MakeAvgGradient(const KernelSetup& setup) {
  bool overlapping = setup.node().GetBool("overlapping");
  return KernelFn([overlapping](KernelContext& ctx) -> Error {
    const Tensor& grads = ctx.input(1);
    ASSIGN_OR_RETURN(Dims in, ShapeFrom(ctx.input(0)));
    ASSIGN_OR_RETURN(Pools pools, ReadPools(in, grads, ctx.input(2), ctx.input(3), overlapping));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in));
    return ForPoolType(grads.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::vector<double> sums(out->num_elements(), 0);
      for (int64_t i = 0; i < grads.num_elements(); ++i) {
        int64_t count = pools.ForPixels(i, [](int64_t) {});
        double share = static_cast<double>(grads.data<T>()[i]) / static_cast<double>(count);
        pools.ForPixels(i, [&](int64_t at) { sums[at] += share; });
      }
      for (size_t i = 0; i < sums.size(); ++i) out->data<T>()[i] = static_cast<T>(sums[i]);
    });
  });
}

// Gives the gradient to the first of a window's largest pixels.
Expected<KernelFn> MakeMaxGradient(const KernelSetup& setup) {
  bool overlapping = setup.node().GetBool("overlapping");
  return KernelFn([overlapping](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &pooled = ctx.input(1), &grads = ctx.input(2);
    Dims dims(in.dims().begin(), in.dims().end());
    ASSIGN_OR_RETURN(Pools pools, ReadPools(dims, grads, ctx.input(3), ctx.input(4), overlapping));
    if (pooled.dims() != grads.dims())
      return MakeError("orig_output has shape {0}, but out_backprop has shape {1}",
                       DimsText(pooled.dims()), DimsText(grads.dims()));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    return ForPoolType(in.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = out->data<T>();
      std::fill_n(to, out->num_elements(), T(0));
      for (int64_t i = 0; i < grads.num_elements(); ++i) {
        int64_t best = -1;
        pools.ForPixels(i, [&](int64_t at) {
          if (best < 0 || in.data<T>()[at] > in.data<T>()[best]) best = at;
        });
        if (best >= 0) to[best] = AddOf(to[best], grads.data<T>()[i]);
      }
    });
  });
}

#define GRAPNEL_POOL_KERNEL(name, make) \
  GRAPNEL_CPU_KERNEL(name, make, OfTypes("T", DataTypesOf(PoolTypes())))
GRAPNEL_POOL_KERNEL("FractionalMaxPool", MakePool<true>);
GRAPNEL_POOL_KERNEL("FractionalAvgPool", MakePool<false>);
GRAPNEL_POOL_KERNEL("FractionalMaxPoolGrad", MakeMaxGradient);
GRAPNEL_POOL_KERNEL("FractionalAvgPoolGrad", MakeAvgGradient);

}  // namespace
}  // namespace grapnel
