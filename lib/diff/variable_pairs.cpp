#include "lib/diff/variable_pairs.h"

#include <algorithm>
#include <map>

#include "lib/io/signature.h"
#include "lib/io/variable_objects.h"
#include "lib/io/variable_tensors.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// Returns the layer and the variable's name in it: "bn/gamma" for "model/bn/gamma".
std::string InLayer(llvm::StringRef name) {
  size_t weight = name.rfind('/');
  size_t layer = weight == llvm::StringRef::npos ? weight : name.rfind('/', weight);
  return layer == llvm::StringRef::npos ? name.str() : name.drop_front(layer + 1).str();
}

// Returns "net/dense" for "net_1/dense_2_1", and adds the numbers, component by component.
std::string WithoutNumbers(llvm::StringRef name, std::vector<uint64_t>* numbers) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  name.split(parts, '/');
  for (llvm::StringRef& part : parts) {
    std::vector<uint64_t> own;
    while (true) {
      llvm::StringRef bare = part.rtrim("0123456789");
      uint64_t number = 0;
      bool is_numbered = bare.size() > 1 && bare.size() < part.size() && bare.ends_with("_") &&
                         !part.drop_front(bare.size()).getAsInteger(10, number);
      if (!is_numbered) break;
      own.insert(own.begin(), number);
      part = bare.drop_back();
    }
    numbers->insert(numbers->end(), own.begin(), own.end());
    numbers->push_back(0);  // between components
  }
  return llvm::join(parts, "/");
}

class VariablePairing {
 public:
  VariablePairing(const VariableSide& a, const VariableSide& b, const Diff& diff)
      : a_(a),
        b_(b),
        diff_(diff),
        in_a_(*a.graph),
        in_b_(*b.graph),
        to_b_(a.variables.size(), -1),
        to_a_(b.variables.size(), -1) {}

