#include "lib/diff/diff_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "lib/diff/fates.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// How many changes of the same kind are listed; the rest is counted.
constexpr size_t kShownAlike = 6;
constexpr size_t kShownFates = 40;
constexpr size_t kLongestValue = 90;
constexpr size_t kMostChanges = 4;    // listed per node
constexpr size_t kMostNeighbors = 2;  // listed per added or removed node
constexpr size_t kMostRenames = 6;

enum class Sign { kRemoved, kAdded, kChanged, kGrouped };

struct Line {
  Sign sign;
  std::string name;  // of the node, relative to its scope
  std::string rest;
  std::string kind;  // the same for similar changes
  Node lone = {};    // a node that only one graph has: its neighbors are listed
  size_t most_alike = kShownAlike;
};

struct ScopeLines {
  size_t counts[4] = {0, 0, 0, 0};  // by Sign, including nested scopes
  std::vector<Line> lines;
  std::map<std::string, ScopeLines> scopes;
};

// Components of a path: the headings of a Python function and a function, if any, then scopes by
// name.
using Path = std::vector<std::string>;

constexpr llvm::StringLiteral kPythonFunction = "Python function ";

std::string LeafOf(const NodeEntry& entry) {
  llvm::StringRef name = entry.node.name();
  size_t slash = name.rfind('/');
  return (slash == llvm::StringRef::npos ? name : name.substr(slash + 1)).str();
}

// Returns "Add + 2 Const": the ops of the nodes with their counts, sorted by name.
std::string OpCountsText(llvm::ArrayRef<NodeEntry> nodes) {
  std::map<std::string, int> ops;
  for (const NodeEntry& node : nodes) ++ops[node.node.op().str()];
  std::string text;
  for (const auto& [op, count] : ops) {
    if (!text.empty()) text += " + ";
    text += count > 1 ? std::to_string(count) + " " + op : op;
  }
  return text;
}

std::string NamesText(const char* what, const std::set<std::string>& names) {
  std::string text;
  size_t shown = 0;
  for (const std::string& name : names) {
    if (shown++ == kMostNeighbors) break;
    text += (text.empty() ? what + std::string(" ") : ", ") + name;
  }
  if (names.size() > kMostNeighbors)
    text += " and " + WithCommas(names.size() - kMostNeighbors) + " more";
  return text;
}

// Returns "  reads conv/conv; read by relu": the neighbors of an unmatched node in its own graph.
std::string NeighborsText(Node node) {
  std::set<std::string> reads, readers;
  for (Port port : node.inputs())
    if (port.node != kNoNode) reads.insert(Node(&node.graph(), port.node).name().str());
  for (const Use& use : node.uses()) readers.insert(Node(&node.graph(), use.node).name().str());
  std::string text = NamesText("reads", reads), by = NamesText("read by", readers);
  if (text.empty() && by.empty()) return "";
  return "  " + text + (text.empty() || by.empty() ? "" : "; ") + by;
}

std::string ScopeName(const std::string& scope) {
  return scope.empty() ? "(top)" : Printable(scope);
}

class TextWriter {
 public:
  TextWriter(const DiffTextOptions& options, llvm::raw_ostream& os) : options_(options), os_(os) {}

  void Write(const Diff& diff) {
    for (const FunctionEntry& function : diff.functions)
      if (!function.a.empty() && !function.b.empty()) name_in_a_[function.b] = function.a;
    NameHeadings();
    for (size_t i = 0; i < diff.removed.size(); ++i)
      AddRemoved(diff.removed[i], i < diff.fates.size() ? diff.fates[i] : NodeOutcome());
    for (const NodeEntry& node : diff.added) AddNode(Sign::kAdded, node);
    for (const GroupEntry& group : diff.groups) AddGroup(group);
    for (const MatchedPair& pair : diff.matched) {
      if (!pair.changes.empty()) AddChanged(pair);
    }
    std::set<std::string> opened;
    for (const OpenedCall& call : diff.opened) opened.insert(call.function);
    for (const FunctionEntry& function : diff.functions)
      if (!function.b.empty() || !opened.contains(function.a)) AddFunction(function);
    WriteScope(root_, 0);
    for (const OpenedCall& call : diff.opened) {
      os_ << "> " << Printable(call.call) << "  inlined: " << Plural(call.nodes.size(), "node")
          << " of " << Printable(call.function) << (call.nodes.size() == 1 ? " stands" : " stand")
          << " in its place\n";
    }
    for (const CountedChange& counted : diff.counted)
      os_ << "= " << Plural(counted.nodes.size(), "node") << " " << Printable(counted.what) << "\n";
    if (left_out_ > 0) os_ << "... and " << WithCommas(left_out_) << " more like these (--all)\n";
  }

