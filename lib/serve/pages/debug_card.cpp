#include "lib/serve/pages/debug_card.h"

#include <set>

#include "lib/check/cause_text.h"
#include "lib/ir/device_name.h"
#include "lib/ir/tensor_name.h"
#include "lib/render/graph_page.h"
#include "lib/render/labels.h"
#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using llvm::json::OStream;

constexpr int kBatch = 256;
constexpr size_t kBatchesKept = 16;
constexpr int kHops = 2;
constexpr size_t kMostReaders = 24;

// Returns at most the first kMostReaders ids, because a call may have thousands of outputs.
llvm::ArrayRef<int64_t> FirstOf(llvm::ArrayRef<int64_t> ids) {
  return ids.take_front(std::min(ids.size(), kMostReaders));
}

void WriteRecordedValue(const RecordedTensor& value, OStream& json) {
  json.attributeBegin("value");
  WriteRecordedTensorJson(value, json);
  json.attributeEnd();
}

}  // namespace

std::string CardName(int trace, int execution) {
  if (trace >= 0) return "trace/" + std::to_string(trace);
  return execution >= 0 ? "execution/" + std::to_string(execution) : "";
}

// Returns the causes (how each tensor was computed) for batch `number` of kBatch consecutive cards.
// One pass over the records explains them all, and users open neighboring cards next.
std::shared_ptr<const DebugCards::Batch> DebugCards::BatchOf(bool is_trace, int number) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<const Batch>& batch = batches_[{is_trace, number}];
  if (batch) return batch;
  std::vector<DebugAlert> wanted;
  size_t end = is_trace ? run_.traces.size() : run_.executions.size();
  for (int i = number * kBatch; i < (number + 1) * kBatch && static_cast<size_t>(i) < end; ++i) {
    DebugAlert alert;
    (is_trace ? alert.trace : alert.execution) = i;
    if (is_trace) {
      alert.output = run_.traces[i].slot;
    } else {
      const std::vector<RecordedTensor>& outputs = run_.executions[i].outputs;
      auto bad = llvm::find_if(outputs, [](const RecordedTensor& output) { return output.bad; });
      if (bad != outputs.end()) alert.output = static_cast<int>(bad - outputs.begin());
    }
    wanted.push_back(alert);
  }
  auto made = std::make_shared<const Batch>(ExplainTensors(run_, wanted));
  if (batches_.size() > kBatchesKept) batches_.clear();
  batches_[{is_trace, number}] = made;
  return made;
}

Cause DebugCards::CauseOf(int trace, int execution) {
  int index = trace >= 0 ? trace : execution;
  return (*BatchOf(trace >= 0, index / kBatch))[index % kBatch];
}

void DebugCards::WritePlace(int graph, int node, OStream& json) {
  int body = graph < 0 ? 0 : module_.body_of[graph];
  if (body < 0 || node < 0) return;
  json.attributeArray("place", [&] {
    json.value(body);
    json.value(node);
  });
}

// Returns the index of a value's record; -1 if it has none. For an output of a function call,
// returns the record of the tensor inside the called function, whose card shows more.
int DebugCards::TraceOf(const ValueSource& source) const {
  if (source.trace >= 0 || source.tensor.op < 0 || source.execution < 0) return source.trace;
  return index_.TraceIn(source.tensor, source.execution);
}

void DebugCards::WriteInputs(const Cause& cause, int hops, OStream& json) {
  json.attributeArray("inputs", [&] {
    for (const CauseInput& input : cause.inputs) {
      const ValueSource& source = input.source;
      json.object([&] {
        json.attribute("tensor", Printable(input.tensor));
        json.attribute("made_by", Printable(input.made_by));
        json.attribute("made_in", Printable(input.made_in));
        if (input.is_bad_variable) json.attribute("bad_variable", true);
        int trace = TraceOf(source);
        std::string card = CardName(trace, source.execution);
        if (!card.empty()) json.attribute("card", card);
        if (source.tensor.op >= 0) WritePlace(source.tensor.graph, source.tensor.op, json);
        WriteRecordedValue(input.value, json);
        if (hops > 1 && !card.empty())
          WriteInputs(CauseOf(trace, source.execution), hops - 1, json);
      });
    }
  });
}

