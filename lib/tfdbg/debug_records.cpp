#include "lib/tfdbg/debug_records.h"

#include "lib/io/record.h"
#include "lib/ir/line_table.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"
#include "lib/tfdbg/autograph_source.h"

namespace grapnel {
namespace {

constexpr size_t kProblemsPerFile = 20;
constexpr int kMaxNesting = 500;

double AsDouble(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}

// Appends one number of a repeated field, or all numbers of a packed field.
template <typename T>
void AppendNumbers(WireReader& reader, std::vector<T>* numbers) {
  if (reader.type() == WireType::kVarint) numbers->push_back(static_cast<T>(reader.number()));
  if (reader.type() != WireType::kBytes) return;
  WireReader packed(reader.bytes());
  uint64_t number;
  while (!packed.AtEnd() && packed.Varint(&number)) numbers->push_back(static_cast<T>(number));
}

bool IsFrameworkPath(llvm::StringRef path) {
  return IsFrameworkFile(path) || IsAutographFile(path);
}

}  // namespace

void DebugRecords::Report(std::string text) {
  size_t count = problems_in_file_++;
  if (count > kProblemsPerFile) return;
  if (count == kProblemsPerFile) text = "more problems, which are not listed";
  std::string where = record_ ? llvm::formatv("record {0}: ", record_).str() : "";
  folder_.problems.push_back(file_ + ": " + where + text);
}

void DebugRecords::BeginSet() {
  ++set_;
  set_sources_.clear();
}

void DebugRecords::ReadFile(llvm::StringRef name, llvm::StringRef bytes) {
  file_ = name.str();
  record_ = problems_in_file_ = 0;
  RecordReader records(bytes);
  while (records.Next()) {
    ++record_;
    if (records.DataIsIntact()) {
      ReadEvent(records.data());
    } else if (records.problem().empty()) {
      Report("its checksum is wrong: the record is skipped");
    }
  }
  record_ = 0;
  if (!records.problem().empty()) Report(records.problem().str());
}

void DebugRecords::ReadEvent(llvm::StringRef event) {
  wall_time_ = 0;
  WireReader reader(event);
  while (reader.Next()) {
    if (reader.Is(kWallTime, WireType::kFixed64)) wall_time_ = AsDouble(reader.number());
    if (reader.type() != WireType::kBytes) continue;
    switch (reader.field()) {
      case kSourceFile:
        ReadSourceFile(reader.bytes());
        break;
      case kStackFrame:
        ReadStackFrame(reader.bytes());
        break;
      case kGraphOp:
        ReadGraphOp(reader.bytes());
        break;
      case kDebuggedGraph:
        ReadDebuggedGraph(reader.bytes());
        break;
      case kExecution:
        ReadExecution(reader.bytes());
        break;
      case kTrace:
        ReadTrace(reader.bytes());
        break;
      case kDevice:
        ReadDevice(reader.bytes());
        break;
      default:
        break;
    }
  }
  if (reader.failed()) Report("the DebugEvent is not complete: the rest of the record is skipped");
}

void DebugRecords::ReadSourceFile(llvm::StringRef record) {
  DebugSource source;
  source.record = record;
  WireReader reader(record);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) source.path = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) source.host = reader.bytes();
  }
  source.is_framework = IsFrameworkPath(source.path);
  auto [at, is_new] = source_by_path_.try_emplace({source.host, source.path},
                                                  static_cast<int>(run_.sources.size()));
  if (is_new) {
    run_.sources.push_back(source);
  } else {
    run_.sources[at->second] = source;
  }
  // file_index, by which stack frames refer to a file, counts each file once.
  if (!llvm::is_contained(set_sources_, at->second)) set_sources_.push_back(at->second);
}

void DebugRecords::ReadFileLine(llvm::StringRef record, DebugFrame* frame) {
  uint64_t index = 0;
  WireReader reader(record);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kVarint)) index = reader.number();
    if (reader.Is(2, WireType::kVarint)) frame->line = static_cast<int>(reader.number());
    if (reader.Is(4, WireType::kBytes)) frame->function = reader.bytes();
  }
  if (index < set_sources_.size()) {
    frame->source = set_sources_[index];
  } else {
    Report(llvm::formatv("stack frame '{0}' refers to source file {1}, but only {2} are recorded",
                         frame->id, index, set_sources_.size())
               .str());
  }
}

