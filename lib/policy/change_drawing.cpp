#include "lib/policy/change_drawing.h"

#include <map>
#include <set>

#include "lib/policy/checked_model.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

enum class ChangeKind { kAdded, kRemoved, kChanged };

const char* FateName(ChangeKind fate) {
  return fate == ChangeKind::kAdded     ? "added"
         : fate == ChangeKind::kRemoved ? "removed"
                                        : "changed";
}

// Limits of a drawing, since Mermaid does not draw a text with more than 50,000 characters or 500
// edges.
constexpr size_t kLongestLabel = 80;  // bytes
constexpr size_t kMostEdges = 400;

// Shortens a long name from the front: the outermost scope matters least.
std::string Shortened(llvm::StringRef text) {
  if (text.size() <= kLongestLabel) return text.str();
  size_t begin = text.size() - kLongestLabel;
  while (begin < text.size() && (text[begin] & 0xC0) == 0x80) ++begin;  // within a UTF-8 character
  return "..." + text.substr(begin).str();
}

// Escapes the characters of a label that may be markup to Mermaid, which also interprets Markdown
// there: __x__, or a list if a label begins with "1. " or "- ". Inside a word, '_', '-', '.' and
// ':' are not markup.
std::string Escaped(llvm::StringRef text) {
  const std::string label = Shortened(Printable(text));
  auto is_letter = [&](size_t at) { return at < label.size() && llvm::isAlnum(label[at]); };
  std::string escaped;
  for (size_t at = 0; at < label.size(); ++at) {
    char c = label[at];
    bool is_plain = is_letter(at) || llvm::StringRef("/ (),").contains(c) || (c & 0x80);
    if (llvm::StringRef("_-.:").contains(c))
      is_plain = at > 0 && is_letter(at - 1) && is_letter(at + 1);
    escaped += is_plain ? std::string(1, c) : "#" + std::to_string(static_cast<int>(c)) + ";";
  }
  return escaped;
}

class Drawing {
 public:
  explicit Drawing(const Diff& diff) {
    for (const MatchedPair& pair : diff.matched) {
      of_a_[{&pair.a.node.graph(), pair.a.node.id()}] = pair.b.name.str();
      if (!pair.changes.empty()) Add(pair.b, ChangeKind::kChanged, false);
    }
    for (const NodeEntry& node : diff.removed) Add(node, ChangeKind::kRemoved, true);
    for (const NodeEntry& node : diff.added) Add(node, ChangeKind::kAdded, false);
    for (const GroupEntry& group : diff.groups) AddGroup(group);
  }

  std::string Text() {
    if (nodes_.empty()) return "";
    Fold();
    std::string text = "flowchart LR\n";
    std::map<std::string, int> numbers;
    for (const auto& [label, box] : boxes_) {
      int number = static_cast<int>(numbers.size());
      numbers[label] = number;
      std::string what = box.nodes == 1 ? box.op : Plural(box.nodes, "node");
      text += Sentence("  n{0}[\"{1} ({2})\"]:::{3}\n", number, Escaped(label), Escaped(what),
                       FateName(box.fate));
    }
    std::set<std::pair<std::string, std::string>> edges = Edges();
    size_t drawn = 0;
    for (const auto& [from, to] : edges) {
      if (drawn == kMostEdges) break;
      ++drawn;
      text += Sentence("  n{0} --> n{1}\n", numbers[from], numbers[to]);
    }
    std::string more;
    if (left_out_ > 0) more = Plural(left_out_, "node");
    if (drawn < edges.size())
      more += (more.empty() ? "" : " and ") + Plural(edges.size() - drawn, "edge");
    if (!more.empty()) text += Sentence("  more[\"and {0} more\"]\n", more);
    return text +
           "  classDef added fill:#d7f0dd,stroke:#2b7a44,color:#123\n"
           "  classDef removed fill:#f8dada,stroke:#a33,color:#311,stroke-dasharray:4 3\n"
           "  classDef changed fill:#fbeec2,stroke:#a07d1c,color:#321\n";
  }

 private:
  struct Entry {
    std::string name;
    Node node;
    ChangeKind fate;
    bool in_a;
  };
  struct Box {
    std::string op;
    size_t nodes = 0;
    ChangeKind fate = ChangeKind::kChanged;
  };

