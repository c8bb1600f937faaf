// Sum, Mean, Prod and EuclideanNorm of half and Prod of bfloat16, which TensorFlow reduces without
// widening: in the same order, rounding at each step.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/half_fold.h"
#include "kernels/common/rounded_half.h"
#include "kernels/cpu/math/reduction.h"

namespace grapnel {
namespace {

using Merged = ReducedDims::Merged;

struct Job {
  HalfFold fold;
  bool mean;
  bool norm = false;  // sum of squares
  int64_t count = 1;  // elements per result

  template <typename T>
  T Finished(float folded) const {
    if (norm) return T(std::sqrt(folded));
    if (!mean) return T(folded);
    return T(folded / RoundedTo<T>(static_cast<float>(count)));
  }
};

int64_t OffsetOf(llvm::ArrayRef<Merged> axes, int64_t index) {
  int64_t offset = 0;
  for (size_t d = axes.size(); d-- > 0; index /= axes[d].size)
    offset += index % axes[d].size * axes[d].stride;
  return offset;
}

// [outer, count, width] -> [outer, width]. Processes eight adjacent results at a time if they have
// the same outer index.
template <typename T>
void Columns(KernelContext& ctx, const Job& job, const T* in, int64_t width, Tensor& out) {
  constexpr int64_t kStep = 8;
  int64_t total = out.num_elements();
  T* to = out.data<T>();
  auto start = [&](int64_t i) { return in + (i / width * job.count) * width + i % width; };
  ctx.ParallelFor((total + kStep - 1) / kStep, 8.0 * job.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * kStep, last = std::min(end * kStep, total); i < last; i += kStep) {
      int64_t n = std::min(kStep, total - i);
      float folded[kStep];
      if (n == kStep && i % width + n <= width) {
        FoldEightColumns(job.fold, start(i), job.count, width, folded);
      } else {
        for (int64_t k = 0; k < n; ++k)
          folded[k] = FoldColumn(job.fold, start(i + k), job.count, width);
      }
      for (int64_t k = 0; k < n; ++k) to[i + k] = job.Finished<T>(folded[k]);
    }
  });
}

// The elements of each result are contiguous.
template <typename T>
void Rows(KernelContext& ctx, const Job& job, const T* in, Tensor& out) {
  T* to = out.data<T>();
  ctx.ParallelFor(out.num_elements(), 2.0 * job.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i * job.count;
      to[i] = job.Finished<T>(FoldRow(job.fold, in + first, job.count, first));
    }
  });
}

// [reduced, kept, reduced] -> [kept]: one element at a time, the last axis slowest.
template <typename T>
void BothSides(KernelContext& ctx, const Job& job, const T* in, llvm::ArrayRef<Merged> axes,
               Tensor& out) {
  T* to = out.data<T>();
  ctx.ParallelFor(out.num_elements(), 4.0 * job.count, [&](int64_t begin, int64_t end) {
    std::vector<T> column(job.count);
    for (int64_t i = begin; i < end; ++i) {
      const T* from = in + i * axes[1].stride;
      for (int64_t k = 0; k < job.count; ++k)
        column[k] = from[k % axes[0].size * axes[0].stride + k / axes[0].size];
      to[i] = job.Finished<T>(FoldColumn(job.fold, column.data(), job.count, 1));
    }
  });
}

// Any other order: moves the kept axes to the front first.
template <typename T>
void Turned(KernelContext& ctx, const Job& job, const T* in, llvm::ArrayRef<Merged> axes,
            Tensor& out) {
  llvm::SmallVector<Merged, 8> kept, reduced;
  for (const Merged& axis : axes) (axis.reduced ? reduced : kept).push_back(axis);
  T* to = out.data<T>();
  ctx.ParallelFor(out.num_elements(), 4.0 * job.count, [&](int64_t begin, int64_t end) {
    std::vector<T> row(job.count);
    for (int64_t i = begin; i < end; ++i) {
      int64_t base = OffsetOf(kept, i);
      for (int64_t k = 0; k < job.count; ++k) row[k] = in[base + OffsetOf(reduced, k)];
      to[i] = job.Finished<T>(FoldRow(job.fold, row.data(), job.count, i * job.count));
    }
  });
}

template <typename T>
Error ReduceHalves(KernelContext& ctx, Job job, bool keep_dims) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(ReducedDims dims, ReadReducedDims(in, ctx.input(1), keep_dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims.result));
  if (out->num_elements() == 0) return Error::success();
  llvm::ArrayRef<Merged> axes = dims.merged;
  for (const Merged& axis : axes) job.count *= axis.reduced ? axis.size : 1;
  const T* from = in.data<T>();
  Tensor squares;
  if (job.norm) {
    ASSIGN_OR_RETURN(squares, ctx.Scratch(in.dtype(), in.dims()));
    T* to = squares.data<T>();
    ctx.ParallelFor(in.num_elements(), 1.0, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float x = static_cast<float>(from[i]);
        to[i] = T(x * x);
      }
    });
    from = to;
  }
  bool last = !axes.empty() && axes.back().reduced;
  if (axes.size() <= 1 || (axes.size() == 2 && last)) {
    Rows(ctx, job, from, *out);
  } else if (axes.size() <= 3 && !last) {
    Columns(ctx, job, from, axes.back().size, *out);
  } else if (axes.size() == 3) {
    BothSides(ctx, job, from, axes, *out);
  } else {
    Turned(ctx, job, from, axes, *out);
  }
  return Error::success();
}

}  // namespace

Expected<KernelFn> MakeHalfReduction(const KernelSetup& setup) {
  llvm::StringRef op = setup.node().op();
  Job job{op == "Prod" ? HalfFold::kProduct : HalfFold::kSum, op == "Mean", op == "EuclideanNorm"};
  bool keep_dims = setup.node().GetBool("keep_dims");
  bool half = setup.input_type(0) == proto::DT_HALF;
  return KernelFn([job, keep_dims, half](KernelContext& ctx) {
    return half ? ReduceHalves<Eigen::half>(ctx, job, keep_dims)
                : ReduceHalves<Eigen::bfloat16>(ctx, job, keep_dims);
  });
}

}  // namespace grapnel
