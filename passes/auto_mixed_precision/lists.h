// Which ops may work in half precision: TensorFlow's four lists, as data.
#ifndef GRAPNEL_PASSES_AUTO_MIXED_PRECISION_LISTS_H_
#define GRAPNEL_PASSES_AUTO_MIXED_PRECISION_LISTS_H_

#include "lib/ir/types.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel::auto_mixed_precision {

enum class Mode {
  kCuda,  // half on GPUs
  kCpu,   // half on the CPU, emulated: values are rounded to half, ops work in float
  kBf16,  // bfloat16 on the CPU, in oneDNN's kernels
};

struct OpLists {
  llvm::StringSet<> allow;  // safe and worth it: always converted
  llvm::StringSet<> infer;  // safe unless something dangerous is upstream
  llvm::StringSet<> deny;   // dangerous, and so is what follows
  llvm::StringSet<> clear;  // no numerics: converted when a neighbor is
};
OpLists ListsFor(Mode mode);

// Whether the CPU has a kernel of the op in `type`, which the op's definition
// allows.
bool HasCpuKernel(llvm::StringRef op, DataType type);

}  // namespace grapnel::auto_mixed_precision

#endif  // GRAPNEL_PASSES_AUTO_MIXED_PRECISION_LISTS_H_
