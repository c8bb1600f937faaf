// The ops that may work in half precision: TensorFlow's four lists, as data.
#ifndef GRAPNEL_PASSES_AUTO_MIXED_PRECISION_LISTS_H_
#define GRAPNEL_PASSES_AUTO_MIXED_PRECISION_LISTS_H_

#include "lib/ir/types.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel::auto_mixed_precision {

enum class Mode {
  kCuda,  // half on GPUs
  kCpu,   // half on the CPU, emulated: values are rounded to half, ops compute in float
  kBf16,  // bfloat16 on the CPU, with oneDNN's kernels
};

struct OpLists {
  llvm::StringSet<> allow;  // safe and profitable: converted if the op takes half
  llvm::StringSet<> infer;  // safe unless a denied op leads to them through infer and clear ops
  llvm::StringSet<> deny;   // unsafe, and so are the infer ops after them, up to an allowed op
  llvm::StringSet<> clear;  // no numeric effect: converted with their neighbors
};
OpLists ListsFor(Mode mode);

// False for the ops in the lists that have no half kernel on the CPU, if `type` is half; true in
// all other cases.
bool HasCpuKernel(llvm::StringRef op, DataType type);

}  // namespace grapnel::auto_mixed_precision

#endif  // GRAPNEL_PASSES_AUTO_MIXED_PRECISION_LISTS_H_