// If the tensor is a result of a function that Python called, writes the call's output, and the ops
// that read that, as a reader.
void DebugCards::WriteReturn(DebugTensor tensor, int trace, int hops, OStream& json) {
  int execution = trace < 0 ? -1 : run_.traces[trace].execution;
  if (execution < 0 || run_.executions[execution].graph != tensor.graph) return;
  const DebugExecution& call = run_.executions[execution];
  for (size_t i = 0; i < call.output_ids.size(); ++i) {
    auto result = index_.calls().Result(tensor.graph, i);
    if (!result || result->op != tensor.op) continue;
    json.object([&] {
      json.attribute("tensor", OutputName(Printable(call.op_type), static_cast<int>(i)));
      json.attribute("returned", true);
      json.attribute("card", CardName(-1, execution));
      WriteRecordedValue(i < call.outputs.size() ? call.outputs[i] : RecordedTensor(), json);
      if (hops > 1) {
        json.attributeArray("readers",
                            [&] { WriteEagerReaders(call.output_ids[i], hops - 1, json); });
      }
    });
  }
}

void DebugCards::WriteReader(int graph, int op, int trace, int hops, OStream& json) {
  const DebugOp& reader = run_.graphs[graph].ops[op];
  int made = trace < 0 ? -1 : index_.TraceNear(graph, op, 0, trace, true);
  json.object([&] {
    json.attribute("tensor", OutputName(Printable(reader.name), 0));
    json.attribute("op", Printable(reader.type));
    if (made >= 0) json.attribute("card", CardName(made, -1));
    WritePlace(graph, op, json);
    WriteRecordedValue(made < 0 ? RecordedTensor() : run_.traces[made].value, json);
    if (hops > 1) {
      json.attributeArray("readers", [&] {
        WriteReaders({graph, op, 0}, made < 0 ? trace : made, hops - 1, json);
      });
    }
  });
}

void DebugCards::WriteReaders(DebugTensor tensor, int trace, int hops, OStream& json) {
  std::vector<int> readers = index_.Readers(tensor);
  for (size_t i = 0; i < std::min(readers.size(), kMostReaders); ++i)
    WriteReader(tensor.graph, readers[i], trace, hops, json);
  for (const DebugTensor& reader : index_.ReadersOutside(tensor))
    WriteReader(reader.graph, reader.op, trace, hops, json);
  WriteReturn(tensor, trace, hops, json);
}

void DebugCards::WriteEagerReaders(int64_t id, int hops, OStream& json) {
  llvm::ArrayRef<int> readers = index_.EagerReaders(id);
  for (int reader : readers.take_front(std::min(readers.size(), kMostReaders))) {
    const DebugExecution& execution = run_.executions[reader];
    json.object([&] {
      json.attribute("tensor", Printable(ExecutionLabel(run_, execution)));
      json.attribute("execution", reader);
      json.attribute("card", CardName(-1, reader));
      WritePlace(-1, reader, json);
      WriteRecordedValue(execution.outputs.empty() ? RecordedTensor() : execution.outputs[0], json);
      if (hops > 1) {
        json.attributeArray("readers", [&] {
          for (int64_t output : FirstOf(execution.output_ids))
            WriteEagerReaders(output, hops - 1, json);
        });
      }
    });
  }
}

std::vector<DebugCards::Output> DebugCards::OutputsOf(int trace, int execution) const {
  std::vector<Output> outputs;
  if (trace < 0) {
    const std::vector<RecordedTensor>& values = run_.executions[execution].outputs;
    for (size_t i = 0; i < values.size(); ++i)
      outputs.push_back({static_cast<int>(i), -1, &values[i]});
    return outputs;
  }
  const DebugTrace& record = run_.traces[trace];
  outputs.push_back({record.slot, trace, &record.value});
  if (record.op < 0) return outputs;
  std::set<int> slots;
  for (int other : index_.Traces(record.graph, record.op)) slots.insert(run_.traces[other].slot);
  slots.erase(record.slot);
  for (int slot : slots) {
    int other = index_.TraceNear(record.graph, record.op, slot, trace, false);
    if (other >= 0) outputs.push_back({slot, other, &run_.traces[other].value});
  }
  return outputs;
}

void DebugCards::WriteOutputs(int trace, int execution, OStream& json) {
  json.attributeArray("outputs", [&] {
    for (const Output& output : OutputsOf(trace, execution)) {
      json.object([&] {
        json.attribute("slot", output.slot);
        if (output.trace >= 0) json.attribute("card", CardName(output.trace, -1));
        WriteRecordedValue(*output.value, json);
      });
    }
  });
}

