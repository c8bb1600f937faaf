// The JSON of lib/debug/debug_text.h.
#include "lib/debug/debug_text.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

using llvm::json::fixUTF8;
using llvm::json::OStream;

constexpr int kLinesAround = 5;

void WriteNumbers(OStream& json, const char* key, llvm::ArrayRef<int64_t> numbers) {
  json.attributeArray(key, [&] {
    for (int64_t number : numbers) json.value(number);
  });
}

// An index; null for none.
void WriteIndex(OStream& json, const char* key, int index) {
  json.attribute(key, index < 0 ? llvm::json::Value(nullptr) : llvm::json::Value(index));
}

void WriteOp(OStream& json, const DebugOp& op) {
  json.object([&] {
    json.attribute("name", fixUTF8(op.name));
    json.attribute("op", fixUTF8(op.type));
    json.attributeArray("inputs", [&] {
      for (const DebugInput& input : op.inputs)
        json.value(fixUTF8(OutputName(input.op_name, input.slot)));
    });
    json.attribute("outputs", op.outputs);
    WriteIndex(json, "stack", op.stack);
  });
}

void WriteGraph(OStream& json, const DebugGraph& graph) {
  json.object([&] {
    json.attribute("id", fixUTF8(graph.id));
    json.attribute("name", fixUTF8(graph.name));
    WriteIndex(json, "outer", graph.outer);
    json.attributeArray("ops", [&] {
      for (const DebugOp& op : graph.ops) WriteOp(json, op);
    });
  });
}

void WriteExecution(OStream& json, const DebugExecution& execution) {
  json.object([&] {
    json.attribute("wall_time", execution.wall_time);
    json.attribute("op", fixUTF8(execution.op_type));
    WriteIndex(json, "graph", execution.graph);
    WriteNumbers(json, "inputs", execution.input_ids);
    WriteNumbers(json, "outputs", execution.output_ids);
    json.attributeArray("values", [&] {
      for (const RecordedTensor& value : execution.outputs) WriteRecordedTensorJson(value, json);
    });
    WriteIndex(json, "stack", execution.stack);
  });
}

void WriteTrace(OStream& json, const DebugTrace& trace) {
  json.object([&] {
    json.attribute("wall_time", trace.wall_time);
    json.attribute("graph", trace.graph);
    json.attribute("node", fixUTF8(trace.op_name));
    json.attribute("output", trace.slot);
    json.attributeBegin("value");
    WriteRecordedTensorJson(trace.value, json);
    json.attributeEnd();
    json.attribute("device", fixUTF8(trace.device));
    WriteIndex(json, "execution", trace.execution);
    json.attribute("iteration", trace.iteration);
  });
}

void WriteSources(OStream& json, const DebugRun& run) {
  json.attributeArray("sources", [&] {
    for (const DebugSource& source : run.sources) {
      json.object([&] {
        json.attribute("path", fixUTF8(source.path));
        json.attribute("host", fixUTF8(source.host));
        json.attribute("framework", source.is_framework);
      });
    }
  });
  json.attributeArray("frames", [&] {
    for (const DebugFrame& frame : run.frames) {
      json.object([&] {
        json.attribute("id", fixUTF8(frame.id));
        WriteIndex(json, "source", frame.source);
        json.attribute("line", frame.line);
        json.attribute("function", fixUTF8(frame.function));
      });
    }
  });
  json.attributeArray("stacks", [&] {
    for (const std::vector<int>& stack : run.stacks) {
      json.array([&] {
        for (int frame : stack) json.value(frame);
      });
    }
  });
}

void WriteRun(OStream& json, const DebugRun& run) {
  json.attribute("id", fixUTF8(run.id));
  json.attribute("start_time", run.start_time);
  json.attribute("tensorflow_version", fixUTF8(run.tensorflow_version));
  json.attribute("debug_mode", DebugModeName(run.mode));
  json.attributeArray("devices", [&] {
    for (const DebugDevice& device : run.devices) json.value(fixUTF8(device.name));
  });
  json.attributeArray("graphs", [&] {
    for (const DebugGraph& graph : run.graphs) WriteGraph(json, graph);
  });
  json.attributeArray("executions", [&] {
    for (const DebugExecution& execution : run.executions) WriteExecution(json, execution);
  });
  json.attributeArray("traces", [&] {
    for (const DebugTrace& trace : run.traces) WriteTrace(json, trace);
  });
  WriteSources(json, run);
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
    int first = std::max(1, frame.line - kLinesAround);
    json.attribute("first_line", first);
    json.attributeArray("lines", [&] {
      for (int line = first;
           line <= frame.line + kLinesAround && line <= static_cast<int>(lines.size()); ++line)
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

void WriteRecordedTensorJson(const RecordedTensor& tensor, OStream& json) {
  json.object([&] {
    json.attribute("text", RecordedTensorText(tensor));
    if (tensor.TellsBad()) json.attribute("bad", tensor.bad);
    if (tensor.dtype != proto::DT_INVALID) json.attribute("dtype", DataTypeName(tensor.dtype));
    if (tensor.rank >= 0) json.attribute("rank", tensor.rank);
    if (tensor.rank >= 0 && static_cast<size_t>(tensor.rank) == tensor.dims.size())
      WriteNumbers(json, "dims", tensor.dims);
    if (tensor.what == Recorded::kNothing || tensor.what == Recorded::kBad) return;
    json.attribute("elements", tensor.health.elements);
    if (tensor.what < Recorded::kBadCounts) return;
    json.attribute("neg_inf", tensor.health.neg_inf);
    json.attribute("pos_inf", tensor.health.pos_inf);
    json.attribute("nan", tensor.health.nan);
    if (tensor.what < Recorded::kCounts) return;
    json.attribute("negative", tensor.health.negative);
    json.attribute("zero", tensor.health.zero);
    json.attribute("positive", tensor.health.positive);
  });
}

void WriteCauseJson(const DebugRun& run, const Cause& cause, OStream& json) {
  json.object([&] {
    json.attribute("node", fixUTF8(cause.node));
    json.attribute("op", fixUTF8(cause.op_type));
    json.attribute("function", cause.function.empty() ? llvm::json::Value(nullptr)
                                                      : llvm::json::Value(fixUTF8(cause.function)));
    json.attribute("output", cause.alert.output);
    json.attributeArray("kinds", [&] {
      for (const std::string& kind : BadKinds(cause.value)) json.value(kind);
    });
    json.attribute("index", nullptr);  // folders keep counts, not places
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
  });
}

void WriteDebugFolderJson(const DebugFolder& folder, OStream& json) {
  json.object([&] {
    json.attribute("path", fixUTF8(folder.path));
    json.attribute("kind", "debug folder");
    json.attributeArray("runs", [&] {
      for (const DebugRun& run : folder.runs) json.object([&] { WriteRun(json, run); });
    });
    json.attributeArray("problems", [&] {
      for (const std::string& problem : folder.problems) json.value(fixUTF8(problem));
    });
  });
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
