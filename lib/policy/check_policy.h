// A job: checks a model against a policy.
#ifndef GRAPNEL_LIB_POLICY_CHECK_POLICY_H_
#define GRAPNEL_LIB_POLICY_CHECK_POLICY_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/job/shape_overrides.h"
#include "lib/policy/policy_finding.h"
#include "lib/support/cancel.h"
#include "lib/support/thread_pool.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Reads a policy file. Errors: those of Policy::Parse, for an unknown check too; the file cannot be
// read.
Expected<Policy> ReadPolicy(llvm::StringRef path);

struct PolicyRequest {
  const Policy* policy = nullptr;      // outlives the report
  std::string today;                   // "2027-01-31": decides which waivers have expired
  bool wants_drawing = false;          // whether to fill PolicyReport::drawing
  bool is_strict = false;              // a check that cannot run is an error, not a warning
  ThreadPool* pool = nullptr;          // outlives the job
  const CancelFlag* cancel = nullptr;  // stops the job from another thread
  // Passes and rules that checks do not run; only a check of fusions runs any.
  std::vector<std::string> without;
};

// The outcome of a check that the policy enables.
struct PolicyOutcome {
  std::string check, says;
  FindingSeverity severity = FindingSeverity::kError;
  std::string reason;  // why the check did not run; empty: it ran
};

// The changes from BASE in a sentence.
struct ChangeVerdict {
  // The greatest change. Changes of the kinds before it may have come with it.
  enum Kind { kSame, kNames, kWeights, kStructure, kInterface };
  Kind kind = kSame;
  std::string text;  // the sentence: "weights only: 2 of 4 layers have other values ('a', 'b')"
};
const char* VerdictName(ChangeVerdict::Kind kind);  // "same", "names", "weights", ...

struct PolicyReport {
  std::string model, base, policy;       // paths; base is empty if absent
  std::optional<ChangeVerdict> verdict;  // nullopt: there is no BASE
  std::string graph_file;                // the file that contains the model's graph
  std::vector<PolicyFinding> findings;   // errors first, waived ones last
  std::vector<PolicyOutcome> outcomes;
  // The differences from BASE as a Mermaid diagram; empty if there is no BASE, nothing differs, or
  // no drawing was requested.
  std::string drawing;

  size_t Count(FindingSeverity severity) const;  // not counting waived ones
  size_t CountWaived() const;
  bool Passes() const { return Count(FindingSeverity::kError) == 0; }
};

// `base` may be null; checks that need a base then report that they did not run. Errors: a graph is
// broken; a check fails to run (a pass fails, a checkpoint is damaged).
Expected<PolicyReport> CheckModel(const OpenedGraph& model, const OpenedGraph* base,
                                  const PolicyRequest& request);

// Returns a policy in TOML that the unchanged model passes, with budgets a tenth above the model's
// sizes, rounded up. A check that finds something is a comment. `given` are the sizes that the
// caller has set in `model`; a comment in the TOML lists them as flags. Budgets that depend on
// unknown sizes are left out; a comment says why.
Expected<std::string> InitialPolicy(const OpenedGraph& model, const ShapeOverrides& given,
                                    OneDnn onednn, ThreadPool* pool,
                                    const CancelFlag* cancel = nullptr);

// Writes as text each check's name, default severity, possible findings and keys.
void WritePolicyChecks(llvm::raw_ostream& os);
// Writes an attribute into the open JSON object: "checks": [{"check", "severity", "finds", "reads",
// "needs_base", "keys": [{"name", "help", "required"}]}].
void WritePolicyChecksJson(llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_CHECK_POLICY_H_
