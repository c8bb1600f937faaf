#include "lib/tfdbg/debug_writer.h"

#include <sys/random.h>
#include <unistd.h>

#include <cstring>
#include <limits>

#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/ir/text.h"
#include "lib/ir/types.h"
#include "lib/support/error.h"
#include "lib/tfdbg/debug_calls.h"
#include "lib/watch/debugger_skips.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

using proto::DebugEvent;

constexpr const char* kRootGraph = "root";
// Fills the place of a tensor's summary in a trace; the numbers are written there later.
constexpr char kFill = '\x5A';

// Returns a new run id: eight hexadecimal digits, as in TensorFlow.
std::string NewRunId() {
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<uint32_t>(getpid());
  return llvm::formatv("{0:x-8}", number).str();
}

llvm::StringRef BytesOf(llvm::ArrayRef<double> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

// Returns the bytes of the output of DebugNumericSummaryV2; empty for modes that the op does not
// support.
std::string Summary(proto::TensorDebugMode mode, int64_t tensor_id, DataType dtype,
                    llvm::ArrayRef<int64_t> dims, const Health& health) {
  auto number = [](int64_t n) { return static_cast<double>(n); };
  double id = number(tensor_id), rank = number(static_cast<int64_t>(dims.size()));
  std::vector<double> columns;
  switch (mode) {
    case proto::CURT_HEALTH:
      columns = {id, health.IsBad() ? 1.0 : 0.0};
      break;
    case proto::CONCISE_HEALTH:
      columns = {id, number(health.elements), number(health.neg_inf), number(health.pos_inf),
                 number(health.nan)};
      break;
    case proto::FULL_HEALTH:
      columns = {id,
                 -1.0,  // the device, which TensorFlow never fills in
                 number(dtype),
                 rank,
                 number(health.elements),
                 number(health.neg_inf),
                 number(health.pos_inf),
                 number(health.nan),
                 number(health.negative),
                 number(health.zero),
                 number(health.positive)};
      break;
    case proto::SHAPE: {
      double elements = 1;
      for (int64_t dim : dims) elements *= number(dim);
      columns = {id, number(dtype), rank, elements, 0, 0, 0, 0, 0, 0};
      // SHAPE records at most six dimensions: the last ones.
      dims = dims.take_back(6);
      for (size_t i = 0; i < dims.size(); ++i) columns[4 + i] = number(dims[i]);
      break;
    }
    case proto::REDUCE_INF_NAN_THREE_SLOTS: {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      float slots[] = {health.neg_inf ? -kInfinity : 0, health.pos_inf ? kInfinity : 0,
                       health.nan ? std::numeric_limits<float>::quiet_NaN() : 0};
      return std::string(reinterpret_cast<const char*>(slots), sizeof slots);
    }
    default:
      break;
  }
  return BytesOf(columns).str();
}

proto::TensorProto SummaryTensor(proto::TensorDebugMode mode, llvm::StringRef content) {
  bool has_floats = mode == proto::REDUCE_INF_NAN_THREE_SLOTS;
  proto::TensorProto tensor;
  tensor.set_dtype(has_floats ? proto::DT_FLOAT : proto::DT_DOUBLE);
  tensor.mutable_tensor_shape()->add_dim()->set_size(
      static_cast<int64_t>(content.size() / (has_floats ? sizeof(float) : sizeof(double))));
  tensor.set_tensor_content(content.str());
  return tensor;
}

void Add(proto::StackFrameWithId* frame, llvm::StringRef id, int line, llvm::StringRef function) {
  frame->set_id(id.str());
  frame->mutable_file_line_col()->set_file_index(0);
  frame->mutable_file_line_col()->set_line(line);
  frame->mutable_file_line_col()->set_func(function.str());
}

std::string FrameId(int line) { return "line" + std::to_string(line); }

// Returns the name for a function that `caller` calls as its body number `number`, with a prefix
// such as "while_body_" if needed: readers derive a body's role from its name.
std::string NameInRole(const Node& caller, llvm::StringRef function, int number) {
  llvm::StringRef op = caller.op();
  auto named = [&](BodyRole role, const char* prefix) {
    return (BodyRoleOf(function) == role ? "" : prefix) + function.str();
  };
  if (op.ends_with("While")) {
    auto cond = caller.FindAttr("cond");
    auto name = cond ? cond->AsFuncName() : std::nullopt;
    return name && *name == function ? named(BodyRole::kLoopCondition, "while_cond_")
                                     : named(BodyRole::kLoopBody, "while_body_");
  }
  if (op.ends_with("If")) {
    auto then = caller.FindAttr("then_branch");
    auto name = then ? then->AsFuncName() : std::nullopt;
    return name && *name == function ? named(BodyRole::kThen, "cond_true_")
                                     : named(BodyRole::kElse, "cond_false_");
  }
  if (op.ends_with("Case"))
    return named(BodyRole::kCase, ("switch_case_branch" + std::to_string(number) + "_").c_str());
  return function.str();
}

}  // namespace