void DebugRecords::ReadStackFrame(llvm::StringRef record) {
  DebugFrame frame;
  llvm::StringRef file_line;
  WireReader reader(record);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) frame.id = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) file_line = reader.bytes();
  }
  ReadFileLine(file_line, &frame);
  if (frame_by_id_.try_emplace(frame.id, static_cast<int>(run_.frames.size())).second)
    run_.frames.push_back(frame);
}

void DebugRecords::ReadDevice(llvm::StringRef record) {
  DebugDevice device;
  WireReader reader(record);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) device.name = reader.bytes();
    if (reader.Is(2, WireType::kVarint)) device.id = static_cast<int>(reader.number());
  }
  run_.devices.push_back(device);
}

int DebugRecords::GraphOf(llvm::StringRef id) {
  auto [at, is_new] = graph_by_id_.try_emplace(id, static_cast<int>(run_.graphs.size()));
  if (is_new) {
    run_.graphs.emplace_back();
    run_.graphs.back().id = id;
    outer_ids_.emplace_back();
    graph_sets_.push_back(-1);
  }
  return at->second;
}

void DebugRecords::ReadDebuggedGraph(llvm::StringRef record) {
  llvm::StringRef id, name, outer;
  WireReader reader(record);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) id = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) name = reader.bytes();
    if (reader.Is(6, WireType::kBytes)) outer = reader.bytes();
  }
  int index = GraphOf(id);
  DebugGraph& graph = run_.graphs[index];
  // In a distributed program, each host describes the same graphs: keep the first description.
  if (graph.described) return;
  graph.described = true;
  graph.name = name;
  outer_ids_[index] = outer;
  graph_sets_[index] = set_;
}

// Parses an input, which TensorFlow writes as "node:slot" (only data inputs are recorded). Files of
// other programs may spell inputs differently.
DebugInput DebugRecords::ParseInput(llvm::StringRef text) {
  TensorName name = ReadFunctionTensorName(text);
  DebugInput input;
  input.op_name = name.has_index ? name.node : text;
  input.slot = name.index;
  return input;
}

void DebugRecords::ReadGraphOp(llvm::StringRef record) {
  DebugOp op;
  op.wall_time = wall_time_;
  llvm::StringRef graph_id;
  WireReader reader(record);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) op.type = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) op.name = reader.bytes();
    if (reader.Is(4, WireType::kBytes)) graph_id = reader.bytes();
    if (reader.Is(6, WireType::kBytes) && !ReadTensorName(reader.bytes()).control)
      op.inputs.push_back(ParseInput(reader.bytes()));
    if (reader.Is(7, WireType::kVarint)) op.outputs = static_cast<int>(reader.number());
    if (reader.Is(8, WireType::kBytes)) op.stack = ReadStack(reader.bytes());
    if (reader.field() == 9) AppendNumbers(reader, &op.tensor_ids);
  }
  int index = GraphOf(graph_id);
  DebugGraph& graph = run_.graphs[index];
  if (graph_sets_[index] >= 0 && graph_sets_[index] != set_) return;
  op.order = ops_++;
  if (!graph.op_by_name.try_emplace(op.name, static_cast<int>(graph.ops.size())).second) {
    Report(
        llvm::formatv("graph '{0}' has two ops '{1}': the second is skipped", graph.name, op.name)
            .str());
    return;
  }
  graph.ops.push_back(std::move(op));
}

int DebugRecords::ReadStack(llvm::StringRef code_location) {
  std::vector<int> frames;
  WireReader reader(code_location);
  while (reader.Next()) {
    if (!reader.Is(2, WireType::kBytes)) continue;
    auto at = frame_by_id_.find(reader.bytes());
    bool known = at != frame_by_id_.end();
    frames.push_back(known ? at->second : -1);
    if (!known) Report("stack frame '" + reader.bytes().str() + "' is not in the folder");
  }
  if (frames.empty()) return -1;
  auto [at, is_new] = stack_index_.try_emplace(frames, static_cast<int>(run_.stacks.size()));
  if (is_new) run_.stacks.push_back(std::move(frames));
  return at->second;
}

RecordedTensor DebugRecords::ReadTensor(TensorDebugMode mode, llvm::StringRef tensor) {
  std::string problem;
  RecordedTensor value = ReadRecordedTensor(mode, tensor, &problem);
  if (!problem.empty()) Report(std::move(problem));
  return value;
}

