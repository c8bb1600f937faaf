// Formats a Diagnosis as text and as JSON.
#ifndef GRAPNEL_LIB_JOB_DOCTOR_TEXT_H_
#define GRAPNEL_LIB_JOB_DOCTOR_TEXT_H_

#include "lib/job/doctor.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes a block for each finding, at most three per check, then the checks that did not run, and
// why.
void WriteDiagnosisText(const Diagnosis& diagnosis, llvm::raw_ostream& os);
// Writes attributes into the open object: "model", "steps", "checkpoints", "curves", "failure",
// "findings": [{"check", "certainty", "node", "function", "file", "source", "what", "advice"}],
// "checks": [{"check", "status", "reason"}].
void WriteDiagnosisJson(const Diagnosis& diagnosis, llvm::json::OStream& json);

// Writes every check, with what it looks for and what it needs.
void WriteChecksText(llvm::raw_ostream& os);
// Likewise: "checks": [{"check", "looks_for", "needs": []}].
void WriteChecksJson(llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DOCTOR_TEXT_H_
