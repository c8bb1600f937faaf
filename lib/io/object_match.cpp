#include "lib/io/object_match.h"

#include <algorithm>
#include <map>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

constexpr const char* kValue = "VARIABLE_VALUE";
// The most children that all walks through the objects visit together; after that, no further walk
// starts.
constexpr int64_t kMostSteps = 20'000'000;
constexpr size_t kMostPlaces = 4;  // the most places to report per object

using Pairs = llvm::DenseMap<int, int>;  // object of the model -> object of the checkpoint

}  // namespace

std::string VariableKeyOf(const proto::TrackableObjectGraph::TrackableObject& object) {
  for (const auto& attribute : object.attributes()) {
    if (attribute.name() == kValue) return attribute.checkpoint_key();
  }
  return "";
}

class ObjectMatch::Finder {
 public:
  Finder(const proto::SavedObjectGraph& saved, const proto::TrackableObjectGraph& stored, Fits fits,
         std::vector<Found>* found)
      : saved_(saved), stored_(stored), fits_(std::move(fits)), found_(*found) {
    for (int i = 0; i < stored.nodes_size(); ++i) {
      for (const auto& child : stored.nodes(i).children()) parents_[child.local_name()].insert(i);
    }
  }

  void FindAll() {
    if (saved_.nodes().empty() || stored_.nodes().empty()) return;
    if (!FindPart(0, /*as_a_whole=*/false)) return;
    for (const Found& found : found_) {
      for (const std::string& key : found.keys) taken_.insert(key);
    }
    std::vector<int> order(1, 0);
    std::vector<bool> seen(saved_.nodes_size());
    seen[0] = true;
    for (size_t i = 0; i < order.size() && steps_ <= kMostSteps; ++i) {
      if (i > 0 && !IsList(order[i]) && HasMissing(order[i]) &&
          !FindPart(order[i], /*as_a_whole=*/true))
        return;
      for (const auto& child : saved_.nodes(order[i]).children()) {
        if (!IsSaved(child.node_id()) || seen[child.node_id()]) continue;
        seen[child.node_id()] = true;
        order.push_back(child.node_id());
      }
    }
  }

 private:
  bool IsSaved(int node) const { return node >= 0 && node < saved_.nodes_size(); }
  bool IsStored(int node) const { return node >= 0 && node < stored_.nodes_size(); }

  // A place in the checkpoint for part of the model: the variables that a walk from one checkpoint
  // object found, as pairs of a model object and a checkpoint key.
  using Place = std::vector<std::pair<int, std::string>>;

  // Finds the places in the checkpoint that match the most variables of `part`, a subtree of the
  // model's objects, and records their keys. `as_a_whole`: all variables of the part must match.
  // Returns false once the walks have visited kMostSteps children.
  bool FindPart(int part, bool as_a_whole) {
    std::vector<int> begins(1, 0);
    llvm::DenseSet<int> known = {0};
    for (const auto& child : saved_.nodes(part).children()) {
      auto parents = parents_.find(child.local_name());
      if (parents == parents_.end()) continue;
      for (int begin : parents->second) {
        if (known.insert(begin).second) begins.push_back(begin);
      }
    }
    std::sort(begins.begin(), begins.end());
    size_t wanted = as_a_whole ? VariablesBelow(part).size() : 1;
    if (wanted == 0) return true;
    std::vector<Place> best;
    for (int begin : begins) {
      if (steps_ > kMostSteps) return false;
      Place place = VariablesAt(Walk(part, begin));
      bool is_taken = llvm::any_of(place, [&](const auto& at) { return taken_.count(at.second); });
      if (place.size() < wanted || is_taken) continue;
      if (place.size() > wanted) best.clear();
      wanted = place.size();
      if (best.size() < kMostPlaces && !llvm::is_contained(best, place))
        best.push_back(std::move(place));
      if (begin == 0 && part == 0) root_ = best[0];
    }
    // TensorFlow restores by matching root to root, so this place wins over others that match
    // equally many variables.
    if (part == 0 && !best.empty() && root_.size() == best[0].size()) best.assign(1, root_);
    Keep(best, /*has_rivals=*/as_a_whole);
    return true;
  }

  // Records the checkpoint keys that `places` give to the model's objects. `has_rivals`: other
  // parts of the model may match the same places.
  void Keep(llvm::ArrayRef<Place> places, bool has_rivals) {
    llvm::DenseSet<int> now;
    for (const Place& place : places) {
      for (const auto& [object, key] : place) {
        Found& found = found_[object];
        if (!found.keys.empty() && !now.count(object)) continue;  // found earlier
        now.insert(object);
        if (!llvm::is_contained(found.keys, key)) found.keys.push_back(key);
        auto [owner, is_first] = owner_.try_emplace(key, object);
        if (!has_rivals || is_first || owner->second == object) continue;
        found.rival = owner->second;
        found_[owner->second].rival = object;
      }
    }
  }

