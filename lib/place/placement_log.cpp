#include "lib/place/placement_log.h"

#include "lib/ir/device_name.h"
#include "lib/support/file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// The text after "... execute.cc:1775] " or "... placer.cc:162] "; a bare line is all text.
llvm::StringRef WithoutPrefix(llvm::StringRef line) {
  size_t at = line.find(".cc:");
  if (at == llvm::StringRef::npos) return line;
  size_t end = line.find("] ", at);
  return end == llvm::StringRef::npos ? line : line.substr(end + 2);
}

Error CheckDevice(llvm::StringRef device) {
  ASSIGN_OR_RETURN(DeviceSpec name, DeviceSpec::Parse(device));
  if (!name.IsFull())
    return MakeError("device '{0}' is no full name: expected one like {1}", device, kLocalCpu);
  return Error::success();
}

// "name: (Op): /job:..."; false when it is another kind of line.
bool ParseNodeLine(llvm::StringRef text, PlacementLog::Line* line) {
  size_t device_at = text.rfind(llvm::StringRef("): /job:"));
  if (device_at == llvm::StringRef::npos) return false;
  size_t op_at = text.take_front(device_at).rfind(llvm::StringRef(": ("));
  if (op_at == llvm::StringRef::npos || op_at == 0) return false;
  line->node = text.take_front(op_at).str();
  line->op = text.slice(op_at + 3, device_at).str();
  line->device = text.drop_front(device_at + 3).str();
  return true;
}

bool IsArgument(llvm::StringRef op) { return op == "_Arg" || op == "_DeviceArg"; }

// The lines of one kind, bare or with a prefix, as they come.
class Stream {
 public:
  void Add(PlacementLog::Line line, std::vector<std::vector<PlacementLog::Line>>* graphs) {
    bool begins = IsArgument(line.op) && !at_.empty() && !IsArgument(at_.back().op);
    if (begins || names_.contains(line.node)) End(graphs);
    names_.insert(line.node);
    at_.push_back(std::move(line));
  }
  void End(std::vector<std::vector<PlacementLog::Line>>* graphs) {
    if (!at_.empty() && !llvm::is_contained(*graphs, at_)) graphs->push_back(at_);
    at_.clear();
    names_.clear();
  }

 private:
  std::vector<PlacementLog::Line> at_;
  llvm::StringSet<> names_;
};

// A graph of the log, as it is found in one of ours.
struct Match {
  const std::vector<PlacementLog::Line>* lines;
  size_t graph = 0;
  std::vector<NodeId> nodes;  // by line; kNoNode: not there
  size_t found = 0;
};

Match BestMatch(const std::vector<PlacementLog::Line>& lines, llvm::ArrayRef<const Graph*> graphs) {
  Match best{&lines, 0, {}, 0};
  for (size_t i = 0; i < graphs.size(); ++i) {
    Match match{&lines, i, {}, 0};
    for (const PlacementLog::Line& line : lines) {
      Node node = graphs[i]->Find(line.node);
      bool is_there = node && node.op() == line.op;
      match.nodes.push_back(is_there ? node.id() : kNoNode);
      match.found += is_there;
    }
    if (i == 0 || match.found > best.found) best = std::move(match);
  }
  return best;
}

void AddEager(const PlacementLog& log, const Graph& graph, std::vector<std::string>* devices) {
  std::map<std::string, std::string> of_op;  // empty: ran on several
  for (const auto& [op_and_device, count] : log.eager) {
    auto [entry, is_new] = of_op.try_emplace(op_and_device.first, op_and_device.second);
    if (!is_new) entry->second.clear();
  }
  for (Node node : graph.nodes()) {
    auto found = of_op.find(node.op().str());
    if ((*devices)[node.id()].empty() && found != of_op.end())
      (*devices)[node.id()] = found->second;
  }
}

}  // namespace

void WritePlacementLogLine(const Node& node, llvm::StringRef device, llvm::raw_ostream& os) {
  os << node.name() << ": (" << node.op() << "): " << device << '\n';
}

Expected<PlacementLog> ReadPlacementLog(llvm::StringRef path) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  PlacementLog log;
  Stream bare, prefixed;
  llvm::StringRef rest = file->bytes();
  for (int number = 1; !rest.empty(); ++number) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    line = line.rtrim("\r ");
    llvm::StringRef text = WithoutPrefix(line);
    PlacementLog::Line parsed;
    std::string device;
    if (text.consume_front("Executing op ")) {
      auto [op, where] = text.split(" in device ");
      device = where.str();
      ++log.eager[{op.str(), device}];
      bare.End(&log.graphs);
      prefixed.End(&log.graphs);
    } else if (ParseNodeLine(text, &parsed)) {
      device = parsed.device;
      (text.size() == line.size() ? bare : prefixed).Add(std::move(parsed), &log.graphs);
    } else {
      continue;
    }
    if (Error error = CheckDevice(device))
      return Annotate(path + ":" + llvm::Twine(number), std::move(error));
  }
  bare.End(&log.graphs);
  prefixed.End(&log.graphs);
  return log;
}

LoggedDevices PutOnGraphs(const PlacementLog& log, llvm::ArrayRef<const Graph*> graphs,
                          bool eager_counts) {
  LoggedDevices logged;
  for (const Graph* graph : graphs) logged.of.emplace_back(graph->end_id());
  std::vector<Match> matches;
  for (const auto& lines : log.graphs) matches.push_back(BestMatch(lines, graphs));
  llvm::stable_sort(matches, [](const Match& a, const Match& b) { return a.found > b.found; });
  for (const Match& match : matches) {
    std::vector<std::string>& devices = logged.of[match.graph];
    bool says_new =
        llvm::any_of(match.nodes, [&](NodeId id) { return id != kNoNode && devices[id].empty(); });
    bool is_ours = match.found * 2 >= match.lines->size() && says_new;
    for (size_t i = 0; i < match.lines->size(); ++i) {
      NodeId id = is_ours ? match.nodes[i] : kNoNode;
      if (id != kNoNode && devices[id].empty()) {
        devices[id] = (*match.lines)[i].device;
      } else {
        ++logged.other_lines;
      }
    }
  }
  if (eager_counts) {
    AddEager(log, *graphs.front(), &logged.of.front());
  } else {
    for (const auto& [op_and_device, count] : log.eager) logged.eager_ops += count;
  }
  return logged;
}

}  // namespace grapnel