void DebugRecords::ReadExecution(llvm::StringRef record) {
  DebugExecution execution;
  execution.wall_time = wall_time_;
  WireReader reader(record);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) execution.op_type = reader.bytes();
    if (reader.Is(3, WireType::kBytes)) execution.graph_id = reader.bytes();
    if (reader.field() == 4) AppendNumbers(reader, &execution.input_ids);
    if (reader.field() == 5) AppendNumbers(reader, &execution.output_ids);
    if (reader.Is(6, WireType::kVarint))
      execution.mode = static_cast<TensorDebugMode>(static_cast<int>(reader.number()));
    if (reader.Is(7, WireType::kBytes)) execution.tensors.push_back(reader.bytes());
    if (reader.Is(8, WireType::kBytes)) execution.stack = ReadStack(reader.bytes());
    if (reader.field() == 9) AppendNumbers(reader, &execution.device_ids);
  }
  if (!execution.graph_id.empty()) execution.graph = GraphOf(execution.graph_id);
  for (llvm::StringRef tensor : execution.tensors)
    execution.outputs.push_back(ReadTensor(execution.mode, tensor));
  run_.executions.push_back(std::move(execution));
}

void DebugRecords::ReadTrace(llvm::StringRef record) {
  DebugTrace trace;
  trace.wall_time = wall_time_;
  llvm::StringRef graph_id;
  WireReader reader(record);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) graph_id = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) trace.op_name = reader.bytes();
    if (reader.Is(3, WireType::kVarint)) trace.slot = static_cast<int>(reader.number());
    if (reader.Is(4, WireType::kVarint))
      trace.mode = static_cast<TensorDebugMode>(static_cast<int>(reader.number()));
    if (reader.Is(5, WireType::kBytes)) trace.tensor = reader.bytes();
    if (reader.Is(6, WireType::kBytes)) trace.device = reader.bytes();
  }
  trace.graph = GraphOf(graph_id);
  trace.value = ReadTensor(trace.mode, trace.tensor);
  run_.traces.push_back(std::move(trace));
}

void DebugRecords::ResolveInputs(DebugGraph* graph) {
  for (DebugOp& op : graph->ops)
    for (DebugInput& input : op.inputs) input.op = graph->Find(input.op_name);
}

void DebugRecords::ResolveTraces() {
  for (DebugTrace& trace : run_.traces) {
    const DebugGraph& graph = run_.graphs[trace.graph];
    trace.op = graph.Find(trace.op_name);
    if (trace.op < 0 && graph.described)
      Report(llvm::formatv("there is a trace of op '{1}', but graph '{0}' has no such op",
                           graph.name, trace.op_name)
                 .str());
  }
}

// Detaches graphs that are nested in themselves, directly or indirectly: following `outer` would
// never end.
void DebugRecords::BreakCycles() {
  for (size_t i = 0; i < run_.graphs.size(); ++i) {
    int outer = run_.graphs[i].outer;
    for (int depth = 0; outer >= 0 && depth < kMaxNesting; ++depth)
      outer = run_.graphs[outer].outer;
    if (outer < 0) continue;
    Report(llvm::formatv("graph '{0}' is nested in itself, or in more than {1} graphs",
                         run_.graphs[i].name, kMaxNesting)
               .str());
    run_.graphs[i].outer = -1;
  }
}

void DebugRecords::Finish() {
  file_ = folder_.path;
  record_ = problems_in_file_ = 0;
  for (size_t i = 0; i < run_.graphs.size(); ++i) {
    DebugGraph& graph = run_.graphs[i];
    ResolveInputs(&graph);
    if (!graph.described)
      Report("graph '" + graph.id.str() + "' is used, but no record describes it");
    if (outer_ids_[i].empty()) continue;
    auto outer = graph_by_id_.find(outer_ids_[i]);
    if (outer != graph_by_id_.end()) {
      graph.outer = outer->second;
    } else {
      Report(llvm::formatv("graph '{0}' is nested in graph '{1}', which no record describes",
                           graph.name, outer_ids_[i])
                 .str());
    }
  }
  BreakCycles();
  for (size_t i = 0; i < run_.graphs.size(); ++i)
    if (int outer = run_.graphs[i].outer; outer >= 0)
      run_.graphs[outer].inner.push_back(static_cast<int>(i));
  ResolveTraces();
}

}  // namespace grapnel
