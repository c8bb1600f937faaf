// Reads folders of the first version of TensorFlow's debugger (tfdbg v1, DumpingDebugWrapperSession
// and similar classes), which have a file for each dumped tensor, and the graphs of the partitions
// that ran.
#ifndef GRAPNEL_LIB_TFDBG_V1_DUMP_H_
#define GRAPNEL_LIB_TFDBG_V1_DUMP_H_

#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

constexpr llvm::StringLiteral kV1 = "tfdbg v1";  // the DebugRun::file_version of these folders

// True if a folder is the dump of a session's run, or contains such folders
// ("run_1795232485431360_0").
bool IsV1Dump(llvm::StringRef path);

// Reads all dumps as one DebugRun. Each call of Session::run becomes an execution, in order; its
// graph (the partitions of all devices joined, without the debugger's nodes) becomes a function's
// body; a dumped tensor becomes a trace, with the iteration if a loop dumped it several times; of
// dumps by several debug ops, only the most detailed. Damaged files are reported in
// DebugFolder::problems. Cost: linear in the bytes of the files.
Expected<DebugFolder> ReadV1Dump(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_V1_DUMP_H_
