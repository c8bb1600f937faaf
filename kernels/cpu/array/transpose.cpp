// Ops that reorder elements: Transpose, ConjugateTranspose, DepthToSpace, SpaceToDepth, and
// InvertPermutation.
#include "kernels/common/dispatch.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

void CopyPermuted(KernelContext& ctx, const Tensor& in, llvm::ArrayRef<int64_t> in_dims,
                  llvm::ArrayRef<int> perm, Tensor& out) {
  Dims in_strides = RowMajorStrides(in_dims), sizes, strides;
  for (int d : perm) {
    sizes.push_back(in_dims[d]);
    strides.push_back(in_strides[d]);
  }
  CopyStrided(ctx, in.dtype(), sizes, in.raw(), strides, out.raw(), RowMajorStrides(sizes));
}

void Conjugate(Tensor& tensor) {
  ForType(tensor.dtype(), ComplexTypes(), [&](auto tag) {
    auto* data = tensor.data<typename decltype(tag)::type>();
    for (int64_t i = 0; i < tensor.num_elements(); ++i) data[i] = std::conj(data[i]);
    return true;
  });
}

Error Transpose(KernelContext& ctx, bool conjugate) {
  const Tensor &in = ctx.input(0), &perm_tensor = ctx.input(1);
  if (perm_tensor.rank() != 1 || perm_tensor.num_elements() != in.rank()) {
    return MakeError("the permutation must be a vector of {0} elements, got shape {1}", in.rank(),
                     DimsText(perm_tensor.dims()));
  }
  llvm::SmallVector<int, 8> perm;
  llvm::SmallVector<bool, 8> seen(in.rank(), false);
  Dims dims;
  bool same_order = true;  // for dimensions of more than one element
  int last = -1;
  for (int i = 0; i < in.rank(); ++i) {
    ASSIGN_OR_RETURN(int d, AxisIn(perm_tensor.IntAt(i), in.rank()));
    if (seen[d])
      return MakeError("axis {0} occurs twice in the permutation {1}", d,
                       IntsText(IntsOf(perm_tensor)));
    seen[d] = true;
    perm.push_back(d);
    dims.push_back(in.dim(d));
    if (in.dim(d) == 1) continue;
    same_order &= d > last;
    last = d;
  }
  conjugate &= IsComplex(in.dtype());
  if (same_order && !conjugate) {
    ctx.SetOutput(0, in.Reshaped(dims));
    return Error::success();
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  CopyPermuted(ctx, in, in.dims(), perm, *out);
  if (conjugate) Conjugate(*out);
  return Error::success();
}

Expected<KernelFn> MakeTranspose(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) { return Transpose(ctx, false); });
}
Expected<KernelFn> MakeConjugateTranspose(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) { return Transpose(ctx, true); });
}

// DepthToSpace and SpaceToDepth are both a transpose of the input viewed in six dimensions: the
// image is divided into blocks of b x b, and the two indices within a block move between space and
// depth.
Expected<KernelFn> MakeDepthSpace(const KernelSetup& setup, bool to_space) {
  int64_t b = setup.node().GetInt("block_size");
  std::string format = setup.node().GetString("data_format", "NHWC");
  if (b < 2) return MakeError("block_size must be at least 2, got {0}", b);
  if (format != "NHWC" && format != "NCHW")
    return MakeError("data_format {0} is not supported on CPU", format);
  bool nhwc = format == "NHWC";
  return KernelFn([b, nhwc, to_space](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (in.rank() != 4)
      return MakeError("input must have 4 dimensions, got shape {0}", DimsText(in.dims()));
    int64_t n = in.dim(0), h = in.dim(nhwc ? 1 : 2), w = in.dim(nhwc ? 2 : 3),
            c = in.dim(nhwc ? 3 : 1);
    if (to_space ? c % (b * b) != 0 : h % b != 0 || w % b != 0) {
      return MakeError(
          "shape {0} does not fit blocks of {1} x {1}: DepthToSpace needs a depth divisible by {1} "
          "* {1}, SpaceToDepth a height and a width divisible by {1}",
          DimsText(in.dims()), b);
    }
    Dims six, dims;
    llvm::SmallVector<int, 6> perm;
    if (to_space) {
      int64_t depth = c / (b * b);
      six = nhwc ? Dims{n, h, w, b, b, depth} : Dims{n, b, b, depth, h, w};
      perm = nhwc ? decltype(perm){0, 1, 3, 2, 4, 5} : decltype(perm){0, 3, 4, 1, 5, 2};
      dims = nhwc ? Dims{n, h * b, w * b, depth} : Dims{n, depth, h * b, w * b};
    } else {
      six = nhwc ? Dims{n, h / b, b, w / b, b, c} : Dims{n, c, h / b, b, w / b, b};
      perm = nhwc ? decltype(perm){0, 1, 3, 2, 4, 5} : decltype(perm){0, 3, 5, 1, 2, 4};
      dims = nhwc ? Dims{n, h / b, w / b, c * b * b} : Dims{n, c * b * b, h / b, w / b};
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    CopyPermuted(ctx, in, six, perm, *out);
    return Error::success();
  });
}
Expected<KernelFn> MakeDepthToSpace(const KernelSetup& setup) {
  return MakeDepthSpace(setup, true);
}
Expected<KernelFn> MakeSpaceToDepth(const KernelSetup& setup) {
  return MakeDepthSpace(setup, false);
}

Error InvertPermutation(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.rank() != 1)
    return MakeError("a permutation must be a vector, got shape {0}", DimsText(in.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  int64_t n = in.num_elements();
  llvm::SmallVector<bool, 16> seen(n, false);
  for (int64_t i = 0; i < n; ++i) {
    int64_t to = in.IntAt(i);
    if (to < 0 || to >= n)
      return MakeError("{0} is not in [0, {1}), the positions of a permutation", to, n);
    if (seen[to]) return MakeError("{0} is duplicated in the input", to);
    seen[to] = true;
    if (out->dtype() == proto::DT_INT64)
      out->data<int64_t>()[to] = i;
    else
      out->data<int32_t>()[to] = static_cast<int32_t>(i);
  }
  return Error::success();
}
Expected<KernelFn> MakeInvertPermutation(const KernelSetup&) { return KernelFn(InvertPermutation); }

GRAPNEL_CPU_KERNEL("Transpose", MakeTranspose);
GRAPNEL_CPU_KERNEL("ConjugateTranspose", MakeConjugateTranspose);
GRAPNEL_CPU_KERNEL("DepthToSpace", MakeDepthToSpace);
GRAPNEL_CPU_KERNEL("SpaceToDepth", MakeSpaceToDepth);
GRAPNEL_CPU_KERNEL("InvertPermutation", MakeInvertPermutation);

}  // namespace
}  // namespace grapnel