 private:
  void Add(const Path& path, Line line) {
    ScopeLines* scope = &root_;
    ++scope->counts[static_cast<int>(line.sign)];
    for (const std::string& part : path) {
      scope = &scope->scopes[part];
      ++scope->counts[static_cast<int>(line.sign)];
    }
    scope->lines.push_back(std::move(line));
  }

  void NameHeadings() {
    for (const PythonFunctionChanges& python : options_.functions) {
      if (!python.HasTraces()) continue;
      auto is_lone = [&](const FunctionChanges& one) { return one.a.empty() || one.b.empty(); };
      if (!llvm::all_of(python.functions, is_lone)) in_both_.insert(HeadingOf(python));
      for (const FunctionChanges& function : python.functions)
        headings_[function.a.empty() ? function.b : function.a] = HeadingOf(python);
    }
  }

  static std::string HeadingOf(const PythonFunctionChanges& python) {
    return kPythonFunction.str() + python.Title() + ":";
  }

  // `function`: the function's name in A, or in B if A does not have it.
  Path PathOfFunction(const std::string& function) const {
    auto heading = headings_.find(function);
    Path path;
    if (heading != headings_.end()) path.push_back(heading->second);
    path.push_back("function " + function + ":");
    return path;
  }

  Path PathOf(const NodeEntry& entry, const std::string& function) const {
    Path path = function.empty() ? Path() : PathOfFunction(function);
    llvm::StringRef rest = entry.node.name();
    while (rest.contains('/')) {
      auto [scope, tail] = rest.split('/');
      path.push_back(scope.str() + "/");
      rest = tail;
    }
    return path;
  }
  Path PathOf(const NodeEntry& node) const { return PathOf(node, node.function().str()); }
  // Returns the path of a node of B, with its function's name in A.
  Path PathInA(const NodeEntry& node) const {
    auto it = name_in_a_.find(node.function().str());
    return PathOf(node, it == name_in_a_.end() ? node.function().str() : it->second);
  }

  void AddNode(Sign sign, const NodeEntry& node) {
    std::string op = node.node.op().str();
    Add(sign == Sign::kAdded ? PathInA(node) : PathOf(node),
        {sign, LeafOf(node), "(" + op + ")", op, node.node});
  }

  void AddRemoved(const NodeEntry& node, const NodeOutcome& fate) {
    if (fate.into.empty()) return AddNode(Sign::kRemoved, node);
    std::string op = node.node.op().str();
    Line line = {Sign::kRemoved, LeafOf(node), "(" + op + ")  " + OutcomeText(fate),
                 op + OutcomeWord(fate.kind).str()};
    line.most_alike = kShownFates;
    Add(PathOf(node), std::move(line));
  }

  void AddGroup(const GroupEntry& group) {
    // A group is listed under the name of its single node: a fusion at the fused node, a split at
    // the original node.
    const NodeEntry& at = group.b.size() == 1 ? group.b[0] : group.a[0];
    std::string kind = OpCountsText(group.a) + " -> " + OpCountsText(group.b);
    std::string rest = "(" + kind + ")";
    const auto& many = group.b.size() == 1 ? group.a : group.b;
    if (options_.all) {
      rest += group.b.size() == 1 ? "  from" : "  into";
      for (const NodeEntry& node : many) rest += (" " + node.name).str();
    }
    Add(group.b.size() == 1 ? PathInA(at) : PathOf(at), {Sign::kGrouped, LeafOf(at), rest, kind});
  }

