// Writes the JSON of debug folders (lib/tfdbg/debug_text.h).
#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"
#include "lib/tfdbg/debug_text.h"

namespace grapnel {
namespace {

using llvm::json::fixUTF8;
using llvm::json::OStream;

void WriteNumbers(OStream& json, const char* key, llvm::ArrayRef<int64_t> numbers) {
  json.attributeArray(key, [&] {
    for (int64_t number : numbers) json.value(number);
  });
}

// Writes an index, or null for -1.
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

void WriteRunJson(OStream& json, const DebugRun& run) {
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

void WriteDebugFolderJson(const DebugFolder& folder, OStream& json) {
  json.attribute("path", fixUTF8(folder.path));
  json.attribute("kind", "debug folder");
  json.attributeArray("runs", [&] {
    for (const DebugRun& run : folder.runs) json.object([&] { WriteRunJson(json, run); });
  });
  json.attributeArray("problems", [&] {
    for (const std::string& problem : folder.problems) json.value(fixUTF8(problem));
  });
}

}  // namespace grapnel
