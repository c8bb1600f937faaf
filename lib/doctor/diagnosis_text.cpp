#include "lib/doctor/diagnosis_text.h"

#include <map>

#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr int kMostOfOne = 3;
constexpr size_t kMostNames = 6;

using llvm::json::fixUTF8;
using llvm::json::OStream;

const char* EvidenceName(Evidence evidence) {
  switch (evidence) {
    case Evidence::kGraph:
      return "a graph";
    case Evidence::kLoss:
      return "a loss";
    case Evidence::kValues:
      return "a run";
    case Evidence::kSteps:
      return "several steps";
    case Evidence::kCheckpoints:
      return "checkpoints";
    case Evidence::kDebugFolder:
      return "a debug folder";
    case Evidence::kScalars:
      return "training scalars";
  }
  return "";
}

std::string NeedsText(const CheckInfo& info) {
  std::string text;
  for (Evidence evidence : info.needs)
    text += (text.empty() ? "" : ", or ") + std::string(EvidenceName(evidence));
  return text;
}

void WriteFinding(const Finding& finding, llvm::StringRef path, llvm::raw_ostream& os) {
  os << "\n" << ConfidenceName(finding.confidence) << ": ";
  if (!finding.variable.empty() && finding.variable != finding.node)
    os << finding.variable << ", node ";
  os << finding.node;
  if (!finding.function.empty()) os << " in " << finding.function;
  bool names_layer = llvm::StringRef(finding.node).starts_with(finding.layer + "/");
  if (!finding.layer.empty() && !names_layer) os << " in layer " << finding.layer;
  os << " (" << finding.check << ")\n";
  if (!finding.file.empty() && finding.file != path) os << "  in " << finding.file << "\n";
  if (!finding.made_at.empty()) os << "  at " << finding.made_at << "\n";
  os << "  " << finding.what << "\n  do: " << finding.advice << "\n";
}

// Writes a line for each reason why checks did not run.
void WriteNotLooked(const Diagnosis& diagnosis, llvm::raw_ostream& os) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const CheckOutcome& outcome : diagnosis.outcomes) {
    if (outcome.status != CheckOutcome::kNotRun) continue;
    auto known = llvm::find_if(by_reason,
                               [&](const auto& reason) { return reason.first == outcome.reason; });
    if (known == by_reason.end()) {
      by_reason.push_back({outcome.reason, {}});
      known = std::prev(by_reason.end());
    }
    known->second.push_back(outcome.info->name);
  }
  if (by_reason.empty()) return;
  os << "\nchecks that did not run:\n";
  for (size_t i = 0; i < by_reason.size(); ++i) {
    llvm::ArrayRef<std::string> names = by_reason[i].second;
    size_t shown = names.size() > kMostNames ? kMostNames - 1 : names.size();
    os << "  " << llvm::join(names.take_front(shown), ", ");
    if (shown < names.size()) os << " and " << names.size() - shown << " more";
    os << " (" << by_reason[i].first << ")\n";
  }
}

const char* StatusText(CheckOutcome::Status status) {
  switch (status) {
    case CheckOutcome::kRun:
      return "looked";
    case CheckOutcome::kNothingThere:
      return "nothing there";
    case CheckOutcome::kNotRun:
      return "not looked";
    case CheckOutcome::kOtherInput:
      return "of other input";
  }
  return "";
}

llvm::json::Value OrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  return fixUTF8(text);
}

}  // namespace

void WriteDiagnosisText(const Diagnosis& diagnosis, llvm::raw_ostream& os) {
  size_t looked = llvm::count_if(diagnosis.outcomes, [](const CheckOutcome& outcome) {
    return outcome.status <= CheckOutcome::kNothingThere;
  });
  os << "doctor: "
     << (diagnosis.findings.empty() ? "no findings" : Plural(diagnosis.findings.size(), "finding"))
     << " in " << diagnosis.path << " (" << Plural(looked, "check");
  if (diagnosis.steps > 0) os << ", " << Plural(diagnosis.steps, "step");
  if (diagnosis.checkpoints > 0) os << ", " << Plural(diagnosis.checkpoints, "checkpoint");
  if (diagnosis.curves > 0) os << ", " << Plural(diagnosis.curves, "curve") << " of a loss";
  os << ")\n";
  if (!diagnosis.failure.empty()) os << "\nthe run failed: " << diagnosis.failure << "\n";
  std::map<std::string, int> count;
  for (const Finding& finding : diagnosis.findings) {
    if (++count[finding.check] <= kMostOfOne) WriteFinding(finding, diagnosis.path, os);
  }
  for (const auto& [check, times] : count) {
    if (times > kMostOfOne)
      os << "\n... and " << times - kMostOfOne << " more of " << check << " (--json has all)\n";
  }
  WriteNotLooked(diagnosis, os);
}

void WriteDiagnosisJson(const Diagnosis& diagnosis, OStream& json) {
  json.attribute("model", fixUTF8(diagnosis.path));
  json.attribute("steps", diagnosis.steps);
  json.attribute("checkpoints", static_cast<int64_t>(diagnosis.checkpoints));
  json.attribute("curves", static_cast<int64_t>(diagnosis.curves));
  json.attribute("failure", OrNull(diagnosis.failure));
  json.attributeArray("findings", [&] {
    for (const Finding& finding : diagnosis.findings) {
      json.object([&] {
        json.attribute("check", finding.check);
        json.attribute("certainty", ConfidenceName(finding.confidence));
        json.attribute("node", fixUTF8(finding.node));
        json.attribute("function", OrNull(finding.function));
        json.attribute("layer", OrNull(finding.layer));
        json.attribute("variable", OrNull(finding.variable));
        json.attribute("file", OrNull(finding.file));
        json.attribute("source", OrNull(finding.made_at));
        json.attribute("what", fixUTF8(finding.what));
        json.attribute("advice", fixUTF8(finding.advice));
      });
    }
  });
  json.attributeArray("checks", [&] {
    for (const CheckOutcome& outcome : diagnosis.outcomes) {
      json.object([&] {
        json.attribute("check", outcome.info->name);
        json.attribute("status", StatusText(outcome.status));
        json.attribute("reason", OrNull(outcome.reason));
      });
    }
  });
}

void WriteChecksText(llvm::raw_ostream& os) {
  std::vector<std::vector<std::string>> rows = {{"check", "looks for", "needs"}};
  for (const CheckInfo* info : Checks())
    rows.push_back({info->name, info->looks_for, NeedsText(*info)});
  os << Table(rows);
}

void WriteChecksJson(OStream& json) {
  json.attributeArray("checks", [&] {
    for (const CheckInfo* info : Checks()) {
      json.object([&] {
        json.attribute("check", info->name);
        json.attribute("looks_for", info->looks_for);
        json.attributeArray("needs", [&] {
          for (Evidence evidence : info->needs) json.value(EvidenceName(evidence));
        });
      });
    }
  });
}

}  // namespace grapnel