  // True if the names of all children of the object `part` are numbers, as in a list. Such names do
  // not identify the object: the list of an optimizer's moments has the same shapes as the list of
  // the variables.
  bool IsList(int part) const {
    return llvm::all_of(saved_.nodes(part).children(), [](const auto& child) {
      return llvm::all_of(child.local_name(), llvm::isDigit);
    });
  }

  bool HasMissing(int part) const {
    return llvm::any_of(VariablesBelow(part),
                        [&](int object) { return found_[object].keys.empty(); });
  }

  std::vector<int> VariablesBelow(int part) const {
    std::vector<int> open(1, part), variables;
    llvm::DenseSet<int> seen = {part};
    while (!open.empty()) {
      int object = open.back();
      open.pop_back();
      steps_ += 1 + saved_.nodes(object).children_size();
      if (saved_.nodes(object).has_variable()) variables.push_back(object);
      for (const auto& child : saved_.nodes(object).children()) {
        if (IsSaved(child.node_id()) && seen.insert(child.node_id()).second)
          open.push_back(child.node_id());
      }
    }
    return variables;
  }

  Place VariablesAt(const Pairs& pairs) const {
    Place place;
    for (auto [object, other] : pairs) {
      if (!saved_.nodes(object).has_variable()) continue;
      std::string key = VariableKeyOf(stored_.nodes(other));
      if (!key.empty() && fits_(saved_.nodes(object).variable(), key))
        place.emplace_back(object, std::move(key));
    }
    std::sort(place.begin(), place.end());
    return place;
  }

  // Starts with a pair of a model object and a checkpoint object, and pairs all objects below them
  // that are reached by the same names.
  Pairs Walk(int saved, int stored) {
    Pairs pairs = {{saved, stored}};
    std::vector<std::pair<int, int>> order(1, {saved, stored});
    for (size_t i = 0; i < order.size(); ++i) {
      auto [a, b] = order[i];
      const llvm::StringMap<int>& children = ChildrenOf(b);
      steps_ += 1 + saved_.nodes(a).children_size();
      for (const auto& child : saved_.nodes(a).children()) {
        auto other = children.find(child.local_name());
        if (other != children.end() && IsSaved(child.node_id()) && IsStored(other->second) &&
            pairs.try_emplace(child.node_id(), other->second).second)
          order.emplace_back(child.node_id(), other->second);
      }
    }
    for (auto [a, b] : order) MatchSlots(a, b, &pairs);
    return pairs;
  }

  void MatchSlots(int a, int b, Pairs* pairs) {
    for (const auto& slot : saved_.nodes(a).slot_variables()) {
      int original = slot.original_variable_node_id(), variable = slot.slot_variable_node_id();
      if (!IsSaved(original) || !IsSaved(variable) || !pairs->count(original)) continue;
      for (const auto& other : stored_.nodes(b).slot_variables()) {
        ++steps_;
        if (other.slot_name() == slot.slot_name() &&
            other.original_variable_node_id() == pairs->lookup(original) &&
            IsStored(other.slot_variable_node_id()))
          pairs->try_emplace(variable, other.slot_variable_node_id());
      }
    }
  }

  const llvm::StringMap<int>& ChildrenOf(int stored) {
    auto [children, is_new] = children_.try_emplace(stored);
    if (is_new) {
      for (const auto& child : stored_.nodes(stored).children())
        children->second.try_emplace(child.local_name(), child.node_id());
    }
    return children->second;
  }

  const proto::SavedObjectGraph& saved_;
  const proto::TrackableObjectGraph& stored_;
  Fits fits_;
  std::vector<Found>& found_;
  llvm::StringSet<> taken_;                       // checkpoint keys found for the whole model
  llvm::StringMap<int> owner_;                    // the first model object found for each key
  llvm::StringMap<llvm::DenseSet<int>> parents_;  // in the checkpoint, by a child's name
  std::map<int, llvm::StringMap<int>> children_;  // of checkpoint objects
  Place root_;                                    // the matches from root to root
  mutable int64_t steps_ = 0;
};

ObjectMatch::ObjectMatch(const proto::SavedObjectGraph& saved,
                         const proto::TrackableObjectGraph& stored, Fits fits)
    : found_(saved.nodes_size()) {
  Finder(saved, stored, std::move(fits), &found_).FindAll();
}

ObjectMatch::~ObjectMatch() = default;

}  // namespace grapnel
