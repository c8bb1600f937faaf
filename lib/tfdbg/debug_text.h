// Debug folders, for people and for programs.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_TEXT_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_TEXT_H_

#include "lib/tfdbg/debug_folder.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// What a folder holds: runs, their functions and devices, how many records of each kind. `all`: no
// list is cut short. `count_bad` says how many tensors of a run hold NaN or infinity.
void WriteDebugFolderText(const DebugFolder& folder, bool all,
                          llvm::function_ref<size_t(const DebugRun&)> count_bad,
                          llvm::raw_ostream& os);
// The same and every record, as attributes of an object that is open: graphs with their ops,
// executions, traces, sources, stack frames.
void WriteDebugFolderJson(const DebugFolder& folder, llvm::json::OStream& json);

// {"text": "float, 160 elements: ...", "bad", "elements", "nan", ...}: what was recorded of one.
void WriteRecordedTensorJson(const RecordedTensor& tensor, llvm::json::OStream& json);
// "Mul"; of a call the function's name.
llvm::StringRef ExecutionLabel(const DebugRun& run, const DebugExecution& execution);

// "2026-11-21 03:18:16 UTC"; "" for 0.
std::string TimeText(double seconds_since_1970);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_TEXT_H_
