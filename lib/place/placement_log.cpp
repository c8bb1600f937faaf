#include "lib/place/placement_log.h"

#include <algorithm>
#include <memory>
#include <set>

#include "lib/ir/device_name.h"
#include "lib/ir/op_table.h"
#include "lib/place/log_line.h"
#include "lib/place/log_match.h"
#include "lib/support/file.h"
#include "lib/support/text.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// Limits on the data kept for a log, whatever its length.
constexpr size_t kMostNodes = size_t{1} << 20;  // nodes of one graph; one more begins another
// Threads whose graphs are told apart; one thread more ends all begun graphs.
constexpr size_t kMostStreams = 256;
constexpr size_t kMostGraphs = 256;               // graphs that may match a target
constexpr size_t kMostKept = size_t{1} << 22;     // nodes of all graphs
constexpr size_t kMostEager = size_t{1} << 16;    // ops and functions that ran, by device
constexpr size_t kMostDoubles = size_t{1} << 16;  // graphs whose second copy is recognized
constexpr size_t kMostNumbers = 100, kMostNames = 8;
constexpr size_t kWindow = size_t{64} << 20;  // bytes of the file in memory at a time

bool IsArgument(llvm::StringRef op) { return op == "_Arg" || op == "_DeviceArg"; }

// Nodes that the placer places last: no inputs, and one output that is not a reference.
bool IsGenerator(llvm::StringRef op) {
  const OpInfo* info = IsArgument(op) ? nullptr : FindOp(op);
  return info && info->inputs.empty() && info->outputs.size() == 1 && !info->outputs[0].is_ref &&
         info->outputs[0].number_attr.empty() && info->outputs[0].type_list_attr.empty();
}

// Ops that the placer never places last, whatever the attributes.
bool IsPlacedFirst(llvm::StringRef op) {
  const OpInfo* info = FindOp(op);
  if (!info) return false;
  return (info->inputs.empty() && info->outputs.empty()) ||
         llvm::any_of(info->inputs, [](const OpArg& input) {
           return input.number_attr.empty() && input.type_list_attr.empty();
         });
}

// True if the placer runs right after TensorFlow dumps a function at this stage.
bool IsBeforePlacing(llvm::StringRef stage) {
  return stage == "initial" || stage == "before_bridge" || stage == "before_placer" ||
         stage.contains("pre_placement");
}

// The graph that a thread is placing.
class Stream {
 public:
  Stream(size_t number, bool is_prefixed) : number_(number) { at_.is_prefixed = is_prefixed; }

  bool BeginsNew(const LoggedNode& node) const {
    if (at_.nodes.empty()) return false;
    if (names_.contains(node.node) || at_.nodes.size() >= kMostNodes) return true;
    if (IsArgument(node.op) && !IsArgument(at_.nodes.back().op)) return true;
    return is_function_ && IsGenerator(at_.nodes.back().op) && IsPlacedFirst(node.op);
  }
  void Add(LoggedNode node) {
    names_.insert(node.node);
    is_function_ |= IsArgument(node.op) || node.op == "_Retval";
    at_.nodes.push_back(std::move(node));
  }
  void NameNext(llvm::StringRef name, int dump) {
    next_ = name.str();
    next_dump_ = dump;
  }
  // Called for an op that Python ran eagerly on this thread after the graph was placed. If the op
  // runs for the first time (`is_first`), the graph was placed for it.
  void Ran(llvm::StringRef op, bool is_first) {
    if (at_.nodes.empty()) return;
    bool is_node = llvm::any_of(at_.nodes, [&](const LoggedNode& node) { return node.op == op; });
    if (is_node) at_.is_eager_op = true;
    if (next_.empty() && is_first && !is_node) next_ = op.str();
  }
  // Returns the complete graph, and starts the next graph.
  LoggedGraph Take() {
    LoggedGraph graph;
    graph.is_prefixed = at_.is_prefixed;
    std::swap(graph, at_);
    graph.name = std::exchange(next_, "");
    graph.dump = std::exchange(next_dump_, -1);
    graph.is_eager_op |= HasPrefix(graph.name, "__wrapped__");
    graph.stream = number_;
    graph.turn = turn_++;
    names_.clear();
    is_function_ = false;
    return graph;
  }
  bool is_empty() const { return at_.nodes.empty(); }

