#include "lib/tfdbg/v1_dump.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "lib/ir/device_name.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/wire.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

constexpr int kMostOutputs = 1 << 16;  // larger slots are from damaged files
constexpr llvm::StringLiteral kDevicePrefix = "_tfdbg_device_", kGraphPrefix = "_tfdbg_graph_",
                              kCorePrefix = "_tfdbg_core_metadata_", kRunPrefix = "run_",
                              kCopyPrefix = "__copy_", kTapPrefix = "__dbg_";

std::vector<std::string> NamesIn(llvm::StringRef path) {
  auto names = ListDirectory(path);
  if (names) return std::move(*names);
  llvm::consumeError(names.takeError());
  return {};
}

bool HoldsDevices(llvm::StringRef path) {
  return llvm::any_of(NamesIn(path),
                      [](llvm::StringRef name) { return name.starts_with(kDevicePrefix); });
}

// Returns the folders of runs in order: by the number at the end of the name, which counts the
// runs, then by time.
std::vector<std::string> RunFolders(llvm::StringRef path) {
  if (HoldsDevices(path)) return {path.str()};
  std::vector<std::pair<std::pair<uint64_t, uint64_t>, std::string>> found;
  for (const std::string& name : NamesIn(path)) {
    llvm::StringRef rest = name;
    std::string folder = JoinPath(path, name);
    uint64_t time = 0, number = 0;
    if (!rest.consume_front(kRunPrefix) || rest.consumeInteger(10, time)) continue;
    if (rest.consume_front("_")) rest.consumeInteger(10, number);
    if (HoldsDevices(folder)) found.push_back({{number, time}, folder});
  }
  llvm::sort(found);
  std::vector<std::string> folders;
  folders.reserve(found.size());
  for (auto& [order, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

// The fields of an Event. Each file contains one Event.
struct DumpedEvent {
  double wall_time = 0;
  llvm::StringRef graph, message;
  llvm::StringRef watched, tensor;  // "Log:0:DebugIdentity", and a TensorProto
};

DumpedEvent ParseEvent(llvm::StringRef bytes) {
  DumpedEvent event;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kFixed64)) {
      uint64_t bits = reader.number();
      std::memcpy(&event.wall_time, &bits, sizeof bits);
    }
    if (reader.Is(4, WireType::kBytes)) event.graph = reader.bytes();
    if (reader.Is(6, WireType::kBytes)) {
      WireReader log(reader.bytes());
      while (log.Next())
        if (log.Is(2, WireType::kBytes)) event.message = log.bytes();
    }
    if (!reader.Is(5, WireType::kBytes)) continue;
    WireReader summary(reader.bytes());
    while (summary.Next()) {
      if (!summary.Is(1, WireType::kBytes)) continue;
      WireReader value(summary.bytes());
      while (value.Next()) {
        if (value.Is(7, WireType::kBytes)) event.watched = value.bytes();
        if (value.Is(8, WireType::kBytes)) event.tensor = value.bytes();
      }
    }
  }
  return event;
}

// A node of a partition's graph.
struct PartitionNode {
  llvm::StringRef name, op, transfer;  // `transfer`: the tensor's name, for a _Send or _Recv
  std::vector<llvm::StringRef> inputs;
};

PartitionNode ParseNode(llvm::StringRef bytes) {
  PartitionNode node;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) node.name = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) node.op = reader.bytes();
    if (reader.Is(3, WireType::kBytes)) node.inputs.push_back(reader.bytes());
    if (!reader.Is(5, WireType::kBytes)) continue;
    llvm::StringRef key;
    WireReader entry(reader.bytes());
    while (entry.Next()) {
      if (entry.Is(1, WireType::kBytes)) key = entry.bytes();
      if (!entry.Is(2, WireType::kBytes) || key != "tensor_name") continue;
      WireReader value(entry.bytes());
      while (value.Next())
        if (value.Is(2, WireType::kBytes)) node.transfer = value.bytes();
    }
  }
  return node;
}

