// The ops that TensorFlow's debugger skips: mostly calls, Identity and control flow, which only
// forward values.
#ifndef GRAPNEL_LIB_WATCH_DEBUGGER_SKIPS_H_
#define GRAPNEL_LIB_WATCH_DEBUGGER_SKIPS_H_

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// True for the ops that TensorFlow 2.21 excludes from op callbacks, and their variants for
// references.
bool IsSkippedByDebugger(llvm::StringRef op_type);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_DEBUGGER_SKIPS_H_