  void AddChanged(const MatchedPair& pair) {
    std::string rest = "(" + pair.b.node.op().str() + ")", kind = pair.b.node.op().str();
    if (pair.a.node.name() != pair.b.node.name()) rest += " now " + pair.b.node.name().str();
    const char* between = "  ";
    bool new_op = llvm::any_of(pair.changes, [](const Change& c) { return c.what == "op"; });
    size_t shown = 0, left_out = 0;
    for (const Change& change : pair.changes) {
      // If the op changed, do not list attributes that only one of the two ops has: they follow
      // from the change.
      bool comes_along = new_op && change.what != "control inputs" &&
                         (change.before.empty() || change.after.empty());
      if (comes_along && !options_.all) continue;
      if (!options_.all && shown++ == kMostChanges) {
        shown = kMostChanges;
        ++left_out;
        continue;
      }
      rest += between + ChangeText(change);
      kind += " " + change.what;
      between = "; ";
    }
    if (left_out > 0) rest += "; and " + WithCommas(left_out) + " more";
    Add(PathOf(pair.a), {Sign::kChanged, LeafOf(pair.a), rest, kind});
  }

  void AddFunction(const FunctionEntry& function) {
    if (function.a.empty() || function.b.empty()) {
      bool removed = function.b.empty();
      ScopeLines* scope = &root_;
      for (const std::string& part : PathOfFunction(removed ? function.a : function.b))
        scope = &scope->scopes[part];
      scope->lines.insert(scope->lines.begin(), {removed ? Sign::kRemoved : Sign::kAdded,
                                                 "the whole function", "", "function"});
      return;
    }
    if (function.a != function.b) renamed_["function " + function.a + ":"] = function.b;
    for (const Change& change : function.changes)
      Add(PathOfFunction(function.a),
          {Sign::kChanged, "the function", ChangeText(change), change.what});
  }

  std::string ChangeText(const Change& change) const {
    auto value = [&](const std::string& text) {
      if (text.empty()) return std::string("(none)");
      if (options_.all || text.size() <= kLongestValue) return text;
      return text.substr(0, kLongestValue - 3) + "...";
    };
    return change.what + ": " + value(change.before) + " -> " + value(change.after);
  }

  void WriteScope(const ScopeLines& scope, int depth) {
    for (const Line& line : scope.lines) {
      std::string kind = std::to_string(static_cast<int>(line.sign)) + line.kind;
      if (!options_.all && ++shown_[kind] > line.most_alike) {
        ++left_out_;
        continue;
      }
      WriteLine(line, depth);
    }
    for (const auto& [name, inner] : scope.scopes) {
      std::string path = name;
      const ScopeLines* at = &inner;
      // A scope that contains nothing but one other scope shares a line with it: "a/b/".
      while (at->lines.empty() && at->scopes.size() == 1 && !path.empty() && path.back() == '/' &&
             path.size() + at->scopes.begin()->first.size() <= ShortNames::kLongest) {
        path += at->scopes.begin()->first;
        at = &at->scopes.begin()->second;
      }
      bool is_heading = llvm::StringRef(path).starts_with(kPythonFunction);
      if (!options_.all && !AnythingNew(*at)) {
        left_out_ += Sum(*at);
        if (is_heading) WriteHead(path, *at, depth);  // the counts of a heading are always shown
        continue;
      }
      if (!options_.all && Sum(*at) == 1 && path.back() == '/') {
        WriteOnlyLine(std::move(path), *at, depth);
      } else if (!options_.all && !in_both_.contains(path) && IsAllOfOneSign(*at)) {
        WriteAsWhole(path, *at, depth);
      } else {
        WriteHead(path, *at, depth);
        WriteScope(*at, depth + 1);
      }
    }
  }

  // Writes the only change of a scope as "a/b/node", without a line for the scope.
  void WriteOnlyLine(std::string path, const ScopeLines& scope, int depth) {
    const ScopeLines* at = &scope;
    while (at->lines.empty()) {
      path += at->scopes.begin()->first;
      at = &at->scopes.begin()->second;
    }
    Line line = at->lines[0];
    ++shown_[std::to_string(static_cast<int>(line.sign)) + line.kind];
    line.name = path + line.name;
    WriteLine(line, depth);
  }

  // True if there are more than three changes, all are removals or all are additions, and no line
  // says what replaced a node.
  static bool IsAllOfOneSign(const ScopeLines& scope) {
    size_t removed = scope.counts[0], added = scope.counts[1], all = Sum(scope);
    return all > 3 && (removed == all || added == all) && !TellsFates(scope);
  }