bool IsDebugged(llvm::StringRef op_type) {
  return !IsSkippedByDebugger(op_type) && op_type != "_Arg" && op_type != "_Retval";
}

bool IsDebugged(proto::TensorDebugMode mode, DataType dtype) {
  switch (mode) {
    case proto::CURT_HEALTH:
    case proto::CONCISE_HEALTH:
    case proto::FULL_HEALTH:
    case proto::REDUCE_INF_NAN_THREE_SLOTS:
      return IsFloating(dtype);
    case proto::SHAPE:
      return IsFloating(dtype) || IsInteger(dtype) || dtype == proto::DT_BOOL;
    default:
      return dtype != proto::DT_RESOURCE && dtype != proto::DT_VARIANT;
  }
}

// --- One file.

void DebugWriter::Stream::Add(llvm::StringRef event) {
  if (limit_ <= 0) return file_.Add(event);
  if (static_cast<int64_t>(kept_.size()) == limit_) {
    kept_.push_back(std::move(kept_.front()));  // reuses its memory
    kept_.pop_front();
    kept_.back().assign(event.data(), event.size());
  } else {
    kept_.push_back(event.str());
  }
}

Error DebugWriter::Stream::Close() {
  for (const std::string& event : kept_) file_.Add(event);
  kept_.clear();
  return file_.Close();
}

// --- The folder.

Expected<std::unique_ptr<DebugWriter>> DebugWriter::Create(const Module& module,
                                                           DebugWriterOptions options) {
  std::unique_ptr<DebugWriter> writer(new DebugWriter(module, std::move(options)));
  RETURN_IF_ERROR(writer->Open());
  writer->WriteGraphs();
  RETURN_IF_ERROR(writer->Flush());
  return writer;
}

DebugWriter::~DebugWriter() { llvm::consumeError(Close()); }

Error DebugWriter::Open() {
  const std::string& folder = options_.folder;
  RETURN_IF_ERROR(CreateDirectories(folder));
  // Refuse a folder that has a run: if a folder contains two, TensorBoard shows neither.
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code)) {
    if (llvm::StringRef(it->path()).ends_with(".metadata"))
      return MakeError(
          "{0}: has the debug files of another run ({1}), but readers expect one run in a "
          "folder: "
          "name another folder, or remove these files",
          folder, llvm::sys::path::filename(it->path()));
  }
  run_id_ = NewRunId();
  host_ = HostName();
  prefix_ = llvm::formatv("{0}/tfdbg_events.{1:d10}.{2}.{3}", folder,
                          static_cast<int64_t>(WallTime()), host_, run_id_)
                .str();
  const std::pair<Stream*, const char*> streams[] = {{&source_files_, ".source_files"},
                                                     {&stack_frames_, ".stack_frames"},
                                                     {&graphs_, ".graphs"},
                                                     {&metadata_, ".metadata"},
                                                     {&execution_, ".execution"},
                                                     {&traces_, ".graph_execution_traces"}};
  for (const auto& [stream, suffix] : streams) RETURN_IF_ERROR(stream->Open(prefix_ + suffix));
  execution_.Keep(options_.circular_buffer_size);
  traces_.Keep(options_.circular_buffer_size);
  DebugEvent event;
  event.set_wall_time(WallTime());
  event.mutable_debug_metadata()->set_tensorflow_version("2.21.0");
  event.mutable_debug_metadata()->set_file_version("debug.Event:1");
  event.mutable_debug_metadata()->set_tfdbg_run_id(run_id_);
  metadata_.Add(event.SerializeAsString());
  return metadata_.Flush();
}

