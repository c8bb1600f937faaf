// Folders that the first version of TensorFlow's debugger wrote (tfdbg v1,
// DumpingDebugWrapperSession and its like): a file a tensor, and the graphs of the partitions that
// ran.
#ifndef GRAPNEL_LIB_TFDBG_V1_DUMP_H_
#define GRAPNEL_LIB_TFDBG_V1_DUMP_H_

#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

constexpr llvm::StringLiteral kV1 = "tfdbg v1";  // DebugRun::file_version of what is read here

// Whether a folder holds the dump of a session's run, or such folders ("run_1795232485431360_0").
bool IsV1Dump(llvm::StringRef path);

// All of them as one run: each call of Session::run is an execution, in order; the graph that it
// ran, all its devices' parts together and without what the debugger put in, is a function's body;
// a tensor that was dumped is a trace, by iteration where a loop dumped it several times. What is
// damaged is a problem and no error. Cost: linear in the bytes of the files, one map a file.
Expected<DebugFolder> ReadV1Dump(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_V1_DUMP_H_