// The file of a dumped tensor: its time and number, which order the files, and its contents.
struct Dumped {
  double time = 0;     // microseconds
  int64_t number = 0;  // from the file's name; orders files of the same time
  int graph = -1;
  llvm::StringRef device, op_name, debug_op, tensor;
  int slot = 0;
};

class V1Reader {
 public:
  explicit V1Reader(DebugFolder* folder) : folder_(*folder) {
    folder_.runs.emplace_back();
    DebugGraph root;
    root.id = "root";
    root.described = true;
    run().graphs.push_back(std::move(root));
  }

  void ReadRun(const std::string& path) {
    std::vector<Dumped> dumped;
    std::vector<llvm::StringRef> graphs;
    DumpedEvent core;
    for (const std::string& name : NamesIn(path)) {
      std::string file = JoinPath(path, name);
      llvm::StringRef device = name;
      if (device.starts_with(kCorePrefix)) core = ParseEvent(Bytes(file));
      if (!device.consume_front(kDevicePrefix)) continue;
      ReadDevice(file, Keep(DeviceOfDumpFolder(device)), &graphs, &dumped);
    }
    std::stable_sort(dumped.begin(), dumped.end(), [](const Dumped& a, const Dumped& b) {
      return std::tie(a.time, a.number) < std::tie(b.time, b.number);
    });
    if (graphs.empty()) Report(path + ": holds no graph of the run");
    AddExecution(path, GraphOf(graphs), core.message, dumped);
  }

  void Finish() {
    DebugRun& run = this->run();
    run.id = llvm::sys::path::filename(folder_.path).str();
    run.mode = proto::FULL_TENSOR;
    run.file_version = kV1;
    if (!run.executions.empty()) run.start_time = run.executions.front().wall_time;
  }

 private:
  DebugRun& run() { return folder_.runs[0]; }
  void Report(std::string text) { folder_.problems.push_back(std::move(text)); }

  // Stores a text that is not in a file, so that references to it live as long as the folder.
  llvm::StringRef Keep(std::string text) {
    auto kept = FileBytes::FromString(std::move(text), "");
    folder_.files.push_back(kept);
    return kept->bytes();
  }

  llvm::StringRef Bytes(const std::string& path) {
    auto file = FileBytes::Open(path);
    if (!file) {
      Report(TextOf(file.takeError()));
      return "";
    }
    folder_.files.push_back(*file);
    return (*file)->bytes();
  }

  void ReadDevice(const std::string& path, llvm::StringRef device,
                  std::vector<llvm::StringRef>* graphs, std::vector<Dumped>* dumped) {
    if (llvm::none_of(run().devices, [&](const DebugDevice& d) { return d.name == device; }))
      run().devices.push_back({device, static_cast<int>(run().devices.size()) + 1});
    std::vector<std::string> open = {path};
    while (!open.empty()) {
      std::string folder = std::move(open.back());
      open.pop_back();
      for (const std::string& name : NamesIn(folder)) {
        std::string file = JoinPath(folder, name);
        if (llvm::sys::fs::is_symlink_file(file)) {
          Report(file + ": is a link, which is not followed");
        } else if (IsDirectory(file)) {
          open.push_back(file);
        } else if (!llvm::sys::fs::is_regular_file(file)) {
          Report(file + ": is not a file");
        } else if (llvm::StringRef(name).starts_with(kGraphPrefix)) {
          DumpedEvent event = ParseEvent(Bytes(file));
          if (event.graph.empty())
            Report(file + ": holds no graph");
          else
            graphs->push_back(event.graph);
        } else {
          ReadTensor(file, name, device, dumped);
        }
      }
    }
  }

  // Reads the file of a dumped tensor. The file name ends in "_<slot>_<debug op>_<microseconds>",
  // and then "-1" if that file existed. The name of the watched tensor is in the file too.
  void ReadTensor(const std::string& path, llvm::StringRef name, llvm::StringRef device,
                  std::vector<Dumped>* dumped) {
    DumpedEvent event = ParseEvent(Bytes(path));
    Dumped one;
    one.time = event.wall_time;
    one.device = device;
    one.tensor = event.tensor;
    name.rsplit('_').second.split('-').second.getAsInteger(10, one.number);
    auto watched = ReadWatchedName(event.watched);
    if (!watched || watched->index >= kMostOutputs || event.tensor.empty())
      return Report(path + ": is not a tensor dump");
    one.op_name = watched->node;
    one.slot = watched->index;
    one.debug_op = watched->debug_op;
    dumped->push_back(one);
  }

