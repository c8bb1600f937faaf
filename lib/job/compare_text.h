// What a comparison of two runs says, for people and for programs.
#ifndef GRAPNEL_LIB_JOB_COMPARE_TEXT_H_
#define GRAPNEL_LIB_JOB_COMPARE_TEXT_H_

#include "lib/job/compare.h"
#include "lib/job/precision.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

void WriteComparisonText(const RunComparison& comparison, llvm::raw_ostream& os);
// "verdict" ("agree", "fault", "rounding"), "first", "first_diverged" (an object or null), "worst",
// "growth", "fetches", counts and failures; as fields of an object that is open.
void WriteComparisonJson(const RunComparison& comparison, llvm::json::OStream& json);

void WritePrecisionText(const PrecisionReport& report, llvm::raw_ostream& os);
// "format", "agrees", "losses", "keep", "readers", "all_rounded", "with_kept"; the same.
void WritePrecisionJson(const PrecisionReport& report, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_COMPARE_TEXT_H_
