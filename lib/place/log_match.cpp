#include "lib/place/log_match.h"

#include <algorithm>
#include <climits>
#include <tuple>

#include "lib/ir/device_name.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

bool IsEnd(llvm::StringRef op) {
  return op == "_Arg" || op == "_DeviceArg" || op == "_Retval" || op == "_DeviceRetval";
}

// True for equal names, and for "tower_29" and "__inference_tower_29".
bool IsSameName(llvm::StringRef logged, llvm::StringRef name) {
  return logged == name || logged == ("__inference_" + name).str() ||
         name == ("__inference_" + logged).str();
}

// True if a requested device is compatible with a logged one: "/device:CPU:1" with
// ".../device:CPU:1". False for a name that cannot be parsed.
bool DeviceFits(llvm::StringRef asked, llvm::StringRef logged) {
  if (asked.empty() || asked == logged) return true;
  auto name = DeviceSpec::Parse(asked), full = DeviceSpec::Parse(logged);
  bool fits = name && full && name->Matches(*full);
  llvm::consumeError(name.takeError());
  llvm::consumeError(full.takeError());
  return fits;
}

struct Candidate {
  const LoggedGraph* logged;
  LogFit fit;
};

class Matcher {
 public:
  Matcher(const PlacementLog& log, llvm::ArrayRef<LogTarget> targets)
      : log_(log), targets_(targets), is_used_(log.graphs.size()), homes_(log.graphs.size()) {
    for (size_t i = 0; i < log.graphs.size(); ++i) {
      for (const LogTarget& target : targets) fits_.push_back(FitOf(log.graphs[i], target));
      for (size_t t = 0; t < targets.size(); ++t)
        homes_[i] = std::max(homes_[i], FitAt(i, t).found);
    }
  }

  LoggedDevices Run() {
    LoggedDevices out;
    out.other_lines = log_.node_lines;
    for (size_t t = 0; t < targets_.size(); ++t) {
      out.graphs.push_back(Find(t));
      for (const LoggedGraph* used : out.graphs.back().used)
        out.other_lines -= static_cast<int64_t>(used->nodes.size());
    }
    for (const auto& [op, count] : log_.eager) out.eager_ops += count;
    return out;
  }

 private:
  const LogFit& FitAt(size_t graph, size_t target) const {
    return fits_[graph * targets_.size() + target];
  }

  LogOfGraph Find(size_t target) {
    LogOfGraph out;
    out.of.resize(targets_[target].graph->end_id());
    std::vector<size_t> fitting;
    for (size_t i = 0; i < log_.graphs.size(); ++i) {
      const LogFit& fit = FitAt(i, target);
      bool is_at_home = fit.found == homes_[i] && !is_used_[i];
      if (is_at_home && fit.IsOurs(targets_[target], log_.graphs[i].nodes.size()))
        fitting.push_back(i);
    }
    llvm::stable_sort(fitting,
                      [&](size_t a, size_t b) { return FitAt(b, target) < FitAt(a, target); });
    if (fitting.empty()) return out;
    TakeTurn(target, &fitting);
    Use(fitting.front(), target, &out);
    ReportRivals(fitting, target, &out);
    bool grows = true;
    while (grows) {
      grows = false;
      for (size_t i : fitting) {
        if (!is_used_[i] && Adds(i, target, out)) {
          Use(i, target, &out);
          grows = true;
        }
      }
    }
    return out;
  }

  // If the logged graphs with exactly the target's nodes are as many as the program placed
  // (LogTarget::turns), moves the one at position LogTarget::turn to the front, unless it fits
  // worse than the first.
  void TakeTurn(size_t target, std::vector<size_t>* fitting) const {
    const LogTarget& wanted = targets_[target];
    std::vector<size_t> exact;
    for (size_t i : *fitting) {
      if (FitAt(i, target).is_exact) exact.push_back(i);
    }
    if (exact.size() != wanted.turns || wanted.turn >= exact.size()) return;
    llvm::sort(exact);
    auto mine = llvm::find(*fitting, exact[wanted.turn]);
    if (FitAt(*mine, target) < FitAt(fitting->front(), target)) return;
    std::rotate(fitting->begin(), mine, mine + 1);
  }

  void Use(size_t graph, size_t target, LogOfGraph* out) {
    is_used_[graph] = true;
    out->used.push_back(&log_.graphs[graph]);
    for (const LoggedNode& line : log_.graphs[graph].nodes) {
      Node node = targets_[target].graph->Find(line.node);
      if (!node) {
        out->gone.push_back(&line);
      } else if (!out->of[node.id()]) {
        out->of[node.id()] = &line;
      }
    }
  }