  std::vector<std::pair<size_t, size_t>> Run() && {
    auto name = [](const SavedVariable& variable) { return variable.name; };
    auto in_layer = [](const SavedVariable& variable) { return InLayer(variable.name); };
    const Names readers = {ReadersOf(a_, in_a_), ReadersOf(b_, in_b_)};
    const Names paths = {PathsOf(a_), PathsOf(b_)};
    const Names names = {NamesOf(a_, name), NamesOf(b_, name)};
    const Names in_layers = {NamesOf(a_, in_layer), NamesOf(b_, in_layer)};
    for (const Names* each : {&readers, &paths, &names, &in_layers}) PairByNames(*each, kSure);
    PairByMatchedReaders();
    for (const Names* each : {&readers, &paths, &names, &in_layers}) PairByNames(*each, kLikely);
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

  // Returns, for each variable, a node that reads it, in the form "node/input"; if several nodes
  // read it, the first one by name. Looks only at functions.
  static std::vector<std::string> ReadersOf(const VariableSide& side, const VariableTensors& in) {
    std::vector<std::string> readers(side.variables.size());
    const auto places = PlacesOf(side);
    auto look = [&](const Graph& body) {
      for (Node node : body.nodes()) {
        if (MayCallFunctions(node) || HandsOnVariable(node.op()) || in.IsOfSaver(node)) continue;
        for (int i = 0; i < node.num_inputs(); ++i) {
          NodeId variable = in.At(body, node.input(i));
          auto place = variable == kNoNode ? places.end() : places.find(variable);
          if (place == places.end()) continue;
          std::string reader = node.name().str() + "/" + std::to_string(i);
          std::string& known = readers[place->second];
          if (known.empty() || reader < known) known = std::move(reader);
        }
      }
    };
    for (const auto& function : side.graph->module->functions) look(function->body);
    return readers;
  }

  void PairByMatchedReaders() {
    const auto places_a = PlacesOf(a_), places_b = PlacesOf(b_);
    std::map<std::pair<size_t, size_t>, int> reads;
    for (const MatchedPair& pair : diff_.matched) {
      const Node &a = pair.a.node, &b = pair.b.node;
      // Does not compare the inputs of calls: captured tensors are in no fixed order among them.
      if (MayCallFunctions(a) || in_a_.IsOfSaver(a) || in_b_.IsOfSaver(b)) continue;
      for (int i = 0; i < std::min(a.num_inputs(), b.num_inputs()); ++i) {
        NodeId read_a = in_a_.At(a.graph(), a.input(i));
        NodeId read_b = read_a == kNoNode ? kNoNode : in_b_.At(b.graph(), b.input(i));
        if (read_b == kNoNode) continue;
        auto at_a = places_a.find(read_a), at_b = places_b.find(read_b);
        if (at_a != places_a.end() && at_b != places_b.end()) ++reads[{at_a->second, at_b->second}];
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

  // Returns the path of object names that leads to each variable; empty for a path with an index
  // into a list, because such indices change.
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

  // A variable whose name no other variable of its model has, and the numbers in the name. GroupsOf
  // groups such variables by their names without the numbers.
  struct Named {
    std::vector<uint64_t> numbers;
    size_t place;
    bool operator<(const Named& other) const { return numbers < other.numbers; }
  };
  using Groups = std::map<std::string, std::vector<Named>>;
  static Groups GroupsOf(llvm::ArrayRef<std::string> names) {
    llvm::StringMap<int> counts;
    for (const std::string& name : names) ++counts[name];
    Groups groups;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty() || counts[names[i]] != 1) continue;
      Named named{{}, i};
      std::string stem = WithoutNumbers(names[i], &named.numbers);
      groups[stem].push_back(std::move(named));
    }
    for (auto& [stem, group] : groups) std::sort(group.begin(), group.end());
    return groups;
  }

  static bool AreEqual(llvm::ArrayRef<Named> a, llvm::ArrayRef<Named> b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(),
                      [](const Named& x, const Named& y) { return x.numbers == y.numbers; });
  }

  // The name of each variable in both models; variables with the name "" are not paired.
  struct Names {
    std::vector<std::string> a, b;
  };
  enum Confidence { kSure, kLikely };

  // Names that differ only in numbers belong to numbered layers. If one such layer is removed,
  // later ones are renumbered: dense, dense_1, dense_2 become dense, dense_1. Then only readers
  // show which layer is which. If both models have equally many names but other numbers, the names
  // correspond in order.
  void PairByNames(const Names& names, Confidence confidence) {
    Groups in_a = GroupsOf(names.a), in_b = GroupsOf(names.b);
    for (const auto& [stem, a] : in_a) {
      auto found = in_b.find(stem);
      if (found == in_b.end()) continue;
      llvm::ArrayRef<Named> of_a = a, of_b = found->second;
      std::map<std::vector<uint64_t>, size_t> places;
      for (const Named& named : of_b) places[named.numbers] = named.place;
      size_t known =
          llvm::count_if(of_a, [&](const auto& one) { return places.count(one.numbers); });
      const size_t least = std::min(of_a.size(), of_b.size());
      const bool same_count = of_a.size() == of_b.size();
      const bool in_order = same_count && known < least;
      const bool are_first = AreEqual(of_a.take_front(least), of_b.take_front(least));
      const bool is_guess = in_order ? known > 0 : !same_count && are_first;
      if (confidence == kSure && is_guess) continue;
      for (size_t i = 0; i < of_a.size(); ++i) {
        auto same = places.find(of_a[i].numbers);
        if (in_order) {
          Pair(of_a[i].place, of_b[i].place);
        } else if (same != places.end()) {
          Pair(of_a[i].place, same->second);
        }
      }
    }
  }

  const VariableSide &a_, &b_;
  const Diff& diff_;
  const VariableTensors in_a_, in_b_;
  std::vector<int> to_b_, to_a_;  // partner by index; -1: no partner
};

}  // namespace

std::vector<std::pair<size_t, size_t>> PairVariables(const VariableSide& a, const VariableSide& b,
                                                     const Diff& diff) {
  return VariablePairing(a, b, diff).Run();
}

}  // namespace grapnel
