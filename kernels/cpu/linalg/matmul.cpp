// MatMul and _FusedMatMul: one product of two matrices with a fused epilogue.
#include "kernels/common/fused_ops.h"
#include "kernels/cpu/linalg/gemm.h"

namespace grapnel {
namespace {

using MatMulTypes = NumberTypes;

template <typename T>
class MatMulKernel {
 public:
  using Compute = ComputeType<T>;

  explicit MatMulKernel(const KernelSetup& setup, FusedOps fused)
      : transpose_a_(setup.node().GetBool("transpose_a")),
        transpose_b_(setup.node().GetBool("transpose_b")),
        fused_(fused) {
    if (const Tensor* b = setup.constant(1); b && std::is_same_v<T, Compute> && b->rank() == 2)
      runner_.set_constant_b(*b);
  }

  Error operator()(KernelContext& ctx) const {
    const Tensor &a = ctx.input(0), &b = ctx.input(1);
    if (a.rank() != 2 || b.rank() != 2) {
      return MakeError("a matrix product needs two matrices, got shapes {0} and {1}",
                       DimsText(a.dims()), DimsText(b.dims()));
    }
    BatchedShape shape;
    shape.m = a.dim(transpose_a_ ? 1 : 0);
    shape.n = b.dim(transpose_b_ ? 0 : 1);
    shape.k = a.dim(transpose_a_ ? 0 : 1);
    shape.transpose_a = transpose_a_;
    shape.transpose_b = transpose_b_;
    if (shape.k != b.dim(transpose_b_ ? 1 : 0)) {
      return MakeError("the inner dimensions of shapes {0}{1} and {2}{3} differ",
                       DimsText(a.dims()), transpose_a_ ? " transposed" : "", DimsText(b.dims()),
                       transpose_b_ ? " transposed" : "");
    }
    Epilogue<Compute> epilogue;
    llvm::SmallVector<Tensor, 6> storage;
    if constexpr (std::is_floating_point_v<Compute>) {
      ASSIGN_OR_RETURN(epilogue,
                       MakeEpilogue<Compute>(ctx, fused_, shape.n, {shape.m, shape.n}, storage));
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {shape.m, shape.n}));
    if constexpr (std::is_same_v<T, Compute>) {
      // If b is constant, the runner holds its value, and the input tensor may have no memory.
      return runner_.Run(ctx, shape, a.data<T>(), b.buffer() ? b.data<T>() : nullptr,
                         out->data<T>(), epilogue);
    } else {
      ASSIGN_OR_RETURN(Tensor wide_a, Widened(ctx, a));
      ASSIGN_OR_RETURN(Tensor wide_b, Widened(ctx, b));
      ASSIGN_OR_RETURN(Tensor result, ctx.Scratch(proto::DT_FLOAT, {shape.m, shape.n}));
      RETURN_IF_ERROR(runner_.Run(ctx, shape, wide_a.data<float>(), wide_b.data<float>(),
                                  result.data<float>(), epilogue));
      NarrowInto(ctx, result.data<float>(), *out);
      return Error::success();
    }
  }

 private:
  bool transpose_a_, transpose_b_;
  FusedOps fused_;
  MatMulRunner<Compute> runner_;
};

Expected<KernelFn> MakeMatMul(const KernelSetup& setup) {
  FusedOps fused;
  if (setup.num_inputs() > 2 || setup.node().FindAttr("fused_ops")) {
    ASSIGN_OR_RETURN(fused, ReadFusedOps(setup));
    if (fused.batch_norm) return MakeError("there is no matrix product fused with FusedBatchNorm");
  }
  KernelFn fn;
  ForType(setup.output_type(0), MatMulTypes(), [&](auto tag) {
    fn = MatMulKernel<typename decltype(tag)::type>(setup, fused);
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("MatMul", MakeMatMul, OfTypes("T", DataTypesOf(MatMulTypes())),
                   KernelCost::kWide, Keeps(1));
GRAPNEL_CPU_KERNEL("_FusedMatMul", MakeMatMul, OfTypes("T", DataTypesOf(FloatTypes())),
                   KernelCost::kWide, Keeps(1));

}  // namespace
}  // namespace grapnel
