#include "lib/query/path_pattern.h"

#include <algorithm>
#include <deque>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

Error BadPattern(llvm::StringRef text, const char* at, const char* expected) {
  return MakeError("path pattern '{0}': at character {1}: {2}", text, at - text.begin() + 1,
                   expected);
}

// Splits "a=b, c=d" into pairs; commas within brackets or quotes belong to the value.
Error ParseAttributes(llvm::StringRef text, llvm::StringRef inside, PathPattern::Step* step) {
  while (!inside.trim().empty()) {
    size_t end = 0;
    bool quoted = false;
    for (int depth = 0; end < inside.size(); ++end) {
      char c = inside[end];
      if (c == '"') quoted = !quoted;
      if (!quoted && c == '[') ++depth;
      if (!quoted && c == ']') --depth;
      if (!quoted && depth == 0 && c == ',') break;
    }
    llvm::StringRef item = inside.take_front(end);
    auto [key, value] = item.split('=');
    if (!item.contains('=') || key.trim().empty())
      return BadPattern(text, item.begin(), "attribute=value was expected");
    step->attributes.emplace_back(key.trim().str(), value.trim().str());
    inside = inside.drop_front(std::min(end + 1, inside.size()));
  }
  return Error::success();
}

Expected<PathPattern::Step> ParseStep(llvm::StringRef text, llvm::StringRef part) {
  part = part.trim();
  llvm::StringRef before = part.split('[').first, op = before.trim();
  if (op.empty()) return BadPattern(text, part.begin(), "an op, * or ** was expected");
  if (op.find_first_of(" \t]>") != llvm::StringRef::npos)
    return BadPattern(text, part.begin(), "one op was expected, then ->");
  auto glob = Glob::Parse(op);
  if (!glob) return BadPattern(text, part.begin(), TextOf(glob.takeError()).c_str());
  PathPattern::Step step{std::move(*glob), {}};
  if (before.size() == part.size()) return step;
  if (part.back() != ']') return BadPattern(text, part.end() - 1, "']' was expected after this");
  RETURN_IF_ERROR(ParseAttributes(text, part.drop_front(before.size() + 1).drop_back(), &step));
  return step;
}

// A state of the search for paths: the path is at `node`, which matches step `step` of the pattern
// or, if `filler`, is one of the nodes that the ** after that step matches.
struct State {
  NodeId node;
  uint32_t step;
  bool filler;
};

class Finder {
 public:
  Finder(const Graph& graph, const PathPattern& pattern, size_t limit)
      : graph_(graph), steps_(pattern.steps()), limit_(limit) {
    MarkFinishing(pattern);
  }

  std::vector<NodePath> Run(bool has_gaps) {
    for (Node node : graph_.nodes()) {
      if (paths_.size() >= limit_) break;
      if (!CanFinish({node.id(), 0, false})) continue;
      if (has_gaps) {
        ShortestFrom(node.id());
      } else {
        path_ = {node.id()};
        Extend();
      }
    }
    return std::move(paths_);
  }

 private:
  size_t IndexOf(State state) const {
    return (size_t{state.step} * 2 + state.filler) * graph_.end_id() + state.node;
  }
  bool CanFinish(State state) const { return finishing_[IndexOf(state)]; }
  bool IsEnd(State state) const { return !state.filler && state.step + 1 == steps_.size(); }

  // Marks every state from which a path can be completed, walking backwards from the nodes that
  // match the last step.
  void MarkFinishing(const PathPattern& pattern) {
    size_t n = graph_.end_id();
    matches_.resize(steps_.size() * n);
    finishing_.resize(steps_.size() * 2 * n);
    std::deque<State> work;
    for (Node node : graph_.nodes())
      for (uint32_t s = 0; s < steps_.size(); ++s)
        matches_[s * n + node.id()] = pattern.steps()[s].Matches(node);
    auto mark = [&](State state) {
      if (finishing_[IndexOf(state)]) return;
      finishing_[IndexOf(state)] = true;
      work.push_back(state);
    };
    uint32_t last = static_cast<uint32_t>(steps_.size()) - 1;
    for (Node node : graph_.nodes())
      if (matches_[last * n + node.id()]) mark({node.id(), last, false});
    while (!work.empty()) {
      State state = work.front();
      work.pop_front();
      Node node = graph_.node(state.node);
      for (int i = 0; i < node.num_inputs(); ++i)
        if (Node input = node.input_node(i)) MarkBefore(state, input.id(), mark);
    }
  }

  template <typename Mark>
  void MarkBefore(State state, NodeId input, Mark mark) {
    size_t n = graph_.end_id();
    if (state.filler) {
      mark({input, state.step, true});
      if (matches_[state.step * n + input]) mark({input, state.step, false});
    } else if (state.step > 0) {
      uint32_t before = state.step - 1;
      if (matches_[before * n + input]) mark({input, before, false});
      if (steps_[state.step].after_gap) mark({input, before, true});
    }
  }

  // Returns the states that may follow `state` on a path that can be completed.
  llvm::SmallVector<State, 8> After(State state) const {
    llvm::SmallVector<State, 8> next;
    if (state.step + 1 == steps_.size()) return next;
    NodeId last = kNoNode;
    std::vector<NodeId> readers;
    for (const Use& use : graph_.node(state.node).uses()) {
      Node reader = graph_.node(use.node);
      if (static_cast<int>(use.slot) < reader.num_inputs()) readers.push_back(use.node);
    }
    llvm::sort(readers);
    for (NodeId reader : readers) {
      if (reader == last) continue;
      last = reader;
      State match = {reader, state.step + 1, false}, filler = {reader, state.step, true};
      if (CanFinish(match)) next.push_back(match);
      if (steps_[state.step + 1].after_gap && CanFinish(filler)) next.push_back(filler);
    }
    return next;
  }

