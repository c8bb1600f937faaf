// What a diagnosis says, for people and for programs.
#ifndef GRAPNEL_LIB_JOB_DOCTOR_TEXT_H_
#define GRAPNEL_LIB_JOB_DOCTOR_TEXT_H_

#include "lib/job/doctor.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// A block for each finding, three of one check at most; then what was not looked at, and why.
void WriteDiagnosisText(const Diagnosis& diagnosis, llvm::raw_ostream& os);
// As attributes of an object that is open: "model", "steps", "checkpoints", "curves", "failure",
// "findings": [{"check", "certainty", "node", "function", "file", "source", "what", "advice"}],
// "checks": [{"check", "status", "reason"}].
void WriteDiagnosisJson(const Diagnosis& diagnosis, llvm::json::OStream& json);

// Every check, with what it looks for and what it needs.
void WriteChecksText(llvm::raw_ostream& os);
// "checks": [{"check", "looks_for", "needs": []}], likewise.
void WriteChecksJson(llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DOCTOR_TEXT_H_