  void Add(const NodeEntry& entry, ChangeKind fate, bool in_a) {
    nodes_.push_back({entry.name.str(), entry.node, fate, in_a});
  }
  // Nodes whose names are on both sides of the group count as changed; the others as added or
  // removed.
  void AddGroup(const GroupEntry& group) {
    auto has = [](llvm::ArrayRef<NodeEntry> nodes, llvm::StringRef name) {
      return llvm::any_of(nodes, [&](const NodeEntry& node) { return node.name == name; });
    };
    for (const NodeEntry& node : group.b)
      Add(node, has(group.a, node.name) ? ChangeKind::kChanged : ChangeKind::kAdded, false);
    for (const NodeEntry& node : group.a) {
      if (!has(group.b, node.name)) Add(node, ChangeKind::kRemoved, true);
    }
  }
  // Returns the node's outermost scope that is drawn as one box; if there is no such scope, the
  // node.
  std::string LabelOf(llvm::StringRef name) const {
    for (size_t at = name.find('/'); at != llvm::StringRef::npos; at = name.find('/', at + 1)) {
      if (!opened_.count(name.take_front(at).str())) return name.take_front(at).str();
    }
    return name.str();
  }

  struct Scope {
    size_t nodes = 0;
    std::set<std::string> within;  // the nodes and scopes in it
  };

  // Replaces the box of a scope by boxes of its contents, the largest scope first, as long as there
  // are at most kMostBoxes boxes. If there are more boxes even so, leaves out the last ones.
  void Fold() {
    std::map<std::string, Scope> scopes = Scopes();
    std::set<std::string> labels = scopes[""].within;
    while (const std::string* scope = NextToOpen(scopes, labels)) {
      const std::string opened = *scope;
      labels.erase(opened);
      labels.insert(scopes[opened].within.begin(), scopes[opened].within.end());
      opened_.insert(opened);
    }
    Fill();
    while (boxes_.size() > kMostBoxes - (left_out_ > 0)) {
      left_out_ += boxes_.rbegin()->second.nodes;
      boxes_.erase(std::prev(boxes_.end()));
    }
  }

  // Returns the scopes by name; the scope "" contains all nodes.
  std::map<std::string, Scope> Scopes() const {
    std::map<std::string, Scope> scopes;
    for (const Entry& entry : nodes_) {
      std::string within = entry.name;
      for (size_t at = within.rfind('/'); !within.empty(); at = within.rfind('/')) {
        std::string scope = at == std::string::npos ? "" : within.substr(0, at);
        ++scopes[scope].nodes;
        scopes[scope].within.insert(within);
        within = scope;
      }
    }
    return scopes;
  }

  static const std::string* NextToOpen(const std::map<std::string, Scope>& scopes,
                                       const std::set<std::string>& labels) {
    const std::string* largest = nullptr;
    for (const std::string& label : labels) {
      auto scope = scopes.find(label);
      if (scope == scopes.end()) continue;
      if (labels.size() - 1 + scope->second.within.size() > kMostBoxes) continue;
      if (!largest || scope->second.nodes > scopes.at(*largest).nodes) largest = &label;
    }
    return largest;
  }

  void Fill() {
    boxes_.clear();
    for (const Entry& entry : nodes_) {
      std::string label = LabelOf(entry.name);
      Box& box = boxes_[label];
      if (box.nodes++ == 0) {
        box.op = entry.node.op().str();
        box.fate = entry.fate;
      } else if (box.fate != entry.fate) {
        box.fate = ChangeKind::kChanged;
      }
    }
  }

  // Returns the name under which the drawing shows a node, if it shows it: for a node of A, the
  // name of its counterpart in B, if there is one.
  std::string NameOf(const Node& node, bool in_a) const {
    if (!in_a) return FullNameOf(node);
    auto found = of_a_.find({&node.graph(), node.id()});
    return found == of_a_.end() ? FullNameOf(node) : found->second;
  }

  std::set<std::pair<std::string, std::string>> Edges() const {
    std::set<std::pair<std::string, std::string>> edges;
    auto add = [&](const std::string& from, const std::string& to) {
      if (from != to && boxes_.count(from) && boxes_.count(to)) edges.emplace(from, to);
    };
    for (const Entry& entry : nodes_) {
      const Graph& graph = entry.node.graph();
      std::string own = LabelOf(entry.name);
      for (const Port& port : entry.node.inputs()) {
        if (port.node != kNoNode) add(LabelOf(NameOf(graph.node(port.node), entry.in_a)), own);
      }
      for (const Use& use : entry.node.uses())
        add(own, LabelOf(NameOf(graph.node(use.node), entry.in_a)));
    }
    return edges;
  }

  std::vector<Entry> nodes_;
  std::map<std::pair<const Graph*, NodeId>, std::string> of_a_;
  std::map<std::string, Box> boxes_;
  std::set<std::string> opened_;  // scopes drawn as their contents
  size_t left_out_ = 0;           // number of nodes left out
};

}  // namespace

std::string DrawChange(const Diff& diff) { return Drawing(diff).Text(); }

}  // namespace grapnel
