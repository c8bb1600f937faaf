#include "lib/diff/edit_list.h"

#include <algorithm>

#include "lib/diff/alignment.h"
#include "lib/diff/attribute_compare.h"
#include "lib/diff/followed_changes.h"
#include "lib/ir/device_name.h"
#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/support/side_by_side.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// The source of an input in a form that both graphs share: a node of B, a group (a fusion or
// split), or a node that only one graph has.
struct InputSource {
  enum Kind { kPaired, kGroup, kOnlyA, kOnlyB, kDangling } kind;
  int64_t index;
  int32_t port;
  std::string text;  // for a dangling input
  bool operator==(const InputSource& other) const {
    return kind == other.kind && index == other.index && port == other.port && text == other.text;
  }
  bool operator<(const InputSource& other) const {
    return std::tie(kind, index, port, text) <
           std::tie(other.kind, other.index, other.port, other.text);
  }
};

// Compares the attributes of two nodes or functions; both lists are sorted by name.
class AttrComparison {
 public:
  AttrComparison(const ModuleMatching& functions, const DiffOptions& options)
      : functions_(functions), options_(options) {}

  // Maps the name of a function of A to the name of its partner in B.
  std::string NameOfFunction(llvm::StringRef of_a) const {
    llvm::StringRef in_b = functions_.InB(of_a);
    return options_.names || in_b.empty() ? of_a.str() : in_b.str();
  }

  using IsDefaultValue = llvm::function_ref<bool(llvm::StringRef key, AttrView value)>;
  template <typename List>
  void Compare(const List& a, IsDefaultValue is_default_a, const List& b,
               IsDefaultValue is_default_b, std::vector<Change>* changes) const {
    auto at_a = a.begin(), at_b = b.begin();
    auto counts = [&](const auto& attr, IsDefaultValue is_default) {
      return !IsIgnored(attr.first) && !is_default(attr.first, attr.second);
    };
    while (at_a != a.end() || at_b != b.end()) {
      if (at_b == b.end() || (at_a != a.end() && at_a->first < at_b->first)) {
        if (counts(*at_a, is_default_a))
          changes->push_back({at_a->first.str(), AttrText(at_a->second), ""});
        ++at_a;
      } else if (at_a == a.end() || at_b->first < at_a->first) {
        if (counts(*at_b, is_default_b))
          changes->push_back({at_b->first.str(), "", AttrText(at_b->second)});
        ++at_b;
      } else {
        bool same = IsIgnored(at_a->first) || IsSame(at_a->first, at_a->second, at_b->second);
        // Reports a difference unless both values equal the default, which may have two spellings.
        if (!same && (counts(*at_a, is_default_a) || counts(*at_b, is_default_b))) {
          auto [before, after] = AttrTexts(at_a->first, at_a->second, at_b->second);
          changes->push_back({at_a->first.str(), before, after});
        }
        ++at_a;
        ++at_b;
      }
    }
  }

 private:
  bool IsIgnored(llvm::StringRef key) const {
    return SaysNothing(key) || options_.ignore.Attribute(key);
  }

  bool IsSame(llvm::StringRef key, AttrView a, AttrView b) const {
    return SameAttr(key, a, b, [&](llvm::StringRef name) { return NameOfFunction(name); });
  }

  const ModuleMatching& functions_;
  const DiffOptions& options_;
};

class BodyComparison {
 public:
  BodyComparison(const ModuleMatching& functions, const Matching& matching,
                 const DiffOptions& options)
      : attributes_(functions, options), matching_(matching), options_(options) {
    for (llvm::StringRef op : {"_Arg", "_Retval"}) FindInOrder(op);
  }

  std::vector<Change> Compare(int32_t a, int32_t b) const {
    std::vector<Change> changes;
    Node node_a = matching_.a().view->node(a), node_b = matching_.b().view->node(b);
    if (options_.names && node_a.name() != node_b.name())
      changes.push_back({"name", node_a.name().str(), node_b.name().str()});
    if (OpsDiffer(node_a, node_b)) {
      changes.push_back({"op", node_a.op().str(), node_b.op().str()});
      // CountFollowedChanges drops all other changes of a node that became a constant.
      if (options_.by_name && IsConstant(node_b)) return changes;
    }
    if (!options_.ignore.device && node_a.device() != node_b.device() &&
        CanonicalDevice(node_a.device()) != CanonicalDevice(node_b.device()))
      changes.push_back({"device", node_a.device().str(), node_b.device().str()});
    CompareInputs(a, b, &changes);
    if (!options_.ignore.control) CompareControls(a, b, &changes);
    CompareAttrs(node_a, node_b, &changes);
    if (in_order_.contains(a))
      llvm::erase_if(changes, [](const Change& change) { return change.what == "index"; });
    return changes;
  }

