// What a check against a policy came to, for people and for what else reads it.
#ifndef GRAPNEL_LIB_JOB_POLICY_REPORT_H_
#define GRAPNEL_LIB_JOB_POLICY_REPORT_H_

#include "lib/job/check_policy.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// "2 errors, 1 warning", "nothing found".
std::string PolicySummary(const PolicyReport& report);

// A few findings of each check; with `all` each.
void WritePolicyText(const PolicyReport& report, bool all, llvm::raw_ostream& os);
// "passes", "findings", "checks", ..., as attributes of an object that is open; docs/check.md tells
// of them.
void WritePolicyJson(const PolicyReport& report, llvm::json::OStream& json);
// A test case a check, as Jenkins' xunit plugin reads it (junit-10.xsd).
void WritePolicyJunit(const PolicyReport& report, llvm::raw_ostream& os);
// SARIF 2.1.0. A finding is at the line of the program that made its node, where that is known,
// else in the model's file.
void WritePolicySarif(const PolicyReport& report, llvm::raw_ostream& os);
// For a pull request: the findings, and the drawing. `picture` is a file beside it that shows all
// that changed; empty: there is none.
void WritePolicyMarkdown(const PolicyReport& report, llvm::StringRef picture,
                         llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_POLICY_REPORT_H_
