#include "lib/diff/variable_pairs.h"

#include <algorithm>
#include <map>

#include "lib/io/name_match.h"
#include "lib/io/signature.h"
#include "lib/io/variable_objects.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// Ops that hand on what a variable holds: the layer is what reads them.
bool HandsOnVariable(llvm::StringRef op) {
  return op == "Identity" || op == "ReadVariableOp" || op == "Cast" || op == "Enter" ||
         op == "StopGradient";
}

// Which variable of the main graph a tensor of any body is.
class VariableTensors {
 public:
  explicit VariableTensors(const GraphInFile& graph) : main_(graph.module->main) {
    for (NodeId id : NodesOfSaver(graph)) of_saver_.insert(id);
    std::vector<const Graph*> todo(1, &main_);
    while (!todo.empty()) {
      const Graph& body = *todo.back();
      todo.pop_back();
      for (Node node : body.nodes()) {
        if (!IsOfSaver(node) && MayCallFunctions(node)) Enter(node, &todo);
      }
    }
  }

  bool IsOfSaver(const Node& node) const {
    return &node.graph() == &main_ && of_saver_.contains(node.id());
  }

  // kNoNode: it is none, or another one at each call of the body.
  NodeId At(const Graph& body, Port port) const {
    while (port.node != kNoNode && !port.IsControl()) {
      Node node = body.node(port.node);
      if (&body == &main_ && IsVariable(node)) return node.id();
      if (auto argument = arguments_.find({&body, node.id()}); argument != arguments_.end())
        return argument->second;
      if (!HandsOnVariable(node.op()) || node.num_inputs() == 0) break;
      port = node.input(0);
    }
    return kNoNode;
  }

 private:
  // What the bodies that a node calls are given; those for which that is new go to `todo`.
  void Enter(const Node& call, std::vector<const Graph*>* todo) {
    const Graph& body = call.graph();
    for (llvm::StringRef name : CalledFunctions(call)) {
      const Function* callee = body.module().FindFunction(name);
      if (!callee) continue;
      // An If and a Case are told first which branch to take.
      int first = call.num_inputs() - static_cast<int>(callee->args.size());
      if (first < 0 || first > 1) continue;
      bool is_new = seen_.insert(callee).second;
      for (size_t i = 0; i < callee->args.size(); ++i) {
        NodeId variable = At(body, call.input(first + static_cast<int>(i)));
        auto [known, added] = arguments_.try_emplace({&callee->body, callee->args[i]}, variable);
        if (added || known->second == variable || known->second == kNoNode) continue;
        known->second = kNoNode;
        is_new = true;
      }
      if (is_new) todo->push_back(&callee->body);
    }
  }

  const Graph& main_;
  llvm::DenseSet<NodeId> of_saver_;
  llvm::DenseSet<const Function*> seen_;
  std::map<std::pair<const Graph*, NodeId>, NodeId> arguments_;
};

// "bn/gamma" of "model/bn/gamma": a layer and what it is of it.
std::string InLayer(llvm::StringRef name) {
  size_t weight = name.rfind('/');
  size_t layer = weight == llvm::StringRef::npos ? weight : name.rfind('/', weight);
  return layer == llvm::StringRef::npos ? name.str() : name.drop_front(layer + 1).str();
}

class VariablePairing {
 public:
  VariablePairing(const VariableSide& a, const VariableSide& b, const Diff& diff)
      : a_(a), b_(b), diff_(diff), to_b_(a.variables.size(), -1), to_a_(b.variables.size(), -1) {}

