#include "lib/policy/change_verdict.h"

#include <map>
#include <set>

#include "lib/diff/body_view.h"
#include "lib/diff/layer_changes.h"
#include "lib/diff/measures.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/job/model_values.h"
#include "lib/policy/signature_changes.h"
#include "lib/support/name_list.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostNamed = 4;  // layers in a list

// True for variables and for constants that are as good as variables.
bool HoldsWeights(const Node& node) {
  if (IsVariable(node)) return true;
  if (node.op() != "Const" || !IsFloating(node.GetType("dtype"))) return false;
  auto literal = Literal::FromConst(node);
  if (literal) return literal->num_elements() > 1;
  llvm::consumeError(literal.takeError());
  return false;
}

// Compares the graphs of signatures, and collects what differs by layer.
class Judge {
 public:
  void Compare(const ServedGraphs& graphs) {
    for (LayerChange& change : LayerChangesOf(graphs.OfLayers())) {
      bool is_known = llvm::any_of(layers_, [&](const LayerChange& other) {
        return other.layer == change.layer && other.kind == change.kind &&
               other.details == change.details;
      });
      if (!is_known) layers_.push_back(std::move(change));
    }
    CompareNames(graphs);
    for (const Node& node : graphs.now->module().main.nodes())
      if (HoldsWeights(node)) all_.insert(graphs.layers_now->Of(node));
    CompareValues(graphs);
  }

  ChangeVerdict Verdict(llvm::ArrayRef<SignatureChange> interface) const {
    if (!interface.empty()) {
      std::string text = "interface: " + InterfaceText(interface);
      if (!layers_.empty()) text += "; " + LayersText(layers_);
      return {ChangeVerdict::kInterface, std::move(text)};
    }
    if (!layers_.empty()) return {ChangeVerdict::kStructure, "structure: " + LayersText(layers_)};
    if (!other_values_.empty()) return {ChangeVerdict::kWeights, "weights only: " + WeightsText()};
    if (!renamed_.empty()) return {ChangeVerdict::kNames, "names only: " + NamesText()};
    std::string text = "same as BASE";
    if (!uncompared_.empty()) text += ", as far as can be told: " + uncompared_;
    return {ChangeVerdict::kSame, std::move(text)};
  }

 private:
  void CompareNames(const ServedGraphs& graphs) {
    std::map<std::pair<std::string, std::string>, Renamed> nodes;
    for (const MatchedPair& pair : graphs.diff.matched) {
      llvm::StringRef a = pair.a.node.name(), b = pair.b.node.name();
      bool is_argument = pair.b.node.op() == "_Arg" || pair.b.node.op() == "_Retval";
      if (is_argument) continue;  // TensorFlow makes its name, from those of the layers around it
      if (a == b || NameClass(a) == NameClass(b)) continue;
      std::string of_a = graphs.layers_before->Of(pair.a.node);
      std::string of_b = graphs.layers_now->Of(pair.b.node);
      if (of_a.empty() || of_b.empty() || NameClass(of_a) == NameClass(of_b))
        AddRename(a, b, &nodes);
      else
        AddRename(of_a, of_b, &renamed_);
    }
    if (renamed_.empty() && !nodes.empty()) renamed_.insert(*nodes.begin());
  }

  // A pair of names before and after.
  using Renamed = std::pair<std::string, std::string>;

  // Adds the outermost parts that differ: 'body' became 'trunk' if 'body/conv' is 'trunk/conv'.
  // Parts that differ from those of another pair in numbers alone are the same.
  static void AddRename(llvm::StringRef a, llvm::StringRef b, std::map<Renamed, Renamed>* renamed) {
    while (true) {
      auto [outer_a, inner_a] = a.split('/');
      auto [outer_b, inner_b] = b.split('/');
      if (inner_a.empty() || inner_b.empty()) break;
      bool is_same_inside = NameClass(inner_a) == NameClass(inner_b);
      if (NameClass(outer_a) != NameClass(outer_b)) {
        if (is_same_inside) a = outer_a, b = outer_b;
        break;
      }
      a = inner_a, b = inner_b;
    }
    renamed->try_emplace({NameClass(a), NameClass(b)}, a.str(), b.str());
  }

