#include "lib/job/policy/change_drawing.h"

#include <map>
#include <set>

#include "lib/job/policy/checked_model.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

enum class Fate { kAdded, kRemoved, kChanged };

const char* FateName(Fate fate) {
  return fate == Fate::kAdded ? "added" : fate == Fate::kRemoved ? "removed" : "changed";
}

// In a label everything but letters may mean something to Mermaid.
std::string Escaped(llvm::StringRef text) {
  std::string escaped;
  for (char c : Printable(text)) {
    bool is_plain = llvm::isAlnum(c) || llvm::StringRef("_/-. ():,").contains(c) || (c & 0x80);
    escaped += is_plain ? std::string(1, c) : "#" + std::to_string(static_cast<int>(c)) + ";";
  }
  return escaped;
}

// The first `parts` components of a name; 0: all of it.
std::string Cut(llvm::StringRef name, size_t parts) {
  size_t at = 0;
  for (size_t i = 0; i < parts; ++i) {
    at = name.find('/', at ? at + 1 : 0);
    if (at == llvm::StringRef::npos) return name.str();
  }
  return name.take_front(parts ? at : name.size()).str();
}

class Drawing {
 public:
  explicit Drawing(const Diff& diff) {
    for (const MatchedPair& pair : diff.matched) {
      of_a_[{&pair.a.node.graph(), pair.a.node.id()}] = pair.b.name.str();
      if (!pair.changes.empty()) Add(pair.b, Fate::kChanged, false);
    }
    for (const NodeEntry& node : diff.removed) Add(node, Fate::kRemoved, true);
    for (const NodeEntry& node : diff.added) Add(node, Fate::kAdded, false);
    for (const GroupEntry& group : diff.groups) {
      for (const NodeEntry& node : group.b) Add(node, Fate::kChanged, false);
      for (const NodeEntry& node : group.a)
        of_a_[{&node.node.graph(), node.node.id()}] = group.b.front().name.str();
    }
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
    for (const auto& [from, to] : Edges())
      text += Sentence("  n{0} --> n{1}\n", numbers[from], numbers[to]);
    if (left_out_ > 0) text += Sentence("  more[\"and {0} more\"]\n", Plural(left_out_, "node"));
    return text +
           "  classDef added fill:#d7f0dd,stroke:#2b7a44,color:#123\n"
           "  classDef removed fill:#f8dada,stroke:#a33,color:#311,stroke-dasharray:4 3\n"
           "  classDef changed fill:#fbeec2,stroke:#a07d1c,color:#321\n";
  }

 private:
  struct Entry {
    std::string name;
    Node node;
    Fate fate;
    bool in_a;
  };
  struct Box {
    std::string op;
    size_t nodes = 0;
    Fate fate = Fate::kChanged;
  };

  void Add(const NodeEntry& entry, Fate fate, bool in_a) {
    nodes_.push_back({entry.name.str(), entry.node, fate, in_a});
  }
  std::string LabelOf(const std::string& name) const { return Cut(name, parts_); }

  // As many components of names as there are boxes for.
  void Fold() {
    size_t deepest = 1;
    for (const Entry& entry : nodes_)
      deepest = std::max<size_t>(deepest, llvm::StringRef(entry.name).count('/') + 1);
    parts_ = deepest;
    Fill();
    while (boxes_.size() > kMostBoxes && parts_ > 1) {
      --parts_;
      Fill();
    }
    while (boxes_.size() > kMostBoxes - (left_out_ > 0)) {
      left_out_ += boxes_.rbegin()->second.nodes;
      boxes_.erase(std::prev(boxes_.end()));
    }
  }

  void Fill() {
    boxes_.clear();
    for (const Entry& entry : nodes_) {
      Box& box = boxes_[LabelOf(entry.name)];
      if (box.nodes++ == 0) {
        box.op = entry.node.op().str();
        box.fate = entry.fate;
      } else if (box.fate != entry.fate) {
        box.fate = Fate::kChanged;
      }
    }
  }

  // What a node is called in the drawing, where it may have no box.
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
  size_t parts_ = 0, left_out_ = 0;
};

}  // namespace

std::string DrawChange(const Diff& diff) { return Drawing(diff).Text(); }

}  // namespace grapnel
