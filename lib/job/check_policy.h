// A job: a model is checked against a policy.
#ifndef GRAPNEL_LIB_JOB_CHECK_POLICY_H_
#define GRAPNEL_LIB_JOB_CHECK_POLICY_H_

#include <string>
#include <vector>

#include "lib/check/policy/policy_finding.h"
#include "lib/job/shape_overrides.h"
#include "lib/job/opened_graph.h"
#include "lib/support/cancel.h"
#include "lib/support/thread_pool.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Reads a policy of the checks that there are. Errors: Policy::Parse's, the file's.
Expected<Policy> ReadPolicy(llvm::StringRef path);

struct PolicyRequest {
  const Policy* policy = nullptr;      // outlives the report
  std::string today;                   // "2027-01-31": which waivers have run out
  bool wants_drawing = false;          // whether PolicyReport::drawing is made
  bool is_strict = false;              // a check that could not be made is an error, no warning
  bool is_signature = false;           // the model is the graph of a signature already
  ThreadPool* pool = nullptr;          // outlives the job
  const CancelFlag* cancel = nullptr;  // ends what runs from another thread
};

// A check that the policy asks for.
struct PolicyOutcome {
  std::string check, says;
  FindingSeverity severity = FindingSeverity::kError;
  std::string reason;  // why it did not look; empty: it did
};

struct PolicyReport {
  std::string model, base, policy;      // paths; base is empty where there is none
  std::string graph_file;               // of the model, where that is a folder
  std::vector<PolicyFinding> findings;  // errors first, waived ones last
  std::vector<PolicyOutcome> outcomes;
  // What differs from BASE, in Mermaid's language; empty: nothing, or it was not asked for.
  std::string drawing;

  size_t Count(FindingSeverity severity) const;  // of those that are not waived
  size_t CountWaived() const;
  bool Passes() const { return Count(FindingSeverity::kError) == 0; }
};

// `base` may be null; checks that need it then say so. Errors: a graph is broken, or a check cannot
// be made of it (as of passes that fail, or a checkpoint that is damaged).
Expected<PolicyReport> CheckModel(const OpenedGraph& model, const OpenedGraph* base,
                                  const PolicyRequest& request);

// A policy in TOML that the model passes as it is, with the model's sizes as budgets: those that
// depend on sizes that are open, which `given` did not fill, are left out, and it says why.
Expected<std::string> InitialPolicy(const OpenedGraph& model, const ShapeOverrides& given,
                                    bool is_signature, OneDnn onednn, ThreadPool* pool,
                                    const CancelFlag* cancel = nullptr);

// Name, severity, what each check reads and says, and its keys.
void WritePolicyChecks(llvm::raw_ostream& os);
// "checks": [{"check", "severity", "finds", "reads", "needs_base", "keys": [{"name", "help",
// "required"}]}], as an attribute of an object that is open.
void WritePolicyChecksJson(llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_CHECK_POLICY_H_