  // Returns the index of a run's graph. Runs of the same graph share one, although their partitions
  // have different paths for the debugger's output.
  int GraphOf(std::vector<llvm::StringRef> partitions) {
    llvm::sort(partitions);
    std::vector<PartitionNode> nodes;
    for (llvm::StringRef partition : partitions) {
      WireReader reader(partition);
      while (reader.Next())
        if (reader.Is(1, WireType::kBytes)) nodes.push_back(ParseNode(reader.bytes()));
    }
    DebugGraph graph;
    AddOps(nodes, &graph);
    int number = static_cast<int>(run().graphs.size());
    auto [known, is_new] = graph_of_.try_emplace(FormOf(graph), number);
    if (!is_new) return known->second;
    graph.id = Keep("v1_graph_" + std::to_string(number));
    graph.name = Keep("session graph " + std::to_string(number));
    graph.outer = 0;
    graph.described = true;
    run().graphs.push_back(std::move(graph));
    run().graphs[0].inner.push_back(number);
    return number;
  }

  static std::string FormOf(const DebugGraph& graph) {
    std::vector<std::string> lines;
    for (const DebugOp& op : graph.ops) {
      lines.push_back((op.name + "=" + op.type).str());
      for (const DebugInput& input : op.inputs)
        lines.back() += llvm::formatv(" {0}:{1}", input.op_name, input.slot).str();
    }
    llvm::sort(lines);
    return llvm::join(lines, "\n");
  }

  // Adds the ops of all partitions, without the debugger's nodes. A _Recv becomes a reader of the
  // tensor that its _Send reads.
  void AddOps(llvm::ArrayRef<PartitionNode> nodes, DebugGraph* graph) {
    llvm::StringMap<llvm::StringRef> copied, sent;
    for (const PartitionNode& node : nodes) {
      bool is_send = node.op.ends_with("Send");
      if (node.inputs.empty()) continue;
      if (node.name.starts_with(kCopyPrefix)) copied[node.name] = node.inputs[0];
      if (is_send) sent[node.transfer] = node.inputs[0];
    }
    for (const PartitionNode& node : nodes) {
      if (node.name.starts_with(kCopyPrefix) || node.name.starts_with(kTapPrefix)) continue;
      DebugOp op;
      op.name = node.name;
      op.type = node.op;
      op.order = static_cast<int64_t>(graph->ops.size());
      std::vector<llvm::StringRef> inputs = node.inputs;
      if (node.op.ends_with("Recv") && sent.count(node.transfer))
        inputs.push_back(sent.lookup(node.transfer));
      for (llvm::StringRef input : inputs) {
        TensorName name = ReadTensorName(input);
        for (int steps = 0; steps < 100 && copied.count(name.node); ++steps)
          name = ReadTensorName(copied.lookup(name.node));
        if (!name.control && name.index < kMostOutputs)
          op.inputs.push_back({name.node, name.index, -1});
      }
      graph->op_by_name.try_emplace(op.name, static_cast<int>(graph->ops.size()));
      graph->ops.push_back(std::move(op));
    }
    for (DebugOp& op : graph->ops) {
      op.outputs = std::max(op.outputs, 1);
      for (DebugInput& input : op.inputs) {
        input.op = graph->Find(input.op_name);
        if (input.op < 0) continue;
        DebugOp& maker = graph->ops[input.op];
        maker.outputs = std::max(maker.outputs, input.slot + 1);
      }
    }
    for (DebugOp& op : graph->ops) op.tensor_ids.assign(op.outputs, -1);
  }

