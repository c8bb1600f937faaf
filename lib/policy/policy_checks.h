// The checks that a policy can enable. Private to lib/policy.
#ifndef GRAPNEL_LIB_POLICY_POLICY_CHECKS_H_
#define GRAPNEL_LIB_POLICY_POLICY_CHECKS_H_

#include <string>
#include <vector>

#include "lib/policy/checked_model.h"
#include "lib/policy/policy_finding.h"

namespace grapnel {

// Collects the findings of a check.
class PolicyFindings {
 public:
  PolicyFindings(const PolicyRule& rule, std::vector<PolicyFinding>* findings)
      : rule_(rule), findings_(*findings) {}

  // Adds a finding for a node, "function/node", a variable or a function, or for the whole model,
  // "". The texts are sentences in lower case without a full stop: what was found, what was
  // expected, what to do.
  void Add(std::string node, std::string what, std::string expected, std::string advice);
  // Adds a finding for a scope.
  void AddScope(std::string scope, std::string what, std::string expected, std::string advice);
  // Adds a finding about all of `nodes`, with this severity instead of the policy's.
  void AddAs(FindingSeverity severity, std::vector<std::string> nodes, std::string what,
             std::string expected, std::string advice);
  // The severity that the policy gives to findings of the check.
  FindingSeverity severity() const { return rule_.severity; }

 private:
  const PolicyRule& rule_;
  std::vector<PolicyFinding>& findings_;
};

// The reason why the check could not run; empty: it ran. An Error is about the model, or about a
// file that the policy names.
using Judged = Expected<std::string>;

struct PolicyCheck {
  PolicyTable table;
  const char* reads;  // what it reads, for the list of checks
  const char* says;   // what it finds, for the list of checks
  bool needs_base;
  Judged (*look)(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
};

// All checks, in the order in which they are listed.
const std::vector<PolicyCheck>& PolicyChecks();
std::vector<PolicyTable> PolicyTables();

// graph_checks.cpp: properties of nodes.
Judged CheckOps(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckDevices(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckTypes(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckDebugOps(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckUnusedInputs(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckUnguardedOps(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
// placement_checks.cpp: where nodes run.
Judged CheckPlacement(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
// retracing.cpp: functions that were traced too often.
Judged CheckRetracing(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);

// signature_checks.cpp: what callers of signatures rely on.
Judged CheckSignatures(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);

// budget_checks.cpp: sizes and costs.
Judged CheckNodes(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckFlops(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckParameters(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckPeakMemory(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckFileSize(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);

// change_checks.cpp: differences from the base or from recorded cases.
Judged CheckFusions(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckWeights(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckOutputs(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);

// The sizes that budgets limit, in addition to a run's costs (CheckedModel::Runs).
struct ModelSizes {
  int64_t nodes = 0, parameters = 0, file_bytes = 0;
};
ModelSizes SizesOf(CheckedModel& model);

// Returns functions that were traced more than `most` times, and how often: according to the
// SavedModel's objects and, for functions not listed there, by comparing the functions' names and
// bodies.
std::vector<std::pair<std::string, size_t>> RetracedFunctions(const OpenedGraph& opened,
                                                              size_t most);
constexpr double kMostTraces = 4;

// Returns globs for the ops that debug_ops treats as leftovers; a policy may add others or except
// some.
std::vector<std::string> DebugOps();

// Visits each node of the model that is not an argument or result of a function, with its full
// name. Leaves out the nodes that only save, restore and initialize (UpkeepNodes).
void VisitNodes(const OpenedGraph& opened,
                llvm::function_ref<void(const Node& node, const std::string& name)> visit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_POLICY_CHECKS_H_