  // True if the logged graph adds nodes of the target that the log entries so far lack: a session
  // places its graph in parts, one for each set of fetches.
  bool Adds(size_t graph, size_t target, const LogOfGraph& out) const {
    const LoggedGraph& logged = log_.graphs[graph];
    const LogFit& fit = FitAt(graph, target);
    if (logged.is_eager_op || fit.same_op * 2 < logged.nodes.size()) return false;
    bool is_function = false, says_new = false, says_old = false;
    for (const LoggedNode& line : logged.nodes) {
      Node node = targets_[target].graph->Find(line.node);
      if (!node) continue;
      (out.of[node.id()] ? says_old : says_new) = true;
    }
    for (const LoggedGraph* used : out.used)
      is_function |= llvm::any_of(used->nodes, [](const auto& line) { return IsEnd(line.op); });
    if (!is_function) return says_new;
    bool is_next = llvm::any_of(out.used, [&](const LoggedGraph* used) {
      return used->stream == logged.stream &&
             (used->turn + 1 == logged.turn || logged.turn + 1 == used->turn);
    });
    return says_new && !says_old && is_next;
  }

  void ReportRivals(llvm::ArrayRef<size_t> fitting, size_t target, LogOfGraph* out) const {
    const LogFit& best = FitAt(fitting.front(), target);
    const LogFit* next = nullptr;
    std::vector<bool> differs(out->of.size());
    for (size_t i : fitting.drop_front()) {
      const LogFit& fit = FitAt(i, target);
      if (fit.found * 10 < best.found * 9 || log_.graphs[i].is_eager_op) continue;
      if (!next) next = &fit;
      out->rivals.push_back(&log_.graphs[i]);
      for (const LoggedNode& line : log_.graphs[i].nodes) {
        Node node = targets_[target].graph->Find(line.node);
        if (node && out->of[node.id()] && out->of[node.id()]->device != line.device)
          differs[node.id()] = true;
      }
    }
    out->differing = llvm::count(differs, true);
    if (!next) return;
    if (best.is_named != next->is_named || best.is_other != next->is_other ||
        best.dumps_between != next->dumps_between) {
      out->reason = LogOfGraph::kName;
    } else if (best.found != next->found || best.same_op != next->same_op) {
      out->reason = LogOfGraph::kNodes;
    } else if (best.same_device != next->same_device) {
      out->reason = LogOfGraph::kDevices;
    } else {
      out->reason = *next < best ? LogOfGraph::kNodes : LogOfGraph::kOrder;
    }
  }

  const PlacementLog& log_;
  llvm::ArrayRef<LogTarget> targets_;
  std::vector<bool> is_used_;
  std::vector<size_t> homes_;  // by logged graph: the most nodes found in any target
  std::vector<LogFit> fits_;
};

}  // namespace

bool LogFit::operator<(const LogFit& other) const {
  auto rank = [](const LogFit& fit) {
    return std::tuple(fit.is_named && fit.found > 0, -fit.dumps_between, !fit.is_other,
                      fit.is_exact, fit.found, fit.has_ends, fit.same_op + fit.same_device);
  };
  auto mine = rank(*this), its = rank(other);
  return mine != its ? mine < its : missing > other.missing;
}

// Few nodes of the target may be in the log, since Grappler removes nodes and logs may be
// truncated. But Grappler keeps arguments and results: unless the log names the function or has
// half of the nodes, these must match, and a quarter of the nodes or, if fewer, of the lines. In a
// log without arguments and results, half of the lines must have the op of the target's node.
bool LogFit::IsOurs(const LogTarget& target, size_t lines) const {
  size_t nodes = target.graph->num_nodes();
  if (found == 0) return false;
  if (is_named || found * 2 >= nodes) return true;
  if (has_no_ends) return same_op * 2 >= lines;
  return has_ends && found * 4 >= std::min(nodes, lines);
}

LogFit FitOf(const LoggedGraph& logged, const LogTarget& target) {
  LogFit fit;
  size_t ends = 0, ends_there = 0;
  for (const LoggedNode& line : logged.nodes) {
    Node node = target.graph->Find(line.node);
    ends += IsEnd(line.op);
    if (!node) {
      ++fit.missing;
      continue;
    }
    ++fit.found;
    ends_there += IsEnd(line.op) && IsEnd(node.op());
    bool is_same = line.op.empty() || line.op == node.op() || (IsEnd(line.op) && IsEnd(node.op()));
    fit.same_op += is_same;
    fit.same_device += is_same && DeviceFits(node.device(), line.device);
  }
  fit.has_no_ends = ends == 0;
  fit.has_ends = ends == ends_there;
  fit.is_named = !target.name.empty() && IsSameName(logged.name, target.name);
  fit.is_exact = logged.nodes.size() == target.placed.size() &&
                 llvm::all_of(logged.nodes, [&](const LoggedNode& line) {
                   return target.placed.contains(line.node);
                 });
  if (fit.is_named && target.dump >= 0 && logged.dump >= 0)
    fit.dumps_between = logged.dump > target.dump ? INT_MAX : target.dump - logged.dump;
  // Without a dump number or a leading "__", `target.name` may be just a file name, such as
  // "graph", and says nothing about the function.
  bool is_functions = target.dump >= 0 || HasPrefix(target.name, "__");
  fit.is_other = is_functions && !logged.name.empty() && !fit.is_named;
  return fit;
}

size_t LogOfGraph::found() const {
  return llvm::count_if(of, [](const LoggedNode* line) { return line != nullptr; });
}

LoggedDevices PutOnGraphs(const PlacementLog& log, llvm::ArrayRef<LogTarget> targets) {
  return Matcher(log, targets).Run();
}

}  // namespace grapnel
