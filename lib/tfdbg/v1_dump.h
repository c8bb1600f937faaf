// Reads folders of the first version of TensorFlow's debugger (tfdbg v1, DumpingDebugWrapperSession
// and its like): a file for each tensor, and the graphs of the partitions that ran.
#ifndef GRAPNEL_LIB_TFDBG_V1_DUMP_H_
#define GRAPNEL_LIB_TFDBG_V1_DUMP_H_

#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

constexpr llvm::StringLiteral kV1 = "tfdbg v1";  // the DebugRun::file_version of these folders

// True if a folder holds the dump of a session's run, or such folders ("run_1795232485431360_0").
bool IsV1Dump(llvm::StringRef path);

// Reads all of them as one run. Each call of Session::run is an execution, in order; its graph,
// with the parts of all devices joined and without the debugger's nodes, is a function's body; a
// dumped tensor is a trace, with the iteration if a loop dumped it several times. Damage is a
// problem but not an error. Cost: linear in the bytes of the files, one map for each file.
Expected<DebugFolder> ReadV1Dump(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_V1_DUMP_H_
