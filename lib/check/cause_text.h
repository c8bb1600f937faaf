// The first cause of what went wrong in a run, for people and for programs.
#ifndef GRAPNEL_LIB_CHECK_CAUSE_TEXT_H_
#define GRAPNEL_LIB_CHECK_CAUSE_TEXT_H_

#include <string>

#include "lib/check/first_cause.h"
#include "lib/tfdbg/debug_text.h"

namespace grapnel {

// The first cause of one run: a sentence, the source line with five lines around it, the op's
// output and inputs, and what came of it.
void WriteBlameText(const DebugRun& run, const BlameReport& report, llvm::raw_ostream& os);
// The card of one tensor: its sentence, source line, output and inputs.
void WriteCauseText(const DebugRun& run, const Cause& cause, llvm::raw_ostream& os);
// The same as attributes of an object that is open.
void WriteCauseFields(const DebugRun& run, const Cause& cause, llvm::json::OStream& json);
// The object: what "first_bad" below is.
void WriteCauseJson(const DebugRun& run, const Cause& cause, llvm::json::OStream& json);
// "first_bad": {...} or null, "first_any": the same, "can_tell", "alerts", "consequences",
// "bad_tensors": [...], "causes": [...], as fields of an object that is open.
void WriteBlameJson(const DebugRun& run, const BlameReport& report, llvm::json::OStream& json);

// "mul:0"; of an execution its op's type instead of a name.
std::string AlertName(const DebugRun& run, const DebugAlert& alert);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_CAUSE_TEXT_H_