  static bool TellsFates(const ScopeLines& scope) {
    return llvm::any_of(scope.lines,
                        [](const Line& line) { return line.most_alike > kShownAlike; }) ||
           llvm::any_of(scope.scopes, [](const auto& inner) { return TellsFates(inner.second); });
  }

  void WriteAsWhole(const std::string& path, const ScopeLines& scope, int depth) {
    std::map<std::string, size_t> ops;
    CountKinds(scope, &ops);
    std::string text;
    for (const auto& [op, count] : ops) {
      text += text.empty() ? "" : ", ";
      text += count > 1 ? std::to_string(count) + " " + op : op;
    }
    Sign sign = scope.counts[0] > 0 ? Sign::kRemoved : Sign::kAdded;
    std::string nodes = Plural(Sum(scope), "node") + ": ";
    if (nodes.size() + text.size() > kLongestValue) text = text.substr(0, kLongestValue) + "...";
    WriteLine({sign, path, nodes + text, ""}, depth);
  }

  static void CountKinds(const ScopeLines& scope, std::map<std::string, size_t>* ops) {
    for (const Line& line : scope.lines) ++(*ops)[line.kind];
    for (const auto& [name, inner] : scope.scopes) CountKinds(inner, ops);
  }

  static size_t Sum(const ScopeLines& scope) {
    return scope.counts[0] + scope.counts[1] + scope.counts[2] + scope.counts[3];
  }

  bool AnythingNew(const ScopeLines& scope) const {
    auto is_new = [&](const Line& line) {
      auto it = shown_.find(std::to_string(static_cast<int>(line.sign)) + line.kind);
      return it == shown_.end() || it->second < line.most_alike;
    };
    return llvm::any_of(scope.lines, is_new) ||
           llvm::any_of(scope.scopes, [&](const auto& inner) { return AnythingNew(inner.second); });
  }

  void WriteHead(const std::string& path, const ScopeLines& scope, int depth) {
    static constexpr const char* kNames[] = {"removed", "added", "changed", "replaced"};
    os_.indent(2 * depth) << Printable(path);
    auto renamed = renamed_.find(path);
    if (renamed != renamed_.end()) os_ << " (now " << Printable(renamed->second) << ")";
    const char* between = "  ";
    for (int i = 0; i < 4; ++i) {
      if (scope.counts[i] == 0) continue;
      os_ << between << WithCommas(scope.counts[i]) << " " << kNames[i];
      between = ", ";
    }
    os_ << "\n";
  }

  void WriteLine(const Line& line, int depth) {
    static constexpr const char* kSigns[] = {"-", "+", "~", "*"};
    static constexpr const char* kPaints[] = {"\033[31m", "\033[32m", "\033[33m", "\033[36m"};
    int sign = static_cast<int>(line.sign);
    std::string rest = line.rest + (line.lone ? NeighborsText(line.lone) : "");
    os_.indent(2 * depth) << (options_.color ? kPaints[sign] : "") << kSigns[sign] << " "
                          << Printable(Short(line.name)) << (options_.color ? "\033[0m" : "") << " "
                          << Printable(Short(rest)) << "\n";
  }

  std::string Short(const std::string& text) const {
    return options_.names ? options_.names->InText(text) : text;
  }

  const DiffTextOptions& options_;
  llvm::raw_ostream& os_;
  ScopeLines root_;
  std::map<std::string, std::string> renamed_;
  std::map<std::string, std::string> name_in_a_;  // by the name in B
  std::map<std::string, std::string> headings_;   // by function name, as in PathOfFunction
  std::set<std::string> in_both_;                 // headings of functions in both graphs
  std::map<std::string, size_t> shown_;           // lines written or left out, by kind of change
  size_t left_out_ = 0;
};

}  // namespace

void WriteDiffText(const Diff& diff, const DiffTextOptions& options, llvm::raw_ostream& os) {
  TextWriter(options, os).Write(diff);
}

void WriteRenames(llvm::ArrayRef<Rename> renames, bool all, llvm::raw_ostream& os) {
  if (renames.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"renamed", "", "nodes"}};
  llvm::ArrayRef<Rename> shown = all ? renames : renames.take_front(kMostRenames);
  for (const Rename& one : shown)
    rows.push_back({ScopeName(one.a), "-> " + ScopeName(one.b), WithCommas(one.nodes)});
  os << Table(rows);
  if (shown.size() < renames.size())
    os << "... and " << WithCommas(renames.size() - shown.size()) << " more (--all)\n";
}

