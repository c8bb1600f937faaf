// Formats a comparison of two runs as text and as JSON.
#ifndef GRAPNEL_LIB_JOB_COMPARE_TEXT_H_
#define GRAPNEL_LIB_JOB_COMPARE_TEXT_H_

#include "lib/job/compare.h"
#include "lib/job/precision.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

void WriteComparisonText(const RunComparison& comparison, llvm::raw_ostream& os);
// Writes fields into the open JSON object: "verdict" ("agree", "fault", "rounding"), "first",
// "first_diverged" and "growth" (each an object or null), "worst", "fetches", counts and failures.
void WriteComparisonJson(const RunComparison& comparison, llvm::json::OStream& json);

void WritePrecisionText(const PrecisionReport& report, llvm::raw_ostream& os);
// Writes fields into the open JSON object: "precision", "agrees", "rtol", "tensors", "failure",
// "losses", "keep", "readers", "all_rounded", "with_kept".
void WritePrecisionJson(const PrecisionReport& report, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_COMPARE_TEXT_H_
