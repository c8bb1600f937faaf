#include "lib/policy/check_policy.h"

#include "lib/ir/find.h"
#include "lib/job/source.h"
#include "lib/policy/change_drawing.h"
#include "lib/policy/change_verdict.h"
#include "lib/policy/fingerprints.h"
#include "lib/policy/policy_checks.h"
#include "lib/support/file.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

const PolicyRule* RuleOf(const Policy& policy, llvm::StringRef check) {
  auto rule =
      llvm::find_if(policy.rules, [&](const PolicyRule& one) { return check == one.check; });
  return rule == policy.rules.end() ? nullptr : &*rule;
}

void AddLines(const OpenedGraph& model, std::vector<PolicyFinding>* findings) {
  if (findings->empty()) return;
  const LineTable lines = LinesOf(model);
  for (PolicyFinding& finding : *findings) {
    if (finding.node.empty()) continue;
    auto node = FindNode(model.module(), finding.node);
    if (!node) {
      llvm::consumeError(node.takeError());
      continue;
    }
    auto line = lines.LineOf(*node);
    if (!line) continue;
    finding.source = FrameText(*line);
    finding.source_file = line->file.str();
    finding.source_line = line->line;
  }
}

Expected<PolicyOutcome> RunCheck(const PolicyCheck& check, const PolicyRule& rule,
                                 CheckedModel& model, std::vector<PolicyFinding>* findings) {
  PolicyOutcome outcome{check.table.name, check.says, rule.severity, ""};
  if (check.needs_base && !model.base()) {
    outcome.reason = "needs BASE";
    return outcome;
  }
  PolicyFindings found(rule, findings);
  auto looked = check.look(model, rule, found);
  if (!looked) return Annotate(std::string("[") + check.table.name + "]", looked.takeError());
  outcome.reason = std::move(*looked);
  return outcome;
}

// The finding for a check that the policy enables but that could not run.
PolicyFinding NotLooked(const PolicyCheck& check, const std::string& reason, bool is_strict) {
  PolicyFinding finding;
  finding.check = check.table.name;
  finding.severity = is_strict ? FindingSeverity::kError : FindingSeverity::kWarning;
  finding.what = "the check could not run: " + reason;
  finding.expected = std::string("a check of ") + check.reads;
  finding.advice = check.needs_base ? "pass the previous model (--against BASE), or remove [" +
                                          finding.check + "] from the policy"
                                    : "provide what the check needs, or remove [" + finding.check +
                                          "] from the policy";
  return finding;
}

// Returns the keys of a table, with that of any other name last.
std::vector<SettingInfo> KeysOf(const PolicyTable& table) {
  std::vector<SettingInfo> keys = table.settings;
  if (table.other) keys.push_back(*table.other);
  return keys;
}

}  // namespace

Expected<Policy> ReadPolicy(llvm::StringRef path) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  return Policy::Parse(file->bytes(), path, PolicyTables());
}

size_t PolicyReport::Count(FindingSeverity severity) const {
  return llvm::count_if(findings, [&](const PolicyFinding& finding) {
    return finding.severity == severity && !finding.waiver;
  });
}

size_t PolicyReport::CountWaived() const {
  return llvm::count_if(findings, [](const PolicyFinding& finding) { return finding.waiver; });
}

Expected<PolicyReport> CheckModel(const OpenedGraph& model, const OpenedGraph* base,
                                  const PolicyRequest& request) {
  auto ignore = [](Severity, llvm::StringRef) {};
  RETURN_IF_ERROR(CheckValid(model, ignore));
  if (base) RETURN_IF_ERROR(CheckValid(*base, ignore));
  const Policy& policy = *request.policy;
  PolicyReport report;
  report.model = model.model().path;
  report.graph_file = model.file().path.empty() ? report.model : model.file().path;
  report.policy = policy.path;
  if (base) report.base = base->model().path;
  CheckedModel checked(model, base, policy.onednn, request.pool, request.cancel);
  if (base) report.verdict = JudgeChange(checked);
  std::vector<std::string> looked;
  for (const PolicyCheck& check : PolicyChecks()) {
    const PolicyRule* rule = RuleOf(policy, check.table.name);
    if (!rule) continue;
    ASSIGN_OR_RETURN(PolicyOutcome outcome, RunCheck(check, *rule, checked, &report.findings));
    if (outcome.reason.empty())
      looked.push_back(outcome.check);
    else
      report.findings.push_back(NotLooked(check, outcome.reason, request.is_strict));
    report.outcomes.push_back(std::move(outcome));
  }
  AddLines(model, &report.findings);
  AddFingerprints(model.module(), &report.findings);
  ApplyWaivers(policy, request.today, looked, &report.findings);
  llvm::stable_sort(report.findings, [](const PolicyFinding& a, const PolicyFinding& b) {
    bool a_waived = a.waiver, b_waived = b.waiver;
    return a_waived != b_waived ? b_waived : a.severity < b.severity;
  });
  if (base && request.wants_drawing) report.drawing = DrawChange(checked.changes());
  return report;
}

void WritePolicyChecks(llvm::raw_ostream& os) {
  std::vector<std::vector<std::string>> rows = {{"check", "severity", "finds", "keys"}};
  for (const PolicyCheck& check : PolicyChecks()) {
    std::string keys;
    for (const SettingInfo& setting : KeysOf(check.table))
      keys += (keys.empty() ? "" : ", ") + std::string(setting.name);
    rows.push_back({check.table.name, FindingSeverityName(check.table.severity), check.says, keys});
  }
  os << Table(rows);
}

void WritePolicyChecksJson(llvm::json::OStream& json) {
  auto write_key = [&](const SettingInfo& setting) {
    json.object([&] {
      json.attribute("name", setting.name);
      json.attribute("help", setting.help);
      json.attribute("required", setting.is_required);
    });
  };
  json.attributeArray("checks", [&] {
    for (const PolicyCheck& check : PolicyChecks()) {
      json.object([&] {
        json.attribute("check", check.table.name);
        json.attribute("severity", FindingSeverityName(check.table.severity));
        json.attribute("finds", check.says);
        json.attribute("reads", check.reads);
        json.attribute("needs_base", check.needs_base);
        json.attributeArray("keys", [&] {
          for (const SettingInfo& setting : KeysOf(check.table)) write_key(setting);
        });
      });
    }
  });
}

}  // namespace grapnel
