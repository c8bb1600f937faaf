// Ops that TensorFlow's debugger passes over: calls, Identity and control flow only hand values on.
#ifndef GRAPNEL_LIB_WATCH_DEBUGGER_SKIPS_H_
#define GRAPNEL_LIB_WATCH_DEBUGGER_SKIPS_H_

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// TensorFlow 2.21's list of op callbacks, and the same ops on references.
bool IsSkippedByDebugger(llvm::StringRef op_type);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_DEBUGGER_SKIPS_H_