// Writes the record's device, its position among the records of the same tensor, and the cards of
// that tensor's previous and next record.
void DebugCards::WriteWhen(int trace, OStream& json) {
  const DebugTrace& record = run_.traces[trace];
  json.attribute("device", Printable(ShortDevice(record.device)));
  if (record.op < 0) return;
  std::vector<int> same;
  for (int other : index_.Traces(record.graph, record.op))
    if (run_.traces[other].slot == record.slot) same.push_back(other);
  size_t at = llvm::lower_bound(same, trace) - same.begin();
  json.attribute("record", at);
  json.attribute("records", same.size());
  if (at > 0) json.attribute("before", CardName(same[at - 1], -1));
  if (at + 1 < same.size()) json.attribute("after", CardName(same[at + 1], -1));
}

void DebugCards::WriteInside(int execution, OStream& json) {
  const DebugIndex::Inside& inside = index_.InsideOf(execution);
  if (inside.traces == 0) return;
  json.attributeObject("inside", [&] {
    json.attribute("tensors", inside.traces);
    json.attribute("bad", inside.bad);
    json.attribute("first", CardName(inside.first, -1));
    if (inside.first_bad >= 0) json.attribute("first_bad", CardName(inside.first_bad, -1));
  });
}

// Writes the stack with the innermost frame first: users look first for the line that made the op.
void DebugCards::WriteStack(int stack, OStream& json) {
  json.attributeArray("stack", [&] {
    for (int frame : llvm::reverse(run_.StackAt(stack))) {
      if (frame < 0) continue;
      const DebugFrame& at = run_.frames[frame];
      json.object([&] {
        json.attribute("line", at.line);
        json.attribute("function", Printable(at.function));
        if (IsFrameworkFrame(run_, frame)) json.attribute("framework", true);
        if (at.source < 0) return;
        json.attribute("source", at.source);
        json.attribute("file", Printable(run_.sources[at.source].path));
      });
    }
  });
}

// Names the inputs of a function call, which Python passed, after the function's arguments.
void DebugCards::NameArguments(const DebugExecution& call, Cause* cause) const {
  const DebugCalls& calls = index_.calls();
  if (call.graph < 0 || calls.NumArguments(call.graph) != static_cast<int>(cause->inputs.size()))
    return;
  for (size_t i = 0; i < cause->inputs.size(); ++i) {
    int argument = calls.Argument(call.graph, static_cast<int>(i));
    cause->inputs[i].tensor = run_.graphs[call.graph].ops[argument].name.str() + ":0";
  }
}

std::string DebugCards::Trace(int trace) {
  const DebugTrace& record = run_.traces[trace];
  Cause cause = CauseOf(trace, -1);
  return PageDocument([&](OStream& json) {
    json.object([&] {
      json.attribute("card", CardName(trace, -1));
      json.attribute("tensor", OutputName(Printable(record.op_name), record.slot));
      json.attributeBegin("cause");
      WriteCauseJson(run_, cause, json);
      json.attributeEnd();
      WritePlace(record.graph, record.op, json);
      WriteWhen(trace, json);
      WriteOutputs(trace, -1, json);
      WriteInputs(cause, kHops, json);
      json.attributeArray("readers", [&] {
        if (record.op >= 0)
          WriteReaders({record.graph, record.op, record.slot}, trace, kHops, json);
      });
      WriteStack(cause.stack, json);
    });
  });
}

std::string DebugCards::Execution(int execution) {
  const DebugExecution& record = run_.executions[execution];
  Cause cause = CauseOf(-1, execution);
  NameArguments(record, &cause);
  return PageDocument([&](OStream& json) {
    json.object([&] {
      json.attribute("card", CardName(-1, execution));
      json.attribute("tensor", Printable(record.op_type));
      json.attributeBegin("cause");
      WriteCauseJson(run_, cause, json);
      json.attributeEnd();
      WritePlace(-1, execution, json);
      if (record.graph >= 0 && module_.body_of[record.graph] >= 0)
        json.attribute("body", module_.body_of[record.graph]);
      WriteInside(execution, json);
      WriteOutputs(-1, execution, json);
      json.attribute("all_outputs", record.output_ids.size());
      WriteInputs(cause, kHops, json);
      json.attributeArray("readers", [&] {
        for (int64_t id : FirstOf(record.output_ids)) WriteEagerReaders(id, kHops, json);
      });
      WriteStack(cause.stack, json);
    });
  });
}

}  // namespace grapnel
