#include "lib/policy/file_uri.h"
#include "lib/policy/policy_report.h"

namespace grapnel {
namespace {

using llvm::json::fixUTF8;
using llvm::json::OStream;

void WriteText(OStream& json, const char* key, const std::string& text) {
  json.attributeObject(key, [&] { json.attribute("text", fixUTF8(text)); });
}

void WriteLogicalLocation(llvm::StringRef name, const char* kind, OStream& json) {
  llvm::StringRef last = name.rsplit('/').second;
  json.object([&] {
    json.attribute("name", fixUTF8(last.empty() ? name : last));
    json.attribute("fullyQualifiedName", fixUTF8(name));
    json.attribute("kind", kind);
  });
}

void WriteLocation(const PolicyFinding& finding, const PolicyReport& report, OStream& json) {
  json.object([&] {
    bool has_line = finding.source_line > 0;
    json.attributeObject("physicalLocation", [&] {
      json.attributeObject("artifactLocation", [&] {
        json.attribute("uri", FileUri(has_line ? finding.source_file : report.graph_file));
      });
      if (has_line)
        json.attributeObject("region", [&] { json.attribute("startLine", finding.source_line); });
    });
    std::vector<std::string> names = finding.also;
    names.insert(names.begin(), finding.node.empty() ? finding.scope : finding.node);
    if (names[0].empty()) return;
    json.attributeArray("logicalLocations", [&] {
      for (const std::string& name : names)
        WriteLogicalLocation(name, finding.node.empty() ? "namespace" : "element", json);
    });
  });
}

void WriteResult(const PolicyFinding& finding, const PolicyReport& report, OStream& json) {
  json.object([&] {
    json.attribute("ruleId", finding.check);
    // Some SARIF readers ignore suppressions.
    auto severity = finding.waiver ? FindingSeverity::kNote : finding.severity;
    json.attribute("level", FindingSeverityName(severity));
    WriteText(
        json, "message",
        finding.what + ". Expected: " + finding.expected + ". What to do: " + finding.advice + ".");
    json.attributeArray("locations", [&] { WriteLocation(finding, report, json); });
    if (!finding.fingerprint.empty()) {
      json.attributeObject("partialFingerprints",
                           [&] { json.attribute("grapnelNode/v1", finding.fingerprint); });
    }
    if (!finding.waiver) return;
    json.attributeArray("suppressions", [&] {
      json.object([&] {
        json.attribute("kind", "external");
        json.attribute("justification",
                       fixUTF8(finding.waiver->reason + " (until " + finding.waiver->until + ")"));
      });
    });
  });
}

void WriteRule(const std::string& id, const std::string& says, FindingSeverity severity,
               OStream& json) {
  json.object([&] {
    json.attribute("id", id);
    WriteText(json, "shortDescription", says);
    json.attributeObject("defaultConfiguration",
                         [&] { json.attribute("level", FindingSeverityName(severity)); });
  });
}

}  // namespace

void WritePolicySarif(const PolicyReport& report, llvm::raw_ostream& os) {
  OStream json(os, 1);
  auto write_driver = [&] {
    json.attribute("name", "grapnel");
    json.attributeArray("rules", [&] {
      for (const PolicyOutcome& outcome : report.outcomes)
        WriteRule(outcome.check, outcome.says, outcome.severity, json);
      WriteRule("waiver", "a waiver that has expired or is not needed", FindingSeverity::kNote,
                json);
    });
  };
  json.object([&] {
    json.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json.attribute("version", "2.1.0");
    json.attributeArray("runs", [&] {
      json.object([&] {
        if (report.verdict) {
          json.attributeObject("automationDetails", [&] {
            WriteText(json, "description", "verdict: " + report.verdict->text);
          });
        }
        json.attributeObject("tool", [&] { json.attributeObject("driver", write_driver); });
        json.attributeArray("results", [&] {
          for (const PolicyFinding& finding : report.findings) WriteResult(finding, report, json);
        });
      });
    });
  });
  os << "\n";
}

}  // namespace grapnel