  // Values that cannot be read are not compared: checks of weights report the reason.
  void CompareValues(const ServedGraphs& graphs) {
    const LayerNames& names = *graphs.layers_now;
    auto report = CompareModelValues(*graphs.before, *graphs.now, graphs.diff);
    if (!report) {
      uncompared_ = TextOf(report.takeError());
      return;
    }
    std::string why = WhyNotCompared(*report, "BASE", "MODEL");
    if (!why.empty()) uncompared_ = why;
    for (const ValueDiff& value : report->different) {
      if (value.a.empty() || value.b.empty() || !value.problem.empty()) continue;
      auto node = FindNode(graphs.now->module(), value.b);
      bool is_constant = node && node->op() == "Const";
      if (is_constant && IsMeasure(*node)) continue;
      std::string layer = is_constant ? names.Of(*node) : names.OfVariable(value.b);
      if (!node) llvm::consumeError(node.takeError());
      other_values_.insert(layer.empty() ? value.b : layer);
      if (is_constant) all_.insert(layer.empty() ? value.b : layer);
    }
  }

  static std::string InterfaceText(llvm::ArrayRef<SignatureChange> changes) {
    const SignatureChange* first = &changes[0];
    for (const SignatureChange& change : changes)
      if (change.breaks && !first->breaks) first = &change;
    std::vector<std::string> others;
    size_t more = 0;
    for (const SignatureChange& change : changes) {
      if (&change == first) continue;
      if (change.what == first->what)
        others.push_back(change.signature);
      else
        ++more;
    }
    std::string text =
        Sentence("signature {0} {1}", llvm::StringRef(first->signature), first->what);
    if (!others.empty()) text += "; the same for " + NameList(others);
    if (more > 0) text += "; and " + Plural(more, "more change") + " of the interface";
    if (!first->breaks) text += "; callers are not affected";
    return text;
  }

  std::string WeightsText() const {
    std::vector<std::string> names(other_values_.begin(), other_values_.end());
    std::string of = names.size() == all_.size()
                         ? (names.size() == 1 ? "the only layer with weights has"
                                              : "all " + std::to_string(names.size()) +
                                                    " layers with weights have")
                         : std::to_string(names.size()) + " of " + std::to_string(all_.size()) +
                               " layers with weights " + (names.size() == 1 ? "has" : "have");
    return of + " other values (" + NameList(names, kMostNamed) + ")";
  }

  std::string NamesText() const {
    std::string text;
    size_t shown = 0;
    for (const auto& [classes, names] : renamed_) {
      if (shown++ == kMostNamed) break;
      text +=
          (text.empty() ? "" : ", ") + Sentence("'{0}' is now '{1}'", llvm::StringRef(names.first),
                                                llvm::StringRef(names.second));
    }
    if (renamed_.size() > kMostNamed)
      text += " and " + std::to_string(renamed_.size() - kMostNamed) + " more";
    return text;
  }

  std::vector<LayerChange> layers_;
  std::set<std::string> all_, other_values_;  // layers with weights
  std::map<Renamed, Renamed> renamed_;        // by their classes
  std::string uncompared_;                    // why no values were compared
};

}  // namespace

const char* VerdictName(ChangeVerdict::Kind kind) {
  switch (kind) {
    case ChangeVerdict::kSame:
      return "same";
    case ChangeVerdict::kNames:
      return "names";
    case ChangeVerdict::kWeights:
      return "weights";
    case ChangeVerdict::kStructure:
      return "structure";
    case ChangeVerdict::kInterface:
      return "interface";
  }
  return "";
}

ChangeVerdict JudgeChange(CheckedModel& model) {
  Judge judge;
  for (const ServedGraphs& graphs : model.Served()) judge.Compare(graphs);
  return judge.Verdict(CompareInterfaces(InterfaceOf(*model.base()), InterfaceOf(model.opened())));
}

}  // namespace grapnel
