#include "kernels/gpu/gpu_kernel.h"

#include <cstring>

#include "Eigen/Core"

namespace grapnel {

Dims DenseStrides(llvm::ArrayRef<int64_t> dims) {
  Dims strides(dims.size(), 1);
  for (int d = static_cast<int>(dims.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * dims[d + 1];
  return strides;
}

Expected<GrapnelCudaWalk> MakeWalk(llvm::ArrayRef<int64_t> dims,
                                   llvm::ArrayRef<llvm::ArrayRef<int64_t>> strides) {
  GrapnelCudaWalk walk;
  std::memset(&walk, 0, sizeof walk);
  assert(strides.size() <= std::size(walk.strides));
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    int last = walk.rank - 1;
    bool merges = last >= 0;
    for (size_t k = 0; merges && k < strides.size(); ++k)
      merges = walk.strides[k][last] == strides[k][d] * dims[d];
    if (!merges) {
      if (walk.rank == GRAPNEL_CUDA_MAX_RANK) {
        return MakeError("{0} dimensions do not merge into {1}, the maximum rank of a GPU kernel",
                         dims.size(), GRAPNEL_CUDA_MAX_RANK);
      }
      last = walk.rank++;
      walk.sizes[last] = 1;
    }
    walk.sizes[last] *= dims[d];
    for (size_t k = 0; k < strides.size(); ++k) walk.strides[k][last] = strides[k][d];
  }
  return walk;
}

Error QueueCopy(KernelContext& ctx, DataType dtype, llvm::ArrayRef<int64_t> sizes, const void* from,
                llvm::ArrayRef<int64_t> from_strides, void* to,
                llvm::ArrayRef<int64_t> to_strides) {
  ASSIGN_OR_RETURN(GrapnelCudaWalk walk, MakeWalk(sizes, {from_strides, to_strides}));
  return Queue(ctx, &GrapnelCudaApi::copy_strided, to, from,
               static_cast<int32_t>(DataTypeSize(dtype)), &walk);
}

Error QueueFill(KernelContext& ctx, Tensor& tensor, double value) {
  auto fill = [&](auto element) {
    return Queue(ctx, &GrapnelCudaApi::fill, tensor.device_data(), tensor.num_elements(),
                 static_cast<int32_t>(sizeof element), static_cast<const void*>(&element));
  };
  switch (tensor.dtype()) {
    case proto::DT_FLOAT:
      return fill(static_cast<float>(value));
    case proto::DT_DOUBLE:
      return fill(value);
    case proto::DT_HALF:
      return fill(static_cast<Eigen::half>(static_cast<float>(value)));
    case proto::DT_BFLOAT16:
      return fill(static_cast<Eigen::bfloat16>(static_cast<float>(value)));
    case proto::DT_BOOL:
      return fill(value != 0);
    case proto::DT_INT8:
    case proto::DT_UINT8:
      return fill(static_cast<int8_t>(static_cast<int>(value)));
    default:
      return MakeError("cannot fill a tensor of {0} on the GPU", DataTypeName(tensor.dtype()));
  }
}

}  // namespace grapnel
