// Shared code of the GPU kernels: calls into the CUDA module, walks over operands, dtypes.
#ifndef GRAPNEL_KERNELS_GPU_GPU_KERNEL_H_
#define GRAPNEL_KERNELS_GPU_GPU_KERNEL_H_

#include <vector>

#include "kernels/gpu/cuda_device.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// The dtypes of most kernels. Integers stay on the CPU: nearly all of them are shapes and indices,
// which the CPU needs.
inline const std::vector<DataType>& GpuFloats() {
  static const std::vector<DataType> types = {proto::DT_FLOAT, proto::DT_DOUBLE, proto::DT_HALF,
                                              proto::DT_BFLOAT16};
  return types;
}
// The dtypes of kernels that only move elements.
inline const std::vector<DataType>& GpuMovable() {
  static const std::vector<DataType> types = {proto::DT_FLOAT,    proto::DT_DOUBLE, proto::DT_HALF,
                                              proto::DT_BFLOAT16, proto::DT_BOOL,   proto::DT_UINT8,
                                              proto::DT_INT8};
  return types;
}

inline GrapnelCudaType CudaType(DataType dtype) { return static_cast<GrapnelCudaType>(dtype); }

// Queues a function of the table on the kernel's stream, as in Queue(ctx, &GrapnelCudaApi::fill,
// ...).
template <typename Fn, typename... Args>
Error Queue(KernelContext& ctx, Fn GrapnelCudaApi::*fn, Args... args) {
  return static_cast<CudaStream*>(ctx.stream())->Call(fn, args...);
}

// Returns a walk over `dims` with one list of strides per operand, in elements. Merges dimensions
// that all operands traverse alike. Fails if more than GRAPNEL_CUDA_MAX_RANK remain.
Expected<GrapnelCudaWalk> MakeWalk(llvm::ArrayRef<int64_t> dims,
                                   llvm::ArrayRef<llvm::ArrayRef<int64_t>> strides);

// to[sum of i_d * to_strides[d]] = from[sum of i_d * from_strides[d]], in elements.
Error QueueCopy(KernelContext& ctx, DataType dtype, llvm::ArrayRef<int64_t> sizes, const void* from,
                llvm::ArrayRef<int64_t> from_strides, void* to, llvm::ArrayRef<int64_t> to_strides);

Error QueueFill(KernelContext& ctx, Tensor& tensor, double value);

// Returns the strides, in elements, of a dense row-major tensor.
Dims DenseStrides(llvm::ArrayRef<int64_t> dims);

inline const void* DeviceAt(const Tensor& tensor, int64_t element) {
  return static_cast<const char*>(tensor.device_data()) +
         element * static_cast<int64_t>(DataTypeSize(tensor.dtype()));
}
inline void* DeviceAt(Tensor& tensor, int64_t element) {
  return static_cast<char*>(tensor.device_data()) +
         element * static_cast<int64_t>(DataTypeSize(tensor.dtype()));
}

#define GRAPNEL_GPU_KERNEL(op, ...) GRAPNEL_KERNEL(op, "GPU", __VA_ARGS__, KernelCost::kCheap)

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_GPU_GPU_KERNEL_H_
