#include "lib/policy/policy_report.h"

namespace grapnel {
namespace {

using llvm::json::fixUTF8;
using llvm::json::OStream;

llvm::json::Value OrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  return fixUTF8(text);
}

void WriteFindingJson(const PolicyFinding& finding, OStream& json) {
  json.object([&] {
    json.attribute("check", finding.check);
    json.attribute("severity", FindingSeverityName(finding.severity));
    json.attribute("node", OrNull(finding.node));
    json.attribute("scope", OrNull(finding.scope));
    json.attribute("source", OrNull(finding.source));
    json.attributeArray("also", [&] {
      for (const std::string& place : finding.also) json.value(fixUTF8(place));
    });
    json.attribute("what", fixUTF8(finding.what));
    json.attribute("expected", fixUTF8(finding.expected));
    json.attribute("advice", fixUTF8(finding.advice));
    json.attribute("fingerprint", OrNull(finding.fingerprint));
    if (!finding.waiver) {
      json.attribute("waiver", nullptr);
      return;
    }
    json.attributeObject("waiver", [&] {
      json.attribute("reason", fixUTF8(finding.waiver->reason));
      json.attribute("until", finding.waiver->until);
    });
  });
}

}  // namespace

void WritePolicyJson(const PolicyReport& report, OStream& json) {
  if (report.verdict) {
    json.attributeObject("verdict", [&] {
      json.attribute("kind", VerdictName(report.verdict->kind));
      json.attribute("text", fixUTF8(report.verdict->text));
    });
  } else {
    json.attribute("verdict", nullptr);
  }
  json.attribute("model", fixUTF8(report.model));
  json.attribute("against", OrNull(report.base));
  json.attribute("policy", fixUTF8(report.policy));
  json.attribute("passes", report.Passes());
  for (auto severity :
       {FindingSeverity::kError, FindingSeverity::kWarning, FindingSeverity::kNote}) {
    json.attribute(std::string(FindingSeverityName(severity)) + "s",
                   static_cast<int64_t>(report.Count(severity)));
  }
  json.attribute("waived", static_cast<int64_t>(report.CountWaived()));
  json.attributeArray("findings", [&] {
    for (const PolicyFinding& finding : report.findings) WriteFindingJson(finding, json);
  });
  json.attributeArray("checks", [&] {
    for (const PolicyOutcome& outcome : report.outcomes) {
      json.object([&] {
        json.attribute("check", outcome.check);
        json.attribute("severity", FindingSeverityName(outcome.severity));
        json.attribute("status", outcome.reason.empty() ? "looked" : "not looked");
        json.attribute("reason", OrNull(outcome.reason));
      });
    }
  });
}

}  // namespace grapnel