// Adds the bodies that bodies_[first] and later ones call, directly or indirectly, each once. Adds
// the text of all these bodies to `file`, unless it is null.
void DebugWriter::FindBodies(size_t first, proto::SourceFile* file) {
  for (size_t b = first; b < bodies_.size(); ++b) {
    const Graph& graph = *bodies_[b].graph;
    if (file) file->add_lines((b == 0 ? "# " : "func @") + bodies_[b].name);
    for (Node node : graph.nodes()) {
      std::vector<std::string> stack = bodies_[b].callers;
      if (file) {
        std::string line = NodeText(node);
        std::replace(line.begin(), line.end(), '\n', ' ');
        file->add_lines(b == 0 ? line : "  " + line);
        stack.push_back(FrameId(file->lines_size()));
        DebugEvent frame;
        frame.set_wall_time(WallTime());
        Add(frame.mutable_stack_frame_with_id(), stack.back(), file->lines_size(), bodies_[b].name);
        stack_frames_.Add(frame.SerializeAsString());
      }
      int number = 0;
      for (llvm::StringRef called : CalledFunctions(node)) {
        const Function* function = module_.FindFunction(called);
        std::string id = "g" + std::to_string(graph_ids_.size());
        if (function && graph_ids_.try_emplace(&function->body, id).second) {
          bodies_[b].called[node.id()].push_back(bodies_.size());
          Body body;
          body.graph = &function->body;
          body.name = NameInRole(node, called, number);
          body.callers = stack;
          bodies_.push_back(std::move(body));
        }
        ++number;
      }
    }
  }
}

void DebugWriter::WriteGraphs() {
  DebugEvent root;
  root.set_wall_time(WallTime());
  root.mutable_debugged_graph()->set_graph_id(kRootGraph);
  graphs_.Add(root.SerializeAsString());
  DebugEvent device;
  device.set_wall_time(WallTime());
  device.mutable_debugged_device()->set_device_name(LocalDeviceName("CPU", 0));
  device.mutable_debugged_device()->set_device_id(1);
  graphs_.Add(device.SerializeAsString());
  graph_ids_[&module_.main] = "g0";
  if (options_.is_eager) return;
  DebugEvent text;
  text.set_wall_time(WallTime());
  text.mutable_source_file()->set_file_path(options_.source);
  text.mutable_source_file()->set_host_name(host_);
  bodies_.emplace_back();
  bodies_[0].graph = &module_.main;
  bodies_[0].name = options_.graph_name;
  FindBodies(0, text.mutable_source_file());
  source_files_.Add(text.SerializeAsString());
  int line = 0;
  std::vector<int> first_lines;
  for (const Body& body : bodies_) {
    first_lines.push_back(line + 2);
    line += static_cast<int>(body.graph->num_nodes()) + 1;
  }
  WriteBody(0, kRootGraph, first_lines);
}

// For a program in eager mode: adds a function and the functions that it calls, unless they were
// added before.
void DebugWriter::AddFunction(const Function& function) {
  std::string id = "g" + std::to_string(graph_ids_.size());
  if (!graph_ids_.try_emplace(&function.body, id).second) return;
  size_t first = bodies_.size();
  bodies_.emplace_back();
  bodies_[first].graph = &function.body;
  bodies_[first].name = function.name().str();
  FindBodies(first, nullptr);
  WriteBody(first, kRootGraph, std::vector<int>(bodies_.size()));
}