 private:
  bool OpsDiffer(const Node& a, const Node& b) const {
    bool has_functions = !a.graph().module().functions.empty();
    return (has_functions ? llvm::StringRef(attributes_.NameOfFunction(a.op())) : a.op()) != b.op();
  }

  // Finds the matched arguments (or results) that are in the same order in both graphs. If the
  // index of one changed, that is only because other arguments were added or removed, so it does
  // not count as a change.
  void FindInOrder(llvm::StringRef op) {
    // The index attribute of the node or of its partner, and the node of A.
    using Indexed = std::vector<std::pair<int64_t, int32_t>>;
    Indexed of_a, of_b;
    for (int32_t i = 0; i < matching_.a().view->size(); ++i) {
      int32_t other = matching_.a().other[i];
      if (other == kNobody || matching_.a().view->node(i).op() != op) continue;
      of_a.push_back({matching_.a().view->node(i).GetInt("index"), i});
      of_b.push_back({matching_.b().view->node(other).GetInt("index"), i});
    }
    llvm::sort(of_a);
    llvm::sort(of_b);
    for (size_t k = 0; k < of_a.size(); ++k)
      if (of_a[k].second == of_b[k].second) in_order_.insert(of_a[k].second);
  }

  InputSource SourceOf(const Side& side, bool is_a, int32_t reader, int slot,
                       BodyView::In in) const {
    if (in.node == kNobody)
      return {InputSource::kDangling, 0, in.port, side.view->node(reader).DanglingText(slot).str()};
    if (side.group[in.node] != kNobody) return {InputSource::kGroup, side.group[in.node], 0, ""};
    if (side.other[in.node] == kNobody)
      return {is_a ? InputSource::kOnlyA : InputSource::kOnlyB, in.node, in.port, ""};
    return {InputSource::kPaired, is_a ? side.other[in.node] : in.node, in.port, ""};
  }

  static std::string InputText(const Side& side, int32_t reader, int slot, BodyView::In in) {
    if (in.node == kNobody) return side.view->node(reader).DanglingText(slot).str();
    Node node = side.view->node(in.node);
    return PortText(node.graph(), {node.id(), in.port});
  }

  // True if each data input of `a` is paired with the input of `b` at the same position, as for
  // most nodes.
  bool ReadPairs(int32_t a, int32_t b) const {
    auto in_a = matching_.a().view->DataInputs(a), in_b = matching_.b().view->DataInputs(b);
    return std::equal(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                      [&](const BodyView::In& x, const BodyView::In& y) {
                        return x.node != kNobody && y.node != kNobody && x.port == y.port &&
                               matching_.a().other[x.node] == y.node;
                      });
  }

  void CompareInputs(int32_t a, int32_t b, std::vector<Change>* changes) const {
    const Side &side_a = matching_.a(), &side_b = matching_.b();
    auto in_a = side_a.view->DataInputs(a), in_b = side_b.view->DataInputs(b);
    if (ReadPairs(a, b)) return;
    auto same = [&](size_t i, size_t j) {
      return SourceOf(side_a, true, a, static_cast<int>(i), in_a[i]) ==
             SourceOf(side_b, false, b, static_cast<int>(j), in_b[j]);
    };
    // If both nodes have equally many inputs, compares them by position; otherwise aligns them,
    // because an input was inserted or removed.
    for (auto [i, j] : in_a.size() == in_b.size() ? InPlace(in_a.size())
                                                  : Align(in_a.size(), in_b.size(), same)) {
      if (i && j && same(*i, *j)) continue;
      std::string before = i ? InputText(side_a, a, static_cast<int>(*i), in_a[*i]) : "",
                  after = j ? InputText(side_b, b, static_cast<int>(*j), in_b[*j]) : "";
      if (before == after) after += " (another node of that name)";
      changes->push_back({"input " + std::to_string(i ? *i : *j), before, after});
    }
  }

  using Controls = std::vector<std::pair<InputSource, std::string>>;  // sorted, without duplicates

  Controls ControlsOf(const Side& side, bool is_a, int32_t i) const {
    Controls out;
    int slot = static_cast<int>(side.view->DataInputs(i).size());
    for (const BodyView::In& in : side.view->ControlInputs(i)) {
      out.push_back({SourceOf(side, is_a, i, slot, in), InputText(side, i, slot, in)});
      ++slot;
    }
    llvm::sort(out);
    out.erase(std::unique(out.begin(), out.end(),
                          [](const auto& x, const auto& y) { return x.first == y.first; }),
              out.end());
    return out;
  }

