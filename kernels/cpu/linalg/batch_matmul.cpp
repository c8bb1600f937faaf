// BatchMatMul, V2 and V3: products over the last two dimensions; V2 and V3 broadcast the others.
// _MklFusedBatchMatMulV2 scales each product and adds a mask.
#include <algorithm>

#include "kernels/common/broadcast.h"
#include "kernels/common/fused_ops.h"
#include "kernels/cpu/linalg/gemm.h"

namespace grapnel {
namespace {

// Returns, for each product, the index of the matrix that it takes from an operand with batch
// dimensions `dims`. Empty if product i takes matrix i, or if there is only one matrix.
std::vector<int64_t> BatchIndex(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> batch) {
  int64_t count = *NumElements(dims), total = *NumElements(batch);
  std::vector<int64_t> index;
  if (count == total || count == 1) return index;
  index.reserve(total);
  llvm::SmallVector<int64_t, 6> at(batch.size()), strides(batch.size());
  int64_t stride = 1;
  for (int i = static_cast<int>(dims.size()) - 1; i >= 0; --i) {
    strides[batch.size() - dims.size() + i] = dims[i] == 1 ? 0 : stride;
    stride *= dims[i];
  }
  int64_t offset = 0;
  for (int64_t n = 0; n < total; ++n) {
    index.push_back(offset);
    for (int i = static_cast<int>(batch.size()) - 1; i >= 0; --i) {
      offset += strides[i];
      if (++at[i] < batch[i]) break;
      offset -= strides[i] * batch[i];
      at[i] = 0;
    }
  }
  return index;
}

// Returns the broadcast batch dimensions of both, or nullopt when they are incompatible.
std::optional<Dims> BroadcastBatch(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  Dims batch(std::max(a.size(), b.size()), 1);
  for (llvm::ArrayRef<int64_t> side : {a, b}) {
    for (size_t i = 0; i < side.size(); ++i) {
      int64_t& dim = batch[batch.size() - side.size() + i];
      if (side[i] != dim && side[i] != 1 && dim != 1) return std::nullopt;
      if (side[i] != 1) dim = side[i];
    }
  }
  return batch;
}

// Returns `tensor` in the compute type: V3 allows operand types other than the result's.
template <typename T>
Expected<Tensor> Converted(KernelContext& ctx, const Tensor& tensor) {
  if (tensor.dtype() == DataTypeOf<T>()) return tensor;
  if (std::is_same_v<T, float> && DataTypeSize(tensor.dtype()) == 2 && IsFloating(tensor.dtype())) {
    return Widened(ctx, tensor);
  }
  ASSIGN_OR_RETURN(Tensor result, ctx.Scratch(DataTypeOf<T>(), tensor.dims()));
  bool known = ForType(tensor.dtype(), RealTypes(), [&](auto tag) {
    using From = typename decltype(tag)::type;
    std::transform(
        tensor.data<From>(), tensor.data<From>() + tensor.num_elements(), result.data<T>(),
        [](From value) { return static_cast<T>(static_cast<ComputeType<From>>(value)); });
    return true;
  });
  if (!known)
    return MakeError("cannot convert an operand of {0} to {1}, the dtype of the computation",
                     DataTypeName(tensor.dtype()), DataTypeName(DataTypeOf<T>()));
  return result;
}

template <typename T>
class BatchMatMulKernel {
 public:
  using Compute = ComputeType<T>;

  explicit BatchMatMulKernel(const KernelSetup& setup)
      : adjoint_a_(setup.node().GetBool("adj_x")),
        adjoint_b_(setup.node().GetBool("adj_y")),
        broadcasts_(setup.node().op() != "BatchMatMul"),
        is_fused_(setup.node().op() == "_MklFusedBatchMatMulV2") {
    // Weights are packed for one product at a time, so several constant matrices are used unpacked.
    const Tensor* b = setup.constant(1);
    if (b && b->dtype() == DataTypeOf<Compute>() && b->rank() >= 2 &&
        *NumElements(b->dims().drop_back(2)) == 1) {
      runner_.set_constant_b(*b);
    }
  }

