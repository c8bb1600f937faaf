#include "lib/policy/policy_checks.h"

namespace grapnel {
namespace {

constexpr auto kError = FindingSeverity::kError;
constexpr auto kWarning = FindingSeverity::kWarning;

std::vector<SettingInfo> WithNew(std::vector<SettingInfo> settings, const char* help) {
  settings.push_back({"new", SettingKind::kSeverity, help});
  return settings;
}

std::vector<SettingInfo> AllowedAndForbidden(SettingKind kind, const char* allowed,
                                             const char* forbidden) {
  return {{"allowed", kind, allowed}, {"forbidden", kind, forbidden}};
}

std::vector<SettingInfo> Most(SettingKind kind, const char* help) {
  return {{"most", kind, help, true}};
}

std::vector<PolicyCheck> MakeChecks() {
  using Kind = SettingKind;
  return {
      {{"ops", kError,
        WithNew(AllowedAndForbidden(Kind::kGlobs, "allowed ops; default: all", "forbidden ops"),
                "the severity of an op that BASE does not have; default: it may be there")},
       "the op of each node",
       "an op that is forbidden, not among those allowed, or new",
       false,
       CheckOps},
      {{"devices", kError,
        AllowedAndForbidden(Kind::kDevices, "devices that nodes may request; default: all",
                            "forbidden devices")},
       "the device of each node",
       "a device that is forbidden, or not among those allowed",
       false,
       CheckDevices},
      {{"placement",
        kError,
        {{"devices", Kind::kDevices, "the devices that there are", true}},
        SettingInfo{"PATTERN", Kind::kDevice, "the device of the nodes that the pattern fits"}},
       "the device on which TensorFlow places each node",
       "a node that is placed elsewhere, and why",
       false,
       CheckPlacement},
      {{"dtypes", kError,
        WithNew(AllowedAndForbidden(Kind::kTypes, "allowed dtypes of tensors; default: all",
                                    "forbidden dtypes"),
                "the severity of a dtype that BASE does not have; default: it may be there")},
       "the dtypes of outputs",
       "the nodes at which a dtype begins that is forbidden or new",
       false,
       CheckTypes},
      {{"signatures",
        kError,
        {{"except", Kind::kGlobs, "signatures, and SIGNATURE/KEY, that may change"}},
        SettingInfo{"SIGNATURE", Kind::kInterface,
                    "a table: the dtype and shape of each of its inputs and outputs"}},
       "the signatures, and those that the policy or BASE has",
       "a change of a signature that breaks its callers",
       false,
       CheckSignatures},
      {{"lost_fusions", kError, {}},
       "both models after the default passes",
       "nodes that are fused in BASE but not here, and why not",
       true,
       CheckFusions},
      {{"unused_inputs", kWarning, {}},
       "`doctor`'s findings: unused_input",
       "an input that no result depends on",
       false,
       CheckUnusedInputs},
      {{"debug_ops",
        kError,
        {{"ops", Kind::kGlobs, "further ops to report"},
         {"except", Kind::kGlobs, "ops that may stay"}}},
       "the op of each node",
       "Print, Assert and similar ops",
       false,
       CheckDebugOps},
      {{"unguarded_ops", kWarning, {}},
       "`doctor`'s findings: unguarded_op",
       "a log, quotient or root of a tensor that can be zero",
       false,
       CheckUnguardedOps},
      {{"retraced_functions",
        kWarning,
        {{"most", Kind::kNumber, "allowed number of traces of one function; default: 4"}}},
       "the SavedModel's functions, else their names and bodies",
       "functions that were traced more often than allowed",
       false,
       CheckRetracing},
      {{"nodes", kError,
        Most(Kind::kBudget, "allowed number of nodes, including those of functions")},
       "the graph",
       "a model with more nodes than allowed, and its largest scope",
       false,
       CheckNodes},
      {{"flops", kError,
        Most(Kind::kBudget, "allowed number of floating-point operations of one run")},
       "shapes",
       "more FLOPs than allowed, and the node with the most",
       false,
       CheckFlops},
      {{"parameters", kError,
        Most(Kind::kBudget,
             "allowed number of elements of variables and floating-point constants")},
       "variables and floating-point constants",
       "more parameters than allowed, and the largest variable or constant",
       false,
       CheckParameters},
      {{"peak_memory", kError,
        Most(Kind::kByteBudget, "allowed peak of the bytes of tensors in one run")},
       "shapes, in execution order",
       "more memory than allowed, and the node with the largest output",
       false,
       CheckPeakMemory},
      {{"file_size", kError,
        Most(Kind::kByteBudget, "allowed bytes of the file, or of the folder's files")},
       "the file, or the SavedModel's folder",
       "a larger file than allowed, and its largest variable or constant",
       false,
       CheckFileSize},
      {{"outputs",
        kError,
        {{"cases", Kind::kPaths,
          "case folders: feeds, and expected values; default: MODEL, if it is one"},
         {"rtol", Kind::kNumber, "allowed relative difference; default: the case's"},
         {"atol", Kind::kNumber, "allowed absolute difference; default: the case's"}}},
       "runs on the cases' feeds",
       "an output that differs, and the first node that does",
       false,
       CheckOutputs},
      {{"changed_weights",
        kError,
        {{"most", Kind::kNumber, "allowed relative difference; default: 0"},
         {"except", Kind::kGlobs, "variables and constants that may change"}}},
       "variables and constants of both models",
       "variables and constants whose values differ from BASE",
       true,
       CheckWeights},
  };
}

}  // namespace

const std::vector<PolicyCheck>& PolicyChecks() {
  static const auto& checks = *new std::vector<PolicyCheck>(MakeChecks());
  return checks;
}

std::vector<PolicyTable> PolicyTables() {
  std::vector<PolicyTable> tables;
  for (const PolicyCheck& check : PolicyChecks()) tables.push_back(check.table);
  return tables;
}

void PolicyFindings::Add(std::string node, std::string what, std::string expected,
                         std::string advice) {
  PolicyFinding finding;
  finding.check = rule_.check;
  finding.severity = rule_.severity;
  finding.scope = llvm::StringRef(node).rsplit('/').first.str();
  if (finding.scope == node) finding.scope = "";
  finding.node = std::move(node);
  finding.what = std::move(what);
  finding.expected = std::move(expected);
  finding.advice = std::move(advice);
  findings_.push_back(std::move(finding));
}

void PolicyFindings::AddAs(FindingSeverity severity, std::vector<std::string> nodes,
                           std::string what, std::string expected, std::string advice) {
  Add(nodes.front(), std::move(what), std::move(expected), std::move(advice));
  findings_.back().severity = severity;
  findings_.back().also.assign(nodes.begin() + 1, nodes.end());
}

void PolicyFindings::AddScope(std::string scope, std::string what, std::string expected,
                              std::string advice) {
  Add("", std::move(what), std::move(expected), std::move(advice));
  findings_.back().scope = std::move(scope);
}

}  // namespace grapnel