  // Adds the completions of path_ to paths_, up to the limit. Recurses once for each step of the
  // pattern.
  void Extend() {
    if (paths_.size() >= limit_) return;
    State state = {path_.back(), static_cast<uint32_t>(path_.size()) - 1, false};
    if (IsEnd(state)) {
      paths_.push_back(path_);
      return;
    }
    for (State next : After(state)) {
      path_.push_back(next.node);
      Extend();
      path_.pop_back();
    }
  }

  void ShortestFrom(NodeId first) {
    State start = {first, 0, false};
    llvm::DenseMap<uint64_t, uint64_t> before;
    std::deque<State> work = {start};
    before[IndexOf(start)] = IndexOf(start);
    while (!work.empty() && paths_.size() < limit_) {
      State state = work.front();
      work.pop_front();
      if (IsEnd(state)) paths_.push_back(PathTo(state, before));
      for (State next : After(state))
        if (before.try_emplace(IndexOf(next), IndexOf(state)).second) work.push_back(next);
    }
  }

  NodePath PathTo(State state, const llvm::DenseMap<uint64_t, uint64_t>& before) const {
    NodePath path;
    for (uint64_t at = IndexOf(state);;) {
      path.push_back(static_cast<NodeId>(at % graph_.end_id()));
      uint64_t previous = before.lookup(at);
      if (previous == at) break;
      at = previous;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  const Graph& graph_;
  const std::vector<PathPattern::Step>& steps_;
  size_t limit_;
  std::vector<bool> matches_, finishing_;
  NodePath path_;
  std::vector<NodePath> paths_;
};

llvm::StringRef Unquoted(llvm::StringRef text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return text.drop_front().drop_back();
  return text;
}

}  // namespace

bool PathPattern::Step::Matches(const Node& node) const {
  if (!op.Fits(node.op())) return false;
  return llvm::all_of(attributes, [&](const auto& wanted) {
    auto value = node.Attr(wanted.first);
    return value && Unquoted(value->ToString()) == Unquoted(wanted.second);
  });
}

bool PathPattern::HasGaps() const {
  return llvm::any_of(steps_, [](const Step& step) { return step.after_gap; });
}

Expected<PathPattern> PathPattern::Parse(llvm::StringRef text) {
  PathPattern pattern;
  llvm::StringRef rest = text;
  bool gap = false;
  for (bool more = true; more;) {
    size_t arrow = rest.find("->");
    llvm::StringRef part = rest.take_front(arrow);
    more = arrow != llvm::StringRef::npos;
    if (part.trim() == "**") {
      if (pattern.steps_.empty() || !more)
        return BadPattern(text, part.ltrim().begin(),
                          "a path begins and ends with an op, not with **");
      gap = true;
    } else {
      ASSIGN_OR_RETURN(Step step, ParseStep(text, part));
      step.after_gap = std::exchange(gap, false);
      pattern.steps_.push_back(std::move(step));
    }
    if (more) rest = rest.drop_front(arrow + 2);
  }
  return pattern;
}

std::vector<NodePath> FindPaths(const Graph& graph, const PathPattern& pattern, size_t limit) {
  return Finder(graph, pattern, limit).Run(pattern.HasGaps());
}

NodePath FindPathTo(const Node& last, const PathPattern& pattern) {
  const std::vector<PathPattern::Step>& steps = pattern.steps();
  if (!steps.back().Matches(last)) return {};
  const Graph& graph = last.graph();
  // A state that the walk from `last` back along inputs reached, and the index of the state from
  // which the walk reached it.
  struct Reached {
    State state;
    size_t from;
  };
  llvm::SmallVector<Reached, 8> reached;
  llvm::SmallDenseSet<std::pair<NodeId, uint32_t>, 8> seen;
  auto reach = [&](State state, size_t from) {
    if (seen.insert({state.node, state.step * 2 + state.filler}).second)
      reached.push_back({state, from});
  };
  reach({last.id(), static_cast<uint32_t>(steps.size()) - 1, false}, 0);
  for (size_t at = 0; at < reached.size(); ++at) {
    auto [node, step, filler] = reached[at].state;
    if (step == 0 && !filler) {
      NodePath path = {node};
      for (size_t next = at; next != 0;) {
        next = reached[next].from;
        path.push_back(reached[next].state.node);
      }
      return path;
    }
    uint32_t before = filler ? step : step - 1;
    for (int i = 0; i < graph.node(node).num_inputs(); ++i) {
      Node input = graph.node(node).input_node(i);
      if (!input) continue;
      if (steps[before].Matches(input)) reach({input.id(), before, false}, at);
      if (filler || steps[step].after_gap) reach({input.id(), before, true}, at);
    }
  }
  return {};
}

Expected<QueryResult> FindPathRows(const Module& module, llvm::StringRef pattern, size_t limit) {
  ASSIGN_OR_RETURN(PathPattern parsed, PathPattern::Parse(pattern));
  QueryResult result;
  result.columns = {"function", "path", "ops"};
  auto find_in = [&](const Graph& graph, const QueryCell& function) {
    for (const NodePath& path : FindPaths(graph, parsed, limit - result.rows.size())) {
      std::string names, ops;
      for (NodeId id : path) {
        names += (names.empty() ? "" : " -> ") + graph.node(id).name().str();
        ops += (ops.empty() ? "" : " -> ") + graph.node(id).op().str();
      }
      result.rows.push_back({function, names, ops});
    }
  };
  find_in(module.main, {});
  for (const auto& function : module.functions) find_in(function->body, function->name().str());
  return result;
}

}  // namespace grapnel
