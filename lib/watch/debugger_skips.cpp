#include "lib/watch/debugger_skips.h"

#include "llvm/ADT/StringSwitch.h"

namespace grapnel {

bool IsSkippedByDebugger(llvm::StringRef op_type) {
  return llvm::StringSwitch<bool>(op_type)
      .Cases("Enter", "Exit", "Identity", "If", "LoopCond", "Merge", "NextIteration", true)
      .Cases("RefEnter", "RefExit", "RefMerge", "RefNextIteration", "RefSwitch", "RefIdentity",
             true)
      .Cases("StatelessIf", "StatefulPartitionedCall", "Switch", "While", "RemoteCall", true)
      .Cases("TPUReplicatedInput", "TPUReplicateMetadata", "TPUCompilationResult", true)
      .Cases("TPUReplicatedOutput", "ConfigureDistributedTPU", "DestroyResourceOp", true)
      .Default(false);
}

}  // namespace grapnel