 private:
  size_t number_, turn_ = 0;
  LoggedGraph at_;
  bool is_function_ = false;  // the graph has arguments or results
  std::string next_;
  int next_dump_ = -1;
  llvm::StringSet<> names_;
};

class Reader {
 public:
  Reader(PlacementLog* log, llvm::ArrayRef<LogTarget> targets) : log_(*log), targets_(targets) {}

  void Read(int64_t number, llvm::StringRef line, bool is_whole) {
    bool is_broken = false;
    lines_.Read(line, [&](LogLine& read) {
      is_broken |= read.follows_piece;
      switch (read.kind) {
        case LogLine::kNode:
          return AddNode(read, number);
        case LogLine::kEager:
          return AddEager(read);
        case LogLine::kDump:
          End(StreamOf(read));
          return StreamOf(read).NameNext(IsBeforePlacing(read.op) ? read.node : "", read.number);
        case LogLine::kBroken:
          is_broken = true;
          if (!is_whole) log_.cut_node = read.node;
          return;
        case LogLine::kOther:
          return;
      }
    });
    if (is_broken && !is_whole) {
      log_.cut_line = number;
    } else if (is_broken) {
      ++log_.broken_lines;
      if (log_.broken.size() < kMostNumbers) log_.broken.push_back(number);
    }
  }

  void Finish() {
    EndAll();
    llvm::stable_sort(log_.graphs, [](const LoggedGraph& a, const LoggedGraph& b) {
      return a.nodes.front().line < b.nodes.front().line;
    });
  }

 private:
  Stream& StreamOf(const LogLine& line) {
    if (streams_.size() >= kMostStreams && !streams_.count(line.stream)) {
      EndAll();
      streams_.clear();
    }
    auto [entry, is_new] =
        streams_.try_emplace(line.stream, Stream(num_streams_, line.is_prefixed));
    num_streams_ += is_new;
    return entry->second;
  }

  void AddNode(LogLine& line, int64_t number) {
    LoggedNode node{std::move(line.node), std::move(line.op), std::move(line.device), number};
    Stream& stream = StreamOf(line);
    if (stream.BeginsNew(node)) End(stream);
    stream.Add(std::move(node));
  }

  void AddEager(const LogLine& line) {
    std::pair key(line.op, line.device);
    bool is_first = !log_.eager.count(key);
    if (!is_first || log_.eager.size() < kMostEager) ++log_.eager[key];
    Stream& stream = StreamOf(line);
    stream.Ran(line.op, is_first);
    End(stream);
  }

  void EndAll() {
    for (auto& [name, stream] : streams_) End(stream);
  }

  void End(Stream& stream) {
    if (stream.is_empty()) return;
    LoggedGraph graph = stream.Take();
    if (IsDouble(graph)) return;
    log_.node_lines += static_cast<int64_t>(graph.nodes.size());
    bool is_ours = false, is_named = false;
    for (const LogTarget& target : targets_) {
      LogFit fit = FitOf(graph, target);
      is_ours |= fit.IsOurs(target, graph.nodes.size());
      is_named |= fit.is_named && fit.found > 0;
    }
    bool has_room = log_.graphs.size() < (is_named ? 2 : 1) * kMostGraphs && kept_ < kMostKept;
    if (is_ours && has_room) {
      kept_ += graph.nodes.size();
      log_.graphs.push_back(std::move(graph));
    } else if (!graph.is_eager_op) {
      NoteOther(graph);
    }
  }

  void NoteOther(const LoggedGraph& graph) {
    ++log_.other_graphs;
    if (log_.other_names.size() >= kMostNames) return;
    std::string name =
        graph.name.empty() ? "that of '" + graph.nodes.front().node + "'" : graph.name;
    name += " (" + Plural(graph.nodes.size(), "node") + ")";
    if (!llvm::is_contained(log_.other_names, name)) log_.other_names.push_back(std::move(name));
  }

  // True if the graph was already logged with the other kind of lines (bare or prefixed). If only
  // this second copy has a name, gives the name to the first.
  bool IsDouble(const LoggedGraph& graph) {
    llvm::hash_code hash(0);
    for (const LoggedNode& node : graph.nodes)
      hash = llvm::hash_combine(hash, node.node, node.op, node.device);
    auto& [bare, prefixed] = seen_[hash];
    int& mine = graph.is_prefixed ? prefixed : bare;
    int& its = graph.is_prefixed ? bare : prefixed;
    if (its > 0) {
      --its;
      Rename(graph);
      return true;
    }
    ++mine;
    if (seen_.size() >= kMostDoubles) seen_.clear();
    return false;
  }

