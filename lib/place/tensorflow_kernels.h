// TensorFlow's kernels as a catalog.
//
// The data is lib/place/tensorflow_kernels*.txt, made by scripts/make_kernel_table.py from the
// registries of PyPI's CUDA builds and embedded unchanged. Each line is an op, sorted by name,
// followed by its kernels:
//   line    Op KERNEL(field field ...) KERNEL(...)     KERNEL is CPU, GPU or DEFAULT
//   field   attr=value|value     the attribute is one of these values, or a list of them: dtypes,
//                                strings in double quotes, integers, true and false
//           host:arg|arg         these arguments are in the host's memory
//           label:text           for nodes whose attribute _kernel is `text`
//           priority:number      the kernel's priority, if not 0
// The table of an older version has only the ops that differ from the next newer version. An op
// without kernels has a line with only its name.
#ifndef GRAPNEL_LIB_PLACE_TENSORFLOW_KERNELS_H_
#define GRAPNEL_LIB_PLACE_TENSORFLOW_KERNELS_H_

#include <memory>

#include "lib/place/kernel_catalog.h"

namespace grapnel {

enum class TensorFlowVersion { k2_21, k2_16, k2_13 };

// An op's line is parsed when the op is first looked up.
std::unique_ptr<KernelCatalog> MakeTensorFlowKernels(
    TensorFlowVersion version = TensorFlowVersion::k2_21);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_TENSORFLOW_KERNELS_H_