  void AddExecution(const std::string& path, int graph, llvm::StringRef core,
                    llvm::ArrayRef<Dumped> dumped) {
    DebugRun& run = this->run();
    int number = static_cast<int>(run.executions.size());
    DebugExecution execution;
    execution.op_type = Keep(NameOfRun(path, core));
    execution.graph = graph;
    execution.graph_id = run.graphs[graph].id;
    execution.call = 0;
    for (const DebugExecution& before : run.executions)
      execution.call += before.op_type == execution.op_type;
    execution.mode = proto::FULL_TENSOR;
    // If several debug ops watch a tensor, keep the most detailed one.
    std::map<std::pair<llvm::StringRef, int>, int> most;
    for (const Dumped& one : dumped) {
      int& of_tensor = most[{one.op_name, one.slot}];
      of_tensor = std::max(of_tensor, Worth(one));
    }
    std::map<std::tuple<llvm::StringRef, int, llvm::StringRef>, int> iterations;
    for (const Dumped& one : dumped) {
      if (Worth(one) < most[{one.op_name, one.slot}]) continue;
      DebugTrace trace;
      trace.wall_time = one.time * 1e-6;
      trace.graph = graph;
      trace.op_name = one.op_name;
      trace.op = run.graphs[graph].Find(one.op_name);
      trace.slot = one.slot;
      trace.mode = IsWhole(one) ? proto::FULL_TENSOR : proto::FULL_NUMERICS;
      trace.value = ValueOf(one, path);
      if (IsWhole(one)) trace.tensor = one.tensor;
      trace.device = one.device;
      trace.execution = number;
      trace.iteration = iterations[{one.op_name, one.slot, one.debug_op}]++;
      if (trace.op >= 0) {
        DebugOp& op = run.graphs[graph].ops[trace.op];
        op.outputs = std::max(op.outputs, trace.slot + 1);
        op.tensor_ids.resize(op.outputs, -1);
      }
      execution.wall_time = trace.wall_time;
      run.traces.push_back(std::move(trace));
    }
    run.executions.push_back(std::move(execution));
  }

  static int Worth(const Dumped& one) {
    return IsWhole(one) ? 2 : one.debug_op.starts_with("DebugNumericSummary") ? 1 : 0;
  }
  static bool IsWhole(const Dumped& one) { return one.debug_op.starts_with("DebugIdentity"); }

  // Returns the name of a run, such as "session.run(loss:0, GradientDescent)"; the folder's name if
  // the fetches are not recorded.
  static std::string NameOfRun(const std::string& path, llvm::StringRef core) {
    std::string fetched;
    auto json = llvm::json::parse(core);
    if (json && json->getAsObject()) {
      for (const char* key : {"output_names", "target_nodes"}) {
        const llvm::json::Array* names = json->getAsObject()->getArray(key);
        if (!names) continue;
        for (const llvm::json::Value& name : *names)
          fetched += (fetched.empty() ? "" : ", ") + name.getAsString().value_or("?").str();
      }
    } else {
      llvm::consumeError(json.takeError());
    }
    return fetched.empty() ? llvm::sys::path::filename(path).str() : "session.run(" + fetched + ")";
  }

  RecordedTensor ValueOf(const Dumped& one, const std::string& path) {
    std::string problem;
    RecordedTensor value;
    if (IsWhole(one)) {
      value = ReadRecordedTensor(proto::FULL_TENSOR, one.tensor, &problem);
    } else {
      value = ReadV1Summary(one.debug_op, one.tensor, &problem);
    }
    if (!problem.empty())
      Report(llvm::formatv("{0}: {1}:{2}: {3}", path, one.op_name, one.slot, problem).str());
    return value;
  }

  DebugFolder& folder_;
  std::map<std::string, int> graph_of_;  // by FormOf()
};

}  // namespace

bool IsV1Dump(llvm::StringRef path) { return IsDirectory(path) && !RunFolders(path).empty(); }

Expected<DebugFolder> ReadV1Dump(llvm::StringRef path) {
  DebugFolder folder;
  folder.path = path.str();
  V1Reader reader(&folder);
  for (const std::string& run : RunFolders(path)) reader.ReadRun(run);
  reader.Finish();
  return folder;
}

}  // namespace grapnel