std::string DiffRemark(const Diff& diff) {
  std::vector<std::string> parts;
  std::map<NodeOutcome::Kind, size_t> fates;
  for (size_t i = 0; i < diff.fates.size(); ++i)
    if (diff.removed[i].function().empty()) ++fates[diff.fates[i].kind];
  parts.reserve(fates.size());
  for (const auto& [kind, count] : fates)
    parts.push_back(WithCommas(count) + " " + OutcomeWord(kind).str());
  size_t fused = 0;
  for (const GroupEntry& group : diff.groups) fused += group.a.size();
  if (fused > 0)
    parts.push_back(WithCommas(fused) + " fused into " + WithCommas(diff.groups.size()));
  std::map<std::string, size_t> folded;
  for (const MatchedPair& pair : diff.matched) {
    for (const Change& change : pair.changes)
      if (change.what == "op" && pair.b.function().empty())
        ++folded[change.after == "Const" ? "made constant" : "rewritten"];
  }
  for (const auto& [what, count] : folded) parts.push_back(WithCommas(count) + " " + what);
  size_t copies = 0;
  for (const OpenedCall& call : diff.opened) copies += call.nodes.size();
  if (!diff.opened.empty())
    parts.push_back(Plural(diff.opened.size(), "call") + " inlined (" + Plural(copies, "node") +
                    ")");
  for (const CountedChange& counted : diff.counted)
    parts.push_back(WithCommas(counted.nodes.size()) + " " + counted.what);
  return llvm::join(parts, ", ");
}

std::string DiffSummary(const Diff& diff) {
  size_t changed = 0, renamed = 0;
  for (const MatchedPair& pair : diff.matched) {
    changed += !pair.changes.empty();
    renamed += pair.a.node.name() != pair.b.node.name();
  }
  std::string suffix = renamed ? " (" + WithCommas(renamed) + " renamed)" : "";
  if (diff.Same()) return "the same: " + Plural(diff.matched.size(), "node") + suffix;
  std::string text = WithCommas(diff.removed.size()) + " removed, " +
                     WithCommas(diff.added.size()) + " added, " + WithCommas(changed) +
                     " changed, ";
  if (!diff.groups.empty()) text += WithCommas(diff.groups.size()) + " replaced, ";
  std::string remark = DiffRemark(diff);
  text += WithCommas(diff.matched.size() - changed) + " the same" + suffix;
  return diff.fates.empty() && diff.counted.empty() && diff.opened.empty() ? text
                                                                           : text + ": " + remark;
}

void WriteStatistics(const DiffStatistics& statistics, llvm::raw_ostream& os) {
  const GraphStatistics &a = statistics.a, &b = statistics.b;
  std::vector<std::vector<std::string>> rows = {{"", "before", "after"}};
  auto row = [&](const std::string& what, const std::string& x, const std::string& y) {
    rows.push_back({what, x, y});
  };
  row("nodes", WithCommas(a.nodes), WithCommas(b.nodes));
  if (a.functions || b.functions)
    row("functions", WithCommas(a.functions), WithCommas(b.functions));
  row("constants", HumanBytes(a.constant_bytes), HumanBytes(b.constant_bytes));
  if (a.flops && b.flops) {
    row("FLOPs", WithCommas(*a.flops), WithCommas(*b.flops));
    if (a.flops_unknown || b.flops_unknown)
      row("  shape unknown", Plural(a.flops_unknown, "node"), Plural(b.flops_unknown, "node"));
  }
  std::set<std::string> ops;
  for (const auto& [op, count] : a.ops) ops.insert(op);
  for (const auto& [op, count] : b.ops) ops.insert(op);
  for (const std::string& op : ops) {
    auto in_a = a.ops.find(op), in_b = b.ops.find(op);
    size_t x = in_a == a.ops.end() ? 0 : in_a->second, y = in_b == b.ops.end() ? 0 : in_b->second;
    if (x != y) row(op, WithCommas(x), WithCommas(y));
  }
  os << Table(rows);
}

}  // namespace grapnel