  void CompareControls(int32_t a, int32_t b, std::vector<Change>* changes) const {
    if (matching_.a().view->ControlInputs(a).empty() &&
        matching_.b().view->ControlInputs(b).empty())
      return;
    Controls of_a = ControlsOf(matching_.a(), true, a), of_b = ControlsOf(matching_.b(), false, b);
    // Lists only the inputs that the other node lacks: a NoOp may have thousands of control inputs.
    auto missing = [](const Controls& from, const Controls& in) {
      std::vector<std::string> names;
      for (const auto& [source, text] : from) {
        auto at = std::lower_bound(in.begin(), in.end(), source,
                                   [](const auto& x, const InputSource& s) { return x.first < s; });
        if (at == in.end() || !(at->first == source)) names.push_back(text);
      }
      llvm::sort(names);
      return llvm::join(names, ", ");
    };
    std::string gone = missing(of_a, of_b), fresh = missing(of_b, of_a);
    if (!gone.empty() || !fresh.empty()) changes->push_back({"control inputs", gone, fresh});
  }

  void CompareAttrs(const Node& a, const Node& b, std::vector<Change>* changes) const {
    auto bytes_a = a.graph().AttrBytes(a.id()), bytes_b = b.graph().AttrBytes(b.id());
    bool has_functions = !a.graph().module().functions.empty();
    if (bytes_a && bytes_b && *bytes_a == *bytes_b && !(has_functions && MayCallFunctions(a)))
      return;
    auto is_default_of = [](const Node& node) {
      return [node](llvm::StringRef key, AttrView value) { return IsDefault(node, key, value); };
    };
    attributes_.Compare(a.Attrs(), is_default_of(a), b.Attrs(), is_default_of(b), changes);
  }

  AttrComparison attributes_;
  const Matching& matching_;
  const DiffOptions& options_;
  llvm::DenseSet<int32_t> in_order_;  // nodes of A
};

class EditListMaker {
 public:
  EditListMaker(const ModuleView& a, const ModuleView& b, const ModuleMatching& matching,
                const DiffOptions& options)
      : a_(a), b_(b), matching_(matching), options_(options) {}

  Diff Run() {
    diff_.names = std::make_shared<std::deque<std::string>>();
    for (const BodyPair& pair : matching_.pairs()) {
      AddBodies(pair);
      if (pair.a != 0) AddFunctions(pair);
    }
    for (int32_t i = 0; i < a_.size(); ++i) {
      if (matching_.IsPairedA(i)) continue;
      diff_.functions.push_back({a_.name(i).str(), "", {}});
      for (int32_t k = 0; k < a_.body(i).size(); ++k) AddLone(a_, i, k, &diff_.removed);
    }
    for (int32_t i = 0; i < b_.size(); ++i) {
      if (matching_.IsPairedB(i)) continue;
      diff_.functions.push_back({"", b_.name(i).str(), {}});
      for (int32_t k = 0; k < b_.body(i).size(); ++k) AddLone(b_, i, k, &diff_.added);
    }
    return std::move(diff_);
  }

 private:
  NodeEntry Entry(const ModuleView& view, int32_t body, int32_t i) {
    Node node = view.body(body).node(i);
    if (body == 0) return {node.name(), node};
    return {diff_.names->emplace_back((view.name(body) + "/" + node.name()).str()), node};
  }

  bool Ignored(const NodeEntry& entry) const {
    const IgnoreRules& ignore = options_.ignore;
    return (!ignore.nodes.empty() || !ignore.ops.empty()) &&
           ignore.WholeNode(entry.name, entry.node.op());
  }

  void AddLone(const ModuleView& view, int32_t body, int32_t i, std::vector<NodeEntry>* list) {
    NodeEntry entry = Entry(view, body, i);
    if (!Ignored(entry)) list->push_back(entry);
  }