// Writes a body in the order in which Python would trace it: the ops of a called body come before
// the op that calls it, and a graph before the graphs inside of it.
void DebugWriter::WriteBody(size_t number, const std::string& outer,
                            llvm::ArrayRef<int> first_lines) {
  const Body& body = bodies_[number];
  const std::string id = graph_ids_.lookup(body.graph);
  DebugEvent graph;
  graph.set_wall_time(WallTime());
  graph.mutable_debugged_graph()->set_graph_id(id);
  graph.mutable_debugged_graph()->set_graph_name(body.name);
  graph.mutable_debugged_graph()->set_outer_context_id(outer);
  graphs_.Add(graph.SerializeAsString());
  int line = first_lines[number];
  for (Node node : body.graph->nodes()) {
    auto called = body.called.find(node.id());
    if (called != body.called.end()) {
      for (size_t b : called->second) WriteBody(b, id, first_lines);
    }
    WriteOp(node, body, line++);
  }
}

void DebugWriter::WriteOp(const Node& node, const Body& body, int line) {
  DebugEvent event;
  event.set_wall_time(WallTime());
  proto::GraphOpCreation* op = event.mutable_graph_op_creation();
  // Write arguments and results as Python would create them: readers recognize them as
  // Placeholders, and as Identities at the end of a body.
  op->set_op_type(node.op() == "_Arg"      ? "Placeholder"
                  : node.op() == "_Retval" ? "Identity"
                                           : node.op().str());
  op->set_op_name(node.name().str());
  op->set_graph_name(body.name);
  op->set_graph_id(graph_ids_.lookup(body.graph));
  op->set_device_name(node.device().str());
  for (Port port : node.inputs()) {
    if (port.IsControl() || port.node == kNoNode) continue;
    op->add_input_names(
        llvm::formatv("{0}:{1}", node.graph().node(port.node).name(), port.index).str());
  }
  int outputs = node.op() == "_Retval" ? 1 : std::max(NumOutputs(node), 0);
  op->set_num_outputs(outputs);
  std::vector<Trace>& traces = trace_of_[{&node.graph(), node.id()}];
  traces.resize(outputs);
  for (Trace& trace : traces) {
    trace.tensor_id = next_tensor_id_++;
    op->add_output_tensor_ids(static_cast<int32_t>(trace.tensor_id));
  }
  op->mutable_code_location()->set_host_name(host_);
  std::vector<std::string> stack = ProgramStack(node);
  if (stack.empty()) {
    stack = body.callers;
    stack.push_back(options_.is_eager ? ProgramFrame({options_.source, 1, 0, body.name, ""})
                                      : FrameId(line));
  }
  for (const std::string& frame : stack) op->mutable_code_location()->add_stack_frame_ids(frame);
  graphs_.Add(event.SerializeAsString());
}

// --- The program's source lines.

int DebugWriter::ProgramFile(const SourceFrame& frame) {
  // The model's text, which is not written for a program in eager mode, is file 0.
  int number = static_cast<int>(program_files_.size()) + (options_.is_eager ? 0 : 1);
  auto [file, is_new] = program_files_.try_emplace(frame.file.str(), number);
  if (!is_new) return file->second;
  DebugEvent event;
  event.set_wall_time(WallTime());
  event.mutable_source_file()->set_file_path(frame.file.str());
  event.mutable_source_file()->set_host_name(host_);
  if (options_.read_source) {
    for (std::string& line : options_.read_source(frame))
      event.mutable_source_file()->add_lines(std::move(line));
  }
  source_files_.Add(event.SerializeAsString());
  return file->second;
}

std::string DebugWriter::ProgramFrame(const SourceFrame& frame) {
  auto [known, is_new] = program_frames_.try_emplace(FrameText(frame), "");
  if (!is_new) return known->second;
  known->second = "program" + std::to_string(program_frames_.size());
  DebugEvent event;
  event.set_wall_time(WallTime());
  proto::StackFrameWithId* made = event.mutable_stack_frame_with_id();
  Add(made, known->second, frame.line, frame.function);
  made->mutable_file_line_col()->set_file_index(ProgramFile(frame));
  stack_frames_.Add(event.SerializeAsString());
  return known->second;
}

