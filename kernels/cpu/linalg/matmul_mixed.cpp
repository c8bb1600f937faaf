// SparseMatMul: a product of two dense matrices that may contain many zeros, of float, bfloat16 or
// one of each.
#include "kernels/common/fused_ops.h"
#include "kernels/cpu/linalg/gemm.h"

namespace grapnel {
namespace {

class MixedMatMul {
 public:
  explicit MixedMatMul(const Node& node)
      : transpose_a_(node.GetBool("transpose_a")), transpose_b_(node.GetBool("transpose_b")) {}

  Error operator()(KernelContext& ctx) const {
    if (ctx.input(0).rank() != 2 || ctx.input(1).rank() != 2)
      return MakeError("a matrix product needs two matrices, got shapes {0} and {1}",
                       DimsText(ctx.input(0).dims()), DimsText(ctx.input(1).dims()));
    ASSIGN_OR_RETURN(Tensor a, InFloats(ctx, ctx.input(0)));
    ASSIGN_OR_RETURN(Tensor b, InFloats(ctx, ctx.input(1)));
    BatchedShape shape;
    shape.m = a.dim(transpose_a_ ? 1 : 0);
    shape.n = b.dim(transpose_b_ ? 0 : 1);
    shape.k = a.dim(transpose_a_ ? 0 : 1);
    shape.transpose_a = transpose_a_;
    shape.transpose_b = transpose_b_;
    if (shape.k != b.dim(transpose_b_ ? 1 : 0))
      return MakeError("the inner dimensions of shapes {0}{1} and {2}{3} differ",
                       DimsText(a.dims()), transpose_a_ ? " transposed" : "", DimsText(b.dims()),
                       transpose_b_ ? " transposed" : "");
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {shape.m, shape.n}));
    return runner_.Run(ctx, shape, a.data<float>(), b.data<float>(), out->data<float>(),
                       Epilogue<float>());
  }

 private:
  static Expected<Tensor> InFloats(KernelContext& ctx, const Tensor& tensor) {
    if (tensor.dtype() == proto::DT_FLOAT) return tensor;
    return Widened(ctx, tensor);
  }

  bool transpose_a_, transpose_b_;
  MatMulRunner<float> runner_;
};

Expected<KernelFn> MakeMixed(const KernelSetup& setup) {
  for (int i = 0; i < 2; ++i) {
    DataType type = setup.input_type(i);
    if (type != proto::DT_FLOAT && type != proto::DT_BFLOAT16)
      return MakeError("an operand has dtype {0}: expected float or bfloat16", DataTypeName(type));
  }
  return KernelFn(MixedMatMul(setup.node()));
}

GRAPNEL_CPU_KERNEL("SparseMatMul", MakeMixed, KernelCost::kWide);

}  // namespace
}  // namespace grapnel
