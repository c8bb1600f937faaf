// Whether passes and kernels imitate TensorFlow with or without oneDNN. TensorFlow's CPU build
// contains both optimizers: the one with oneDNN fuses more ops, and TensorFlow without oneDNN
// cannot run some of the resulting graphs. With oneDNN, some ops on quantized tensors round
// differently.
#ifndef GRAPNEL_LIB_SUPPORT_ONEDNN_H_
#define GRAPNEL_LIB_SUPPORT_ONEDNN_H_

#include <optional>

#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The user's choice of the TensorFlow to imitate.
enum class OneDnn {
  kAuto,  // as TensorFlow would decide in this process: see UsesOneDnn
  kOn,
  kOff,
};

// Parses "auto", "on" or "off"; nullopt for any other word.
GRAPNEL_PUBLIC std::optional<OneDnn> ParseOneDnn(llvm::StringRef word);

// Returns whether to imitate oneDNN. Decides kAuto as TensorFlow 2.21 does on Linux: by
// TF_ENABLE_ONEDNN_OPTS if that is 0, 1, true or false; otherwise oneDNN is on if the processor has
// AVX512-VNNI, AVX512-BF16, AVX-VNNI or AMX.
GRAPNEL_PUBLIC bool UsesOneDnn(OneDnn choice);

inline const char* OneDnnWord(bool on) { return on ? "on" : "off"; }

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_ONEDNN_H_