// Returns the ids of the node's stack frames, outermost first; empty if the node has no stack.
std::vector<std::string> DebugWriter::ProgramStack(const Node& node) {
  std::vector<std::string> ids;
  if (!options_.stack_of) return ids;
  for (const SourceFrame& frame : options_.stack_of(node)) ids.push_back(ProgramFrame(frame));
  return ids;
}

// --- Runs.

// Sets the bytes of a trace, with placeholders for the time and the counts, which differ between
// events.
void DebugWriter::DescribeTrace(const TapEvent& seen, llvm::StringRef summary, Trace* trace) const {
  DebugEvent event;
  event.set_wall_time(1);
  proto::GraphExecutionTrace* made = event.mutable_graph_execution_trace();
  made->set_tfdbg_context_id(graph_ids_.lookup(&seen.node.graph()));
  made->set_op_name(seen.node.name().str());
  made->set_output_slot(seen.output);
  made->set_tensor_debug_mode(options_.mode);
  std::string device = seen.node.device().str();
  made->set_device_name(device.empty() ? LocalDeviceName("CPU", 0) : CanonicalDevice(device));
  if (!summary.empty()) {
    *made->mutable_tensor_proto() =
        SummaryTensor(options_.mode, std::string(summary.size(), kFill));
  } else if (options_.mode == proto::NO_TENSOR) {
    made->mutable_tensor_proto()->set_dtype(proto::DT_FLOAT);
    made->mutable_tensor_proto()->mutable_tensor_shape()->add_dim()->set_size(0);
  } else {
    made->mutable_tensor_proto()->ParseFromString(seen.value.ToLiteral().ToTensorProto());
  }
  trace->record = event.SerializeAsString();
  trace->content = summary.empty() ? 0 : trace->record.find(std::string(summary.size(), kFill));
}

void DebugWriter::AddTrace(const TapEvent& seen) {
  if (!IsDebugged(options_.mode, seen.dtype) || !seen.text.empty()) return;
  std::lock_guard lock(mutex_);
  if (options_.is_eager && seen.calls) {
    auto called = llvm::find_if(*seen.calls, [](const TapCall& call) { return call.function; });
    if (called != seen.calls->end()) AddFunction(*called->function);
  }
  auto found = trace_of_.find({&seen.node.graph(), seen.node.id()});
  if (found == trace_of_.end() || seen.output >= static_cast<int>(found->second.size())) return;
  Trace& trace = found->second[seen.output];
  std::string summary = Summary(options_.mode, trace.tensor_id, seen.dtype, seen.dims, seen.health);
  if (trace.record.empty() || options_.mode == proto::FULL_TENSOR)
    DescribeTrace(seen, summary, &trace);
  std::memcpy(trace.record.data() + 1, &seen.time, sizeof seen.time);  // after the field's tag
  if (!summary.empty())
    std::memcpy(trace.record.data() + trace.content, summary.data(), summary.size());
  if (options_.most_bytes > 0 && options_.circular_buffer_size <= 0 &&
      trace_bytes_ + trace.record.size() > options_.most_bytes) {
    ++left_out_;
    return;
  }
  trace_bytes_ += trace.record.size();
  traces_.Add(trace.record);
}

// Returns a serialized TensorProto that records an output of an execution; empty if the mode does
// not record the output's dtype.
std::string DebugWriter::TensorProtoOf(const Tensor& tensor) const {
  if (tensor.HoldsObjects() || !IsDebugged(options_.mode, tensor.dtype())) return "";
  if (options_.mode == proto::FULL_TENSOR) return tensor.ToLiteral().ToTensorProto();
  std::string summary = Summary(options_.mode, -1, tensor.dtype(), tensor.dims(), HealthOf(tensor));
  return SummaryTensor(options_.mode, summary).SerializeAsString();
}

