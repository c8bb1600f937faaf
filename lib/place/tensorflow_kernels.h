// The kernels of TensorFlow 2.21 as a catalogue.
//
// The facts are lib/place/tensorflow_kernels.txt, made by scripts/make_kernel_table.py and linked
// in as it is: CPU and DEFAULT kernels from the registry of the PyPI wheel, GPU kernels from the
// documentation. An op a line, sorted by name, its kernels one after the other:
//   line    Op KERNEL(field field ...) KERNEL(...)     KERNEL is CPU, GPU or DEFAULT
//   field   attr=dtype|dtype     the attribute is one of these, or a list of these
//           host=arg|arg         arguments in the host's memory
#ifndef GRAPNEL_LIB_PLACE_TENSORFLOW_KERNELS_H_
#define GRAPNEL_LIB_PLACE_TENSORFLOW_KERNELS_H_

#include <memory>

#include "lib/place/kernel_catalogue.h"

namespace grapnel {

// An op's line is read when the op is first asked for.
std::unique_ptr<KernelCatalogue> MakeTensorFlowKernels();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_TENSORFLOW_KERNELS_H_
