// Kernels that read the dimensions of their data inputs but not the elements, so that they are the
// same on every device. They read and write shapes and axes in host memory.
#ifndef GRAPNEL_KERNELS_COMMON_SHAPE_KERNELS_H_
#define GRAPNEL_KERNELS_COMMON_SHAPE_KERNELS_H_

#include "lib/exec/kernel.h"

namespace grapnel {

Expected<KernelFn> MakeShape(const KernelSetup&);  // also ShapeN
Expected<KernelFn> MakeSize(const KernelSetup&);
Expected<KernelFn> MakeRank(const KernelSetup&);
Expected<KernelFn> MakeReshape(const KernelSetup&);
Expected<KernelFn> MakeSqueeze(const KernelSetup&);
Expected<KernelFn> MakeExpandDims(const KernelSetup&);

// Sets output 0 to input 0 with the dimensions in input 1, of which one may be -1: inferred.
Error Reshape(KernelContext& ctx);
// Writes the vector `values` to an output of int32 or int64. Fails on a value that does not fit.
Error PutInts(KernelContext& ctx, int output, llvm::ArrayRef<int64_t> values);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_SHAPE_KERNELS_H_