  Error operator()(KernelContext& ctx) const {
    BatchedShape shape;
    ASSIGN_OR_RETURN(Dims dims, Resolve(ctx.input(0), ctx.input(1), shape));
    ASSIGN_OR_RETURN(Tensor a, Converted<Compute>(ctx, ctx.input(0)));
    ASSIGN_OR_RETURN(Tensor b, Converted<Compute>(ctx, ctx.input(1)));
    if constexpr (std::is_floating_point_v<Compute>) {
      if (is_fused_) return RunMasked(ctx, shape, dims, a, b);
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if (out->num_elements() == 0) return Error::success();
    Tensor result = *out;
    if constexpr (!std::is_same_v<T, Compute>) {
      ASSIGN_OR_RETURN(result, ctx.Scratch(proto::DT_FLOAT, dims));
    }
    RETURN_IF_ERROR(
        runner_.Run(ctx, shape, a.data<Compute>(), b.data<Compute>(), result.data<Compute>(), {}));
    if constexpr (!std::is_same_v<T, Compute>) NarrowInto(ctx, result.data<float>(), *out);
    return Error::success();
  }

 private:
  // The mask and the products are broadcast against each other, as the mask may have more
  // dimensions.
  Error RunMasked(KernelContext& ctx, const BatchedShape& shape, const Dims& dims, const Tensor& a,
                  const Tensor& b) const {
    ASSIGN_OR_RETURN(Tensor factor, Converted<Compute>(ctx, ctx.input(2)));
    ASSIGN_OR_RETURN(Tensor mask, Converted<Compute>(ctx, ctx.input(3)));
    if (factor.num_elements() != 1)
      return MakeError("the factor must have one element, got shape {0}", DimsText(factor.dims()));
    ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({dims, mask.dims()}));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan.dims));
    if (out->num_elements() == 0) return Error::success();
    bool narrows = !std::is_same_v<T, Compute>, grows = plan.dims != dims;
    Tensor sum = *out;
    if (narrows) {
      ASSIGN_OR_RETURN(sum, ctx.Scratch(DataTypeOf<Compute>(), plan.dims));
    }
    Tensor products = sum;
    if (grows) {
      ASSIGN_OR_RETURN(products, ctx.Scratch(DataTypeOf<Compute>(), dims));
    }
    RETURN_IF_ERROR(runner_.Run(ctx, shape, a.data<Compute>(), b.data<Compute>(),
                                products.data<Compute>(), {}));
    Compute by = *factor.data<Compute>();
    ctx.ParallelFor(plan.total, 0.5, [&](int64_t begin, int64_t end) {
      plan.ForRows(begin, end, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t n) {
        const Compute* x = products.data<Compute>() + offsets[0];
        const Compute* m = mask.data<Compute>() + offsets[1];
        Compute* y = sum.data<Compute>() + at;
        int64_t step_x = plan.strides[0].back(), step_m = plan.strides[1].back();
        for (int64_t i = 0; i < n; ++i) y[i] = x[i * step_x] * by + m[i * step_m];
      });
    });
    if constexpr (!std::is_same_v<T, Compute>) NarrowInto(ctx, sum.data<float>(), *out);
    return Error::success();
  }

  Expected<Dims> Resolve(const Tensor& a, const Tensor& b, BatchedShape& shape) const {
    if (a.rank() < 2 || b.rank() < 2) {
      return MakeError("a batch of matrix products needs rank 2 or more, got shapes {0} and {1}",
                       DimsText(a.dims()), DimsText(b.dims()));
    }
    int a_rank = a.rank(), b_rank = b.rank();
    shape.transpose_a = shape.conjugate_a = adjoint_a_;
    shape.transpose_b = shape.conjugate_b = adjoint_b_;
    shape.m = a.dim(a_rank - (adjoint_a_ ? 1 : 2));
    shape.k = a.dim(a_rank - (adjoint_a_ ? 2 : 1));
    shape.n = b.dim(b_rank - (adjoint_b_ ? 2 : 1));
    if (shape.k != b.dim(b_rank - (adjoint_b_ ? 1 : 2))) {
      return MakeError("the inner dimensions of shapes {0}{1} and {2}{3} differ",
                       DimsText(a.dims()), adjoint_a_ ? " transposed" : "", DimsText(b.dims()),
                       adjoint_b_ ? " transposed" : "");
    }
    llvm::ArrayRef<int64_t> a_batch = a.dims().drop_back(2), b_batch = b.dims().drop_back(2);
    std::optional<Dims> batch = BroadcastBatch(a_batch, b_batch);
    if (!batch || (!broadcasts_ && a_batch != b_batch)) {
      return MakeError("the batch dimensions of shapes {0} and {1} {2}", DimsText(a.dims()),
                       DimsText(b.dims()), broadcasts_ ? "do not broadcast" : "differ");
    }
    Dims dims = *batch;
    dims.push_back(shape.m);
    dims.push_back(shape.n);
    std::optional<int64_t> elements = NumElements(dims);
    if (!elements)
      return MakeError("the product of shapes {0} and {1} is too large", DimsText(a.dims()),
                       DimsText(b.dims()));
    shape.count = *NumElements(*batch);
    if (*elements > 0) {
      shape.a_count = *NumElements(a_batch);
      shape.b_count = *NumElements(b_batch);
      shape.a_index = BatchIndex(a_batch, *batch);
      shape.b_index = BatchIndex(b_batch, *batch);
    }
    return dims;
  }

  bool adjoint_a_, adjoint_b_, broadcasts_, is_fused_;
  MatMulRunner<Compute> runner_;
};

Expected<KernelFn> MakeBatchMatMul(const KernelSetup& setup) {
  KernelFn fn;
  bool known = ForType(setup.output_type(0), NumberTypes(), [&](auto tag) {
    fn = BatchMatMulKernel<typename decltype(tag)::type>(setup);
    return true;
  });
  if (!known)
    return MakeError("no matrix product for dtype {0}", DataTypeName(setup.output_type(0)));
  return fn;
}

Expected<KernelFn> MakeFusedBatchMatMul(const KernelSetup& setup) {
  auto fused = setup.node().Attr("fused_ops");
  auto ops = fused ? fused->AsStrings() : std::nullopt;
  if (!ops || *ops != std::vector<llvm::StringRef>{"Mul", "Add"} || setup.num_inputs() != 4)
    return MakeError("expected fused_ops [Mul, Add] and 4 inputs");
  return MakeBatchMatMul(setup);
}

GRAPNEL_CPU_KERNEL("BatchMatMul", MakeBatchMatMul, OfTypes("T", DataTypesOf(NumberTypes())),
                   KernelCost::kWide);
GRAPNEL_CPU_KERNEL("BatchMatMulV2", MakeBatchMatMul, OfTypes("T", DataTypesOf(NumberTypes())),
                   KernelCost::kWide);
GRAPNEL_CPU_KERNEL("BatchMatMulV3", MakeBatchMatMul, OfTypes("Tout", DataTypesOf(NumberTypes())),
                   KernelCost::kWide);
GRAPNEL_CPU_KERNEL("_MklFusedBatchMatMulV2", MakeFusedBatchMatMul,
                   OfTypes("T", DataTypesOf(FloatTypes())), KernelCost::kWide);

}  // namespace
}  // namespace grapnel