  void AddBodies(const BodyPair& pair) {
    const Matching& matching = *pair.matching;
    size_t first = diff_.matched.size();
    std::vector<int32_t> in_a;  // for entries of this body
    in_a.reserve(matching.a().view->size());
    if (first == 0) diff_.matched.reserve(matching.a().view->size());
    for (int32_t i = 0; i < matching.a().view->size(); ++i) {
      if (matching.a().IsFree(i)) AddLone(a_, pair.a, i, &diff_.removed);
      int32_t other = matching.a().other[i];
      if (other == kNobody) continue;
      diff_.matched.push_back({Entry(a_, pair.a, i), Entry(b_, pair.b, other), {}});
      in_a.push_back(i);
    }
    BodyComparison comparison(matching_, matching, options_);
    auto compare = [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        MatchedPair& entry = diff_.matched[first + i];
        if (!Ignored(entry.a) && !Ignored(entry.b))
          entry.changes = comparison.Compare(in_a[i], matching.a().other[in_a[i]]);
      }
    };
    bool is_long = options_.side_by_side && in_a.size() > kNodesWorthThreads;
    SideBySide(
        is_long, [&] { compare(0, in_a.size() / 2); },
        [&] { compare(in_a.size() / 2, in_a.size()); });
    for (int32_t i = 0; i < matching.b().view->size(); ++i) {
      if (matching.b().IsFree(i)) AddLone(b_, pair.b, i, &diff_.added);
    }
    for (const NodeGroup& group : matching.groups()) {
      GroupEntry entry;
      for (int32_t i : group.a) entry.a.push_back(Entry(a_, pair.a, i));
      for (int32_t i : group.b) entry.b.push_back(Entry(b_, pair.b, i));
      auto ignored = [&](const NodeEntry& node) { return Ignored(node); };
      if (!llvm::all_of(entry.a, ignored) || !llvm::all_of(entry.b, ignored))
        diff_.groups.push_back(std::move(entry));
    }
  }

  // A node that must run before a call returns: its index in B if both graphs have it, else a
  // negative number, and its name.
  using Effect = std::pair<int32_t, std::string>;

  static std::vector<Effect> EffectsOf(const BodyView& body, const Side& side, bool is_a) {
    std::vector<Effect> effects;
    for (const auto& [name, id] : body.function()->control_results) {
      int32_t i = body.IndexOf(id);
      if (i == kNobody) continue;
      bool is_paired = side.other[i] != kNobody;
      int32_t in_b = is_a ? side.other[i] : i;
      effects.push_back({is_paired ? in_b : -2 - is_a, side.view->node(i).name().str()});
    }
    llvm::sort(effects);
    return effects;
  }

  // Returns the names of the effects in `from` that `in` lacks; both are sorted.
  static std::string Missing(llvm::ArrayRef<Effect> from, llvm::ArrayRef<Effect> in) {
    std::vector<std::string> names;
    for (const auto& [node, name] : from) {
      auto at = llvm::lower_bound(
          in, node, [](const Effect& effect, int32_t wanted) { return effect.first < wanted; });
      if (at == in.end() || at->first != node) names.push_back(name);
    }
    return llvm::join(names, ", ");
  }

  void AddFunctions(const BodyPair& pair) {
    FunctionEntry entry = {a_.name(pair.a).str(), b_.name(pair.b).str(), {}};
    if (options_.names && entry.a != entry.b) entry.changes.push_back({"name", entry.a, entry.b});
    const BodyView &body_a = a_.body(pair.a), &body_b = b_.body(pair.b);
    std::vector<Effect> of_a = EffectsOf(body_a, pair.matching->a(), true),
                        of_b = EffectsOf(body_b, pair.matching->b(), false);
    std::string gone = Missing(of_a, of_b), fresh = Missing(of_b, of_a);
    if (!options_.ignore.control && (!gone.empty() || !fresh.empty()))
      entry.changes.push_back({"control outputs", gone, fresh});
    auto has_no_default = [](llvm::StringRef, AttrView) { return false; };
    AttrComparison(matching_, options_)
        .Compare(body_a.function()->Attrs(), has_no_default, body_b.function()->Attrs(),
                 has_no_default, &entry.changes);
    llvm::erase_if(entry.changes, [&](const Change& change) { return NamesPartner(change); });
    diff_.functions.push_back(std::move(entry));
  }

  // True if the changed attribute names a function's forward or backward function, and only its
  // name differs: the two functions that A and B name are partners.
  bool NamesPartner(const Change& change) const {
    llvm::StringRef what = change.what;
    if (options_.names || (what != "forward_function_name" && what != "backward_function_name"))
      return false;
    llvm::StringRef before = change.before, after = change.after;
    return !before.empty() && matching_.InB(before.trim('"')) == after.trim('"');
  }

  const ModuleView &a_, &b_;
  const ModuleMatching& matching_;
  const DiffOptions& options_;
  Diff diff_;
};

}  // namespace

Diff MakeEditList(const ModuleView& a, const ModuleView& b, const ModuleMatching& matching,
                  const DiffOptions& options) {
  return EditListMaker(a, b, matching, options).Run();
}

}  // namespace grapnel
