// Debug folders and what was found in them, for people and for programs.
#ifndef GRAPNEL_LIB_DEBUG_DEBUG_TEXT_H_
#define GRAPNEL_LIB_DEBUG_DEBUG_TEXT_H_

#include "lib/debug/first_cause.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// What a folder holds: runs, their functions and devices, how many records of each kind. `all`: no
// list is cut short.
void WriteDebugFolderText(const DebugFolder& folder, bool all, llvm::raw_ostream& os);
// The same and every record: graphs with their ops, executions, traces, sources, stack frames.
void WriteDebugFolderJson(const DebugFolder& folder, llvm::json::OStream& json);

// The first cause of one run: a sentence, the source line with five lines around it, the op's
// output and inputs, and what came of it.
void WriteBlameText(const DebugRun& run, const BlameReport& report, llvm::raw_ostream& os);
// The card of one tensor: its sentence, source line, output and inputs.
void WriteCauseText(const DebugRun& run, const Cause& cause, llvm::raw_ostream& os);
// The same as an object: what "first_bad" below is.
void WriteCauseJson(const DebugRun& run, const Cause& cause, llvm::json::OStream& json);
// "first_bad": {...} or null, "first_any": the same, "can_tell", "alerts", "consequences",
// "bad_tensors": [...], "causes": [...], as fields of an object that is open.
void WriteBlameJson(const DebugRun& run, const BlameReport& report, llvm::json::OStream& json);

// {"text": "float, 160 elements: ...", "bad", "elements", "nan", ...}: what was recorded of one.
void WriteRecordedTensorJson(const RecordedTensor& tensor, llvm::json::OStream& json);
// "Mul"; of a call the function's name.
llvm::StringRef ExecutionLabel(const DebugRun& run, const DebugExecution& execution);
// "mul:0"; of an execution its op's type instead of a name.
std::string AlertName(const DebugRun& run, const DebugAlert& alert);

// "2026-11-21 03:18:16 UTC"; "" for 0.
std::string TimeText(double seconds_since_1970);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DEBUG_DEBUG_TEXT_H_
