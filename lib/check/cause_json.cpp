// Writes the JSON of lib/check/cause_text.h.
#include "lib/check/cause_text.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

using llvm::json::fixUTF8;
using llvm::json::OStream;

// Writes an index, or null for -1.
void WriteIndex(OStream& json, const char* key, int index) {
  json.attribute(key, index < 0 ? llvm::json::Value(nullptr) : llvm::json::Value(index));
}

void WriteSourceLines(OStream& json, const DebugRun& run, const Cause& cause) {
  if (cause.frame < 0) {
    json.attribute("source", nullptr);
    return;
  }
  const DebugFrame& frame = run.frames[cause.frame];
  const DebugSource& source = run.sources[frame.source];
  json.attributeObject("source", [&] {
    json.attribute("file", fixUTF8(source.path));
    json.attribute("line", frame.line);
    json.attribute("function", fixUTF8(frame.function));
    std::vector<llvm::StringRef> lines = SourceLines(source);
    int first = std::max(1, frame.line - kSourceLinesAround);
    json.attribute("first_line", first);
    json.attributeArray("lines", [&] {
      for (int line = first;
           line <= frame.line + kSourceLinesAround && line <= static_cast<int>(lines.size());
           ++line)
        json.value(fixUTF8(lines[line - 1]));
    });
  });
}

void WriteInputs(OStream& json, const Cause& cause) {
  json.attributeArray("inputs", [&] {
    for (const CauseInput& input : cause.inputs) {
      json.object([&] {
        json.attribute("tensor", fixUTF8(input.tensor));
        json.attribute("made_by", fixUTF8(input.made_by));
        json.attribute("made_in", fixUTF8(input.made_in));
        json.attributeBegin("value");
        WriteRecordedTensorJson(input.value, json);
        json.attributeEnd();
      });
    }
  });
}

void WriteAlert(OStream& json, const DebugRun& run, const DebugAlert& alert) {
  json.object([&] {
    WriteIndex(json, "trace", alert.trace);
    WriteIndex(json, "execution", alert.execution);
    json.attribute("tensor", fixUTF8(AlertName(run, alert)));
    json.attribute("op", fixUTF8(AlertOpType(run, alert)));
    json.attribute("output", alert.output);
    json.attribute("is_cause", alert.is_cause);
    json.attributeBegin("value");
    WriteRecordedTensorJson(AlertValue(run, alert), json);
    json.attributeEnd();
  });
}

}  // namespace

void WriteCauseFields(const DebugRun& run, const Cause& cause, OStream& json) {
  json.attribute("node", fixUTF8(cause.node));
  json.attribute("op", fixUTF8(cause.op_type));
  json.attribute("function", cause.function.empty() ? llvm::json::Value(nullptr)
                                                    : llvm::json::Value(fixUTF8(cause.function)));
  json.attribute("output", cause.alert.output);
  json.attributeArray("kinds", [&] {
    for (const std::string& kind : BadKinds(cause.value)) json.value(kind);
  });
  json.attribute("index", nullptr);  // a Cause has counts, not indices
  WriteIndex(json, "iteration", cause.iteration);
  json.attribute("cause", cause.op_type == "Const"         ? "const"
                          : cause.op_type == "Placeholder" ? "feed"
                                                           : "op");
  json.attribute("text", fixUTF8(CauseSentence(cause)));
  json.attribute("place", fixUTF8(cause.place));
  WriteIndex(json, "step", cause.step);
  WriteIndex(json, "execution", cause.execution);
  WriteIndex(json, "trace", cause.alert.trace);
  json.attributeBegin("value");
  WriteRecordedTensorJson(cause.value, json);
  json.attributeEnd();
  WriteInputs(json, cause);
  WriteSourceLines(json, run, cause);
  json.attribute("framework_frames", cause.framework_frames);
  json.attributeArray("also", [&] {
    for (const std::string& node : cause.also) json.value(fixUTF8(node));
  });
}

void WriteCauseJson(const DebugRun& run, const Cause& cause, OStream& json) {
  json.object([&] { WriteCauseFields(run, cause, json); });
}

void WriteBlameJson(const DebugRun& run, const BlameReport& report, OStream& json) {
  for (const char* key : {"first_bad", "first_any"}) {
    json.attributeBegin(key);
    if (report.causes.empty()) {
      json.value(nullptr);
    } else {
      WriteCauseJson(run, report.causes[0], json);
    }
    json.attributeEnd();
  }
  json.attribute("can_tell", report.can_tell);
  json.attribute("alerts", static_cast<int64_t>(report.alerts.size()));
  json.attribute("consequences", static_cast<int64_t>(report.consequences));
  json.attributeArray("bad_tensors", [&] {
    for (const DebugAlert& alert : report.alerts) WriteAlert(json, run, alert);
  });
  json.attributeArray("causes", [&] {
    for (const Cause& cause : report.causes) WriteCauseJson(run, cause, json);
  });
}

}  // namespace grapnel
