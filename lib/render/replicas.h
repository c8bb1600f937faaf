// Recognizes the scopes of a data-parallel model's copies by their names.
#ifndef GRAPNEL_LIB_RENDER_REPLICAS_H_
#define GRAPNEL_LIB_RENDER_REPLICAS_H_

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// True if the last component of a scope's path is a name that programs give to one of several
// copies of a model: "replica_1" (MirroredStrategy, multi_gpu_model), "tower_0" and "tower0"
// (multi-GPU programs of TF1, tensorpack), "clone_1" (slim), "parallel_0" (tensor2tensor), "gpu_2",
// "device_0", "worker_3"; with further numbers too, which TensorFlow appends to a name that is
// taken ("replica_1_2"). Copies exchange gradients: data flows out of each copy and back into it.
bool IsReplica(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_REPLICAS_H_