  std::vector<std::pair<size_t, size_t>> Run() && {
    PairByReaders();
    PairByNames(PathsOf(a_), PathsOf(b_), /*numbers_count=*/true);
    auto name = [](const SavedVariable& variable) { return variable.name; };
    auto in_layer = [](const SavedVariable& variable) { return InLayer(variable.name); };
    PairByNames(NamesOf(a_, name), NamesOf(b_, name), /*numbers_count=*/false);
    PairByNames(NamesOf(a_, in_layer), NamesOf(b_, in_layer), /*numbers_count=*/false);
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t i = 0; i < to_b_.size(); ++i) {
      if (to_b_[i] >= 0) pairs.emplace_back(i, to_b_[i]);
    }
    return pairs;
  }

 private:
  static bool AreOfOneKind(DataType a, DataType b) {
    a = BaseType(a), b = BaseType(b);
    return a == b || (IsFloating(a) && IsFloating(b)) || (IsInteger(a) && IsInteger(b));
  }

  bool MayPair(size_t a, size_t b) const {
    const SavedVariable &x = a_.variables[a], &y = b_.variables[b];
    return to_b_[a] < 0 && to_a_[b] < 0 && x.shape == y.shape && AreOfOneKind(x.dtype, y.dtype);
  }
  void Pair(size_t a, size_t b) {
    if (!MayPair(a, b)) return;
    to_b_[a] = static_cast<int>(b);
    to_a_[b] = static_cast<int>(a);
  }

  static llvm::DenseMap<NodeId, size_t> PlacesOf(const VariableSide& side) {
    llvm::DenseMap<NodeId, size_t> places;
    for (size_t i = 0; i < side.variables.size(); ++i) places[side.variables[i].node] = i;
    return places;
  }

  void PairByReaders() {
    const VariableTensors in_a(*a_.graph), in_b(*b_.graph);
    const auto places_a = PlacesOf(a_), places_b = PlacesOf(b_);
    std::map<std::pair<size_t, size_t>, int> reads;
    for (const MatchedPair& pair : diff_.matched) {
      const Node &a = pair.a.node, &b = pair.b.node;
      // What a call captures stands in any order.
      if (MayCallFunctions(a) || in_a.IsOfSaver(a) || in_b.IsOfSaver(b)) continue;
      for (int i = 0; i < std::min(a.num_inputs(), b.num_inputs()); ++i) {
        auto at_a = places_a.find(in_a.At(a.graph(), a.input(i)));
        if (at_a == places_a.end()) continue;
        auto at_b = places_b.find(in_b.At(b.graph(), b.input(i)));
        if (at_b != places_b.end()) ++reads[{at_a->second, at_b->second}];
      }
    }
    struct Candidate {
      size_t a, b;
      int reads;
      bool same_name;
    };
    std::vector<Candidate> candidates;
    for (const auto& [pair, count] : reads) {
      candidates.push_back({pair.first, pair.second, count,
                            a_.variables[pair.first].name == b_.variables[pair.second].name});
    }
    llvm::stable_sort(candidates, [](const Candidate& x, const Candidate& y) {
      return std::pair(x.reads, x.same_name) > std::pair(y.reads, y.same_name);
    });
    for (const Candidate& candidate : candidates) Pair(candidate.a, candidate.b);
  }

  template <typename Name>
  static std::vector<std::string> NamesOf(const VariableSide& side, const Name& name) {
    std::vector<std::string> names;
    for (const SavedVariable& variable : side.variables) names.push_back(name(variable));
    return names;
  }

  // Where names of objects lead to the variable, without places in lists: those move.
  static std::vector<std::string> PathsOf(const VariableSide& side) {
    std::vector<std::string> paths = PathsOfObjects(*side.graph, side.variables);
    for (std::string& path : paths) {
      llvm::SmallVector<llvm::StringRef> parts;
      llvm::StringRef(path).split(parts, '/');
      bool has_places = llvm::any_of(parts, [](llvm::StringRef part) {
        return !part.empty() && llvm::all_of(part, llvm::isDigit);
      });
      if (has_places) path.clear();
    }
    return paths;
  }

  // Names that one variable of its model has alone.
  static std::vector<std::string> AloneIn(llvm::ArrayRef<std::string> names,
                                          llvm::StringMap<size_t>* places) {
    llvm::StringMap<int> counts;
    for (const std::string& name : names) ++counts[name];
    std::vector<std::string> alone;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty() || counts[names[i]] != 1) continue;
      alone.push_back(names[i]);
      (*places)[names[i]] = i;
    }
    return alone;
  }

  // Of all variables, those that have a partner included: numbers are compared in their order.
  void PairByNames(llvm::ArrayRef<std::string> names_a, llvm::ArrayRef<std::string> names_b,
                   bool numbers_count) {
    llvm::StringMap<size_t> places_a, places_b;
    std::vector<std::string> a = AloneIn(names_a, &places_a), b = AloneIn(names_b, &places_b);
    std::vector<int> like = numbers_count ? std::vector<int>(a.size(), -1) : MatchNames(a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      auto same = places_b.find(a[i]);
      if (like[i] >= 0) {
        Pair(places_a[a[i]], places_b[b[like[i]]]);
      } else if (same != places_b.end()) {
        Pair(places_a[a[i]], same->second);
      }
    }
  }

  const VariableSide &a_, &b_;
  const Diff& diff_;
  std::vector<int> to_b_, to_a_;  // by place; -1: no partner
};

}  // namespace

std::vector<std::pair<size_t, size_t>> PairVariables(const VariableSide& a, const VariableSide& b,
                                                     const Diff& diff) {
  return VariablePairing(a, b, diff).Run();
}

}  // namespace grapnel
