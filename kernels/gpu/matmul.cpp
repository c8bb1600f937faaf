// MatMul, _FusedMatMul and BatchMatMulV2 through cuBLASLt.
#include <cstring>

#include "kernels/gpu/fused.h"

namespace grapnel {
namespace {

GrapnelCudaMatMul EmptySpec(DataType dtype) {
  GrapnelCudaMatMul spec;
  std::memset(&spec, 0, sizeof spec);
  spec.type = CudaType(dtype);
  spec.a_batch = spec.b_batch = 1;
  return spec;
}

// Sets the sizes from the last two dimensions; the error shows both shapes.
Error SetSizes(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b,
               GrapnelCudaMatMul& spec) {
  llvm::ArrayRef<int64_t> left = a.dims().take_back(2), right = b.dims().take_back(2);
  spec.transpose_a = transpose_a;
  spec.transpose_b = transpose_b;
  spec.m = left[transpose_a ? 1 : 0];
  spec.k = left[transpose_a ? 0 : 1];
  spec.n = right[transpose_b ? 0 : 1];
  if (spec.k == right[transpose_b ? 1 : 0]) return Error::success();
  return MakeError("matrix sizes do not fit: {0}{1} x {2}{3}", DimsText(a.dims()),
                   transpose_a ? " transposed" : "", DimsText(b.dims()),
                   transpose_b ? " transposed" : "");
}

Expected<KernelFn> MakeMatMul(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(GpuFusion fused, ReadGpuFusion(setup));
  bool transpose_a = setup.node().GetBool("transpose_a"),
       transpose_b = setup.node().GetBool("transpose_b");
  return KernelFn([=](KernelContext& ctx) -> Error {
    const Tensor &a = ctx.input(0), &b = ctx.input(1);
    if (a.rank() != 2 || b.rank() != 2) {
      return MakeError("a matrix product needs two matrices, got shapes {0} and {1}",
                       DimsText(a.dims()), DimsText(b.dims()));
    }
    GrapnelCudaMatMul spec = EmptySpec(a.dtype());
    RETURN_IF_ERROR(SetSizes(a, b, transpose_a, transpose_b, spec));
    spec.activation = fused.activation;
    spec.alpha = fused.alpha;
    RETURN_IF_ERROR(CheckFusedBias(ctx, fused, spec.n));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {spec.m, spec.n}));
    const void* bias = fused.bias ? ctx.input(2).device_data() : nullptr;
    return Queue(ctx, &GrapnelCudaApi::matmul, &spec, out->device_data(), a.device_data(),
                 b.device_data(), bias);
  });
}

Expected<KernelFn> MakeBatchMatMul(const KernelSetup& setup) {
  bool adj_a = setup.node().GetBool("adj_x"), adj_b = setup.node().GetBool("adj_y");
  return KernelFn([=](KernelContext& ctx) -> Error {
    const Tensor &a = ctx.input(0), &b = ctx.input(1);
    if (a.rank() < 2 || b.rank() < 2) {
      return MakeError("a matrix product needs matrices, got shapes {0} and {1}",
                       DimsText(a.dims()), DimsText(b.dims()));
    }
    GrapnelCudaMatMul spec = EmptySpec(a.dtype());
    RETURN_IF_ERROR(SetSizes(a, b, adj_a, adj_b, spec));
    llvm::ArrayRef<int64_t> a_batch = a.dims().drop_back(2), b_batch = b.dims().drop_back(2);
    Dims dims(std::max(a_batch.size(), b_batch.size()), 1);
    for (llvm::ArrayRef<int64_t> side : {a_batch, b_batch}) {
      for (size_t i = 0; i < side.size(); ++i) {
        int64_t& dim = dims[dims.size() - side.size() + i];
        if (side[i] != dim && side[i] != 1 && dim != 1) {
          return MakeError("the batch dimensions of the shapes {0} and {1} do not broadcast",
                           DimsText(a.dims()), DimsText(b.dims()));
        }
        if (side[i] != 1) dim = side[i];
      }
    }
    // One call if each operand is a single matrix or has a matrix for each product; otherwise one
    // call per product, which steps along the batch as a broadcast operand does.
    int64_t total = *NumElements(dims), a_count = *NumElements(a_batch),
            b_count = *NumElements(b_batch);
    Dims batch = dims;
    dims.append({spec.m, spec.n});
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if (out->num_elements() == 0) return Error::success();
    bool at_once = (a_count == total || a_count == 1) && (b_count == total || b_count == 1);
    if (at_once) {
      spec.a_batch = a_count;
      spec.b_batch = b_count;
      return Queue(ctx, &GrapnelCudaApi::matmul, &spec, out->device_data(), a.device_data(),
                   b.device_data(), static_cast<const void*>(nullptr));
    }
    auto matrix = [&](llvm::ArrayRef<int64_t> side, int64_t i) {
      int64_t at = 0, stride = 1;
      for (int d = static_cast<int>(batch.size()) - 1; d >= 0; --d) {
        int own = d - static_cast<int>(batch.size() - side.size());
        int64_t index = i % batch[d];
        i /= batch[d];
        if (own < 0) break;
        if (side[own] != 1) at += index * stride;
        stride *= side[own];
      }
      return at;
    };
    for (int64_t i = 0; i < total; ++i) {
      RETURN_IF_ERROR(Queue(
          ctx, &GrapnelCudaApi::matmul, &spec, DeviceAt(*out, i * spec.m * spec.n),
          DeviceAt(a, matrix(a_batch, i) * spec.m * spec.k),
          DeviceAt(b, matrix(b_batch, i) * spec.k * spec.n), static_cast<const void*>(nullptr)));
    }
    return Error::success();
  });
}

GRAPNEL_GPU_KERNEL("MatMul", MakeMatMul, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("_FusedMatMul", MakeMatMul, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("BatchMatMulV2", MakeBatchMatMul, OfTypes("T", GpuFloats()));

}  // namespace
}  // namespace grapnel
