// Formats a Diagnosis as text and as JSON.
#ifndef GRAPNEL_LIB_DOCTOR_DIAGNOSIS_TEXT_H_
#define GRAPNEL_LIB_DOCTOR_DIAGNOSIS_TEXT_H_

#include "lib/doctor/diagnose.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes a heading, the failure of the run, a block for each finding, at most three per check, and
// the checks that lack evidence, with the reasons; long lists are abbreviated.
void WriteDiagnosisText(const Diagnosis& diagnosis, llvm::raw_ostream& os);
// Writes attributes into the open JSON object: "model", "steps", "checkpoints", "curves",
// "failure", "findings": [{"check", "certainty", "node", "function", "layer", "variable", "file",
// "source", "what", "advice"}], "checks": [{"check", "status", "reason"}].
void WriteDiagnosisJson(const Diagnosis& diagnosis, llvm::json::OStream& json);

// Writes every check, with the mistakes that it looks for and the inputs that it needs.
void WriteChecksText(llvm::raw_ostream& os);
// Writes an attribute into the open JSON object: "checks": [{"check", "looks_for", "needs": []}].
void WriteChecksJson(llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_DIAGNOSIS_TEXT_H_