  void Rename(const LoggedGraph& graph) {
    for (LoggedGraph& kept : log_.graphs) {
      bool is_it = kept.is_prefixed != graph.is_prefixed && kept.name.empty() &&
                   kept.nodes.size() == graph.nodes.size() &&
                   kept.nodes.front().node == graph.nodes.front().node &&
                   kept.nodes.back().device == graph.nodes.back().device;
      if (!is_it || graph.name.empty()) continue;
      kept.name = graph.name;
      kept.dump = graph.dump;
      kept.is_eager_op = graph.is_eager_op;
      return;
    }
  }

  PlacementLog& log_;
  llvm::ArrayRef<LogTarget> targets_;
  LogLineReader lines_;
  std::map<std::string, Stream> streams_;
  size_t num_streams_ = 0, kept_ = 0;
  // By hash of a graph: how many bare and how many prefixed copies have no counterpart of the other
  // kind so far.
  std::map<size_t, std::pair<int, int>> seen_;
};

// Calls `visit` with the number of each line, the line, and whether it has a line end.
void ForEachLine(llvm::StringRef text,
                 llvm::function_ref<void(int64_t, llvm::StringRef, bool)> visit) {
  for (int64_t number = 1; !text.empty(); ++number) {
    size_t end = text.find('\n');
    bool is_whole = end != llvm::StringRef::npos;
    visit(number, text.take_front(end), is_whole);
    text = text.drop_front(is_whole ? end + 1 : text.size());
  }
}

// CPU 0 of a device's task; "" if `device` is not a full device name.
std::string HostOf(llvm::StringRef device) {
  auto name = DeviceSpec::Parse(device);
  if (!name || !name->IsFull()) {
    llvm::consumeError(name.takeError());
    return "";
  }
  DeviceSpec host = llvm::cantFail(DeviceSpec::Parse(kLocalCpu));
  host.job = name->job;
  host.replica = name->replica;
  host.task = name->task;
  return host.ToString();
}

}  // namespace

void WritePlacementLogLine(llvm::StringRef node, llvm::StringRef op, llvm::StringRef device,
                           llvm::raw_ostream& os) {
  os << node << ": (" << op << "): " << device << '\n';
}

std::string LoggedGraph::Text() const {
  int64_t first = nodes.front().line, last = nodes.back().line;
  std::string text = first == last ? "line " : "lines ";
  text += std::to_string(first);
  if (first != last) text += "-" + std::to_string(last);
  return name.empty() ? text : text + ", of " + name;
}

PlacementLog ParsePlacementLog(llvm::StringRef name, llvm::StringRef log,
                               llvm::ArrayRef<LogTarget> targets) {
  PlacementLog read;
  read.path = name.str();
  auto reader = std::make_unique<Reader>(&read, targets);
  ForEachLine(log, [&](int64_t number, llvm::StringRef line, bool is_whole) {
    reader->Read(number, line, is_whole);
  });
  reader->Finish();
  return read;
}

Expected<PlacementLog> ReadPlacementLog(llvm::StringRef path, llvm::ArrayRef<LogTarget> targets) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  PlacementLog log;
  log.path = path.str();
  auto reader = std::make_unique<Reader>(&log, targets);
  const char* held = file->bytes().data();
  ForEachLine(file->bytes(), [&](int64_t number, llvm::StringRef line, bool is_whole) {
    reader->Read(number, line, is_whole);
    if (static_cast<size_t>(line.end() - held) < kWindow) return;
    file->ReleasePages(llvm::StringRef(held, line.end() - held));
    held = line.end();
  });
  RETURN_IF_ERROR(file->CheckWhole());
  reader->Finish();
  return log;
}

std::vector<std::string> DevicesOfLog(llvm::StringRef log) {
  std::set<std::string> devices;
  LogLineReader lines;
  ForEachLine(log, [&](int64_t, llvm::StringRef line, bool is_whole) {
    if (!is_whole) return;
    lines.Read(line, [&](LogLine& said) {
      if (said.kind == LogLine::kNode || said.kind == LogLine::kEager) devices.insert(said.device);
    });
  });
  std::set<std::string> hosts;
  for (const std::string& device : devices) hosts.insert(HostOf(device));
  hosts.erase("");
  devices.merge(hosts);
  return {devices.begin(), devices.end()};
}

}  // namespace grapnel