void DebugWriter::AddValues(llvm::ArrayRef<Tensor> values, const TapFilter& filter,
                            proto::Execution* execution) const {
  if (options_.mode == proto::NO_TENSOR) return;
  for (const Tensor& value : values) {
    if (!value) continue;
    // Add a tensor even if it stays empty: readers find the tensor of an output by its position.
    proto::TensorProto* tensor = execution->add_tensor_protos();
    if (filter.FitsDtype(value.dtype())) tensor->ParseFromString(TensorProtoOf(value));
  }
}

void DebugWriter::AddOp(const Node& node, llvm::ArrayRef<Tensor> outputs, const TapFilter& values) {
  const Function* called = nullptr;
  if (node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall") {
    std::vector<llvm::StringRef> names = CalledFunctions(node);
    called = names.empty() ? nullptr : module_.FindFunction(names[0]);
  }
  if (!called && !IsDebugged(node.op())) return;
  std::lock_guard lock(mutex_);
  auto id_of = [&](NodeId id, int output) {
    auto [known, is_new] = eager_ids_.try_emplace({id, output}, next_eager_id_);
    next_eager_id_ += is_new;
    return known->second;
  };
  DebugEvent event;
  event.set_wall_time(WallTime());
  proto::Execution* made = event.mutable_execution();
  made->set_op_type(called ? called->name().str() : node.op().str());
  if (called) {
    AddFunction(*called);
    made->set_graph_id(graph_ids_.lookup(&called->body));
  }
  made->set_num_outputs(static_cast<int32_t>(outputs.size()));
  made->set_tensor_debug_mode(options_.mode);
  for (Port port : node.inputs()) {
    if (!port.IsControl()) made->add_input_tensor_ids(id_of(port.node, port.index));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    made->add_output_tensor_ids(id_of(node.id(), static_cast<int>(i)));
    made->add_output_tensor_device_ids(1);
  }
  if (values.FitsNode(node)) AddValues(outputs, values, made);
  made->mutable_code_location()->set_host_name(host_);
  std::vector<std::string> stack = ProgramStack(node);
  if (stack.empty()) stack.push_back(ProgramFrame({options_.source, 1, 0, "", ""}));
  for (const std::string& frame : stack) made->mutable_code_location()->add_stack_frame_ids(frame);
  execution_.Add(event.SerializeAsString());
}

void DebugWriter::AddExecution(llvm::ArrayRef<Tensor> feeds, llvm::ArrayRef<Tensor> fetches) {
  std::lock_guard lock(mutex_);
  DebugEvent event;
  event.set_wall_time(WallTime());
  proto::Execution* made = event.mutable_execution();
  made->set_op_type("__inference_" + options_.graph_name + "_0");
  made->set_graph_id(graph_ids_.lookup(&module_.main));
  made->set_num_outputs(static_cast<int32_t>(fetches.size()));
  made->set_tensor_debug_mode(options_.mode);
  for (size_t i = 0; i < feeds.size(); ++i) made->add_input_tensor_ids(next_eager_id_++);
  for (size_t i = 0; i < fetches.size(); ++i) {
    made->add_output_tensor_ids(next_eager_id_++);
    made->add_output_tensor_device_ids(1);
  }
  AddValues(fetches, {}, made);
  made->mutable_code_location()->set_host_name(host_);
  made->mutable_code_location()->add_stack_frame_ids(FrameId(2));
  execution_.Add(event.SerializeAsString());
}

// Writes traces before executions, so that a concurrent reader never finds an execution without its
// traces.
Error DebugWriter::Flush() {
  std::lock_guard lock(mutex_);
  for (Stream* stream : {&source_files_, &stack_frames_, &graphs_, &traces_, &execution_})
    RETURN_IF_ERROR(stream->Flush());
  return Error::success();
}

Error DebugWriter::Close() {
  if (std::exchange(is_closed_, true)) return Error::success();
  std::lock_guard lock(mutex_);
  Error first = Error::success();
  for (Stream* stream :
       {&source_files_, &stack_frames_, &graphs_, &traces_, &execution_, &metadata_}) {
    Error error = stream->Close();
    if (error && !first)
      first = std::move(error);
    else
      llvm::consumeError(std::move(error));
  }
  return first;
}

}  // namespace grapnel
