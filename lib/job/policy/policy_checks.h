// The checks that a policy may ask for. Private to lib/job.
#ifndef GRAPNEL_LIB_JOB_POLICY_POLICY_CHECKS_H_
#define GRAPNEL_LIB_JOB_POLICY_POLICY_CHECKS_H_

#include <string>
#include <vector>

#include "lib/check/policy/policy_finding.h"
#include "lib/job/policy/checked_model.h"

namespace grapnel {

// Where a check puts what it finds.
class PolicyFindings {
 public:
  PolicyFindings(const PolicyRule& rule, std::vector<PolicyFinding>* findings)
      : rule_(rule), findings_(*findings) {}

  // Of a node, "function/node", or of the whole model, "". The three are sentences without a
  // capital and a full stop: what is there, what was expected, what to do.
  void Add(std::string node, std::string what, std::string expected, std::string advice);
  // The same, of a scope.
  void AddScope(std::string scope, std::string what, std::string expected, std::string advice);

 private:
  const PolicyRule& rule_;
  std::vector<PolicyFinding>& findings_;
};

// Why the check could not look; empty: it did. An error is of the model, or of a file that the
// policy names.
using Judged = Expected<std::string>;

struct PolicyCheck {
  PolicyTable table;
  const char* reads;  // what it looks at
  const char* says;   // what it finds
  bool needs_base;
  Judged (*look)(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
};

// All of them, in the order in which they are told.
const std::vector<PolicyCheck>& PolicyChecks();
std::vector<PolicyTable> PolicyTables();

// graph_checks.cpp: what nodes are.
Judged CheckOps(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckDevices(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckTypes(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckDebugOps(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckUnusedInputs(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckUnguardedOps(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
// retracing.cpp
Judged CheckRetracing(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);

// budget_checks.cpp: how much there is.
Judged CheckNodes(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckFlops(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckParameters(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckPeakMemory(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckFileSize(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);

// change_checks.cpp: what was otherwise.
Judged CheckFusions(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckWeights(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);
Judged CheckOutputs(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings);

// What the budgets count, beside a run's costs (CheckedModel::Run).
struct ModelSizes {
  int64_t nodes = 0, parameters = 0, file_bytes = 0;
};
ModelSizes SizesOf(CheckedModel& model);

// Functions that were traced more than `most` times, with how often: by the SavedModel's objects,
// else by what the functions are called and made of.
std::vector<std::pair<std::string, size_t>> RetracedFunctions(const OpenedGraph& opened,
                                                              size_t most);
constexpr double kMostTraces = 4;

// What debug_ops takes for left over, whatever the policy adds.
std::vector<std::string> DebugOps();

// Visits each node of the model that is no argument or result of a function, with its full name.
void VisitNodes(const Module& module,
                llvm::function_ref<void(const Node& node, const std::string& name)> visit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_POLICY_POLICY_CHECKS_H_
