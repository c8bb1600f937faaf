// Writes debug folders as text or as JSON.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_TEXT_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_TEXT_H_

#include "lib/tfdbg/debug_folder.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes the contents of a folder: runs, their functions and devices, the number of records of each
// kind. `all`: does not shorten lists. `count_bad` returns how many tensors of a run hold NaN or
// infinity.
void WriteDebugFolderText(const DebugFolder& folder, bool all,
                          llvm::function_ref<size_t(const DebugRun&)> count_bad,
                          llvm::raw_ostream& os);
// Writes the same and every record, as attributes of an open object: graphs with their ops,
// executions, traces, sources, stack frames.
void WriteDebugFolderJson(const DebugFolder& folder, llvm::json::OStream& json);

// Writes the record of one tensor: {"text": "float, 160 elements: ...", "bad", "elements", "nan",
// ...}.
void WriteRecordedTensorJson(const RecordedTensor& tensor, llvm::json::OStream& json);
// Returns "Mul"; for a call the function's name.
llvm::StringRef ExecutionLabel(const DebugRun& run, const DebugExecution& execution);

// Returns "2026-11-21 03:18:16 UTC"; "" for 0.
std::string TimeText(double seconds_since_1970);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_TEXT_H_
