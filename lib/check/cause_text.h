// Writes the causes of NaN and infinity in a recorded run as text or as JSON.
#ifndef GRAPNEL_LIB_CHECK_CAUSE_TEXT_H_
#define GRAPNEL_LIB_CHECK_CAUSE_TEXT_H_

#include <string>

#include "lib/check/first_cause.h"
#include "lib/tfdbg/debug_text.h"

namespace grapnel {

// How many lines of source are shown before and after the one that made a tensor.
constexpr int kSourceLinesAround = 5;

// Writes the first cause of a run (WriteCauseText), its consequences and the other causes; a
// sentence if there is no cause, or if the records cannot tell.
void WriteBlameText(const DebugRun& run, const BlameReport& report, llvm::raw_ostream& os);
// Writes the description of one tensor: the sentence, the source line with five lines before and
// after it, the op's output and inputs, and Cause::also. Says so if the source was not recorded.
void WriteCauseText(const DebugRun& run, const Cause& cause, llvm::raw_ostream& os);
// Writes the description of one tensor as attributes of the JSON object that is open.
void WriteCauseFields(const DebugRun& run, const Cause& cause, llvm::json::OStream& json);
// Writes the description of one tensor as a JSON object, like "first_bad" below.
void WriteCauseJson(const DebugRun& run, const Cause& cause, llvm::json::OStream& json);
// Writes "first_bad": {...} or null, "first_any" (like "first_bad"), "can_tell", "alerts",
// "consequences", "bad_tensors": [...], "causes": [...], as attributes of the JSON object that is
// open.
void WriteBlameJson(const DebugRun& run, const BlameReport& report, llvm::json::OStream& json);

// Returns the name of a bad tensor: "mul:0"; for an eager op or call, which has no name, the op's
// type: "Mul:0".
std::string AlertName(const DebugRun& run, const DebugAlert& alert);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_CAUSE_TEXT_H_
