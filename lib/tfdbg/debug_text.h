// Writes debug folders as text or as JSON.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_TEXT_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_TEXT_H_

#include "lib/tfdbg/debug_folder.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes a summary of a folder: its runs, their functions and devices, and the number of records of
// each kind. With `all`, lists are not shortened. `count_bad` returns the number of tensors of a
// run that have a NaN or an infinity.
void WriteDebugFolderText(const DebugFolder& folder, bool all,
                          llvm::function_ref<size_t(const DebugRun&)> count_bad,
                          llvm::raw_ostream& os);
// Writes the summary and every record (graphs with their ops, executions, traces, sources, stack
// frames) as attributes of the JSON object that is open.
void WriteDebugFolderJson(const DebugFolder& folder, llvm::json::OStream& json);

// Writes the record of one tensor: {"text": "float 2-D, 160 elements: ...", "bad", "elements",
// "nan", ...}.
void WriteRecordedTensorJson(const RecordedTensor& tensor, llvm::json::OStream& json);
// Returns the op type of an execution, such as "Mul"; for a call, the function's name.
llvm::StringRef ExecutionLabel(const DebugRun& run, const DebugExecution& execution);

// Returns "2026-11-21 03:18:16 UTC"; "" for a time up to 0, or thousands of years from now.
std::string TimeText(double seconds_since_1970);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_TEXT_H_
