#include "lib/io/layers/scopes.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// Makes names unique as a TensorFlow graph does.
class UniqueNames {
 public:
  std::string Add(llvm::StringRef name) {
    std::string key = name.lower();
    int count = Get(key);
    Set(key, count + 1);
    if (count == 0) return name.str();
    int& free = free_[key];
    int number = std::max(count, free);
    while (Get(Numbered(key, number)) > 0) ++number;
    Set(Numbered(key, number), 1);
    free = number + 1;
    if (least_ == 0) std::tie(base_, least_) = std::make_pair(key, number);
    return Numbered(name.str(), number);
  }
  bool Has(llvm::StringRef name) const { return Get(name.lower()) > 0; }

  // Undo() takes back what changed since Keep().
  void Keep() {
    changes_.clear();
    least_ = 0;
  }
  void Undo() {
    for (const auto& [key, count] : llvm::reverse(changes_)) used_[key] = count;
    changes_.clear();
    if (least_ > 0) free_[base_] = std::min(free_[base_], least_);
  }

 private:
  static std::string Numbered(const std::string& name, int number) {
    return name + "_" + std::to_string(number);
  }
  int Get(const std::string& key) const { return used_.lookup(key); }
  void Set(const std::string& key, int count) {
    int& used = used_[key];
    changes_.push_back({key, used});
    used = count;
  }

  llvm::StringMap<int> used_;
  // By name: the numbers from its count in used_ up to here are in use.
  llvm::StringMap<int> free_;
  std::vector<std::pair<std::string, int>> changes_;
  // Since Keep(): the name that got numbers (callers add one name before Undo), and the first one.
  std::string base_;
  int least_ = 0;
};

// Scopes deeper than this are not told apart: names may be hostile.
constexpr int kDeepestScope = 100;

// Returns the scopes of a node, without those of calls, and the last part of its name.
llvm::SmallVector<llvm::StringRef, 8> PartsOf(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  name.split(parts, '/', kDeepestScope);
  llvm::StringRef last = parts.pop_back_val();
  llvm::erase_if(parts, IsCall);
  parts.push_back(last);
  return parts;
}

// How many calls of a layer, one after the other, may have left no nodes.
constexpr int kLostCalls = 8;

// Names the calls among the inner scopes of one scope.
class CallNames {
 public:
  CallNames(const NameScopes& scopes, const LayerBody& body, int outer)
      : scopes_(scopes), body_(body), outer_(outer) {}

  void Write(std::vector<std::string>* names) {
    if (outer_ == 0) {  // the inputs were there first
      for (Node node : body_.graph->nodes()) {
        if (node.op() == "_Arg" || node.op() == "Placeholder") Occupy(node.name());
      }
    }
    // Nodes and scopes share their names.
    std::vector<std::pair<NodeId, int>> order;
    for (int inner : scopes_[outer_].inner) order.push_back({scopes_[inner].first, inner});
    for (NodeId node : scopes_[outer_].nodes) order.push_back({node, -1});
    llvm::sort(order);
    for (auto [node, scope] : order) {
      if (scope < 0) {
        llvm::StringRef name = body_.graph->node(node).name();
        Occupy(name.substr(name.rfind('/') + 1));
      } else if (scopes_[scope].is_op || !ReadCall(scopes_[scope].name, &(*names)[scope])) {
        Occupy(scopes_[scope].name);
      }
    }
  }

 private:
  void Occupy(llvm::StringRef name) {
    if (!names_.Has(name)) names_.Add(name);
  }

  bool ReadCall(llvm::StringRef scope, std::string* layer) {
    llvm::StringRef base = WithoutNumber(scope);
    if (base == scope) return false;
    bool was_called = calls_.contains(base);
    // An op's scope, such as Reshape_2, if Reshape is there.
    if (names_.Has(base) && !was_called && llvm::isUpper(base[0])) return false;
    names_.Keep();
    for (int lost = 0; lost <= (was_called ? kLostCalls : 0); ++lost) {
      names_.Add(base);
      if (names_.Add(base) != scope) continue;
      *layer = base.str();
      calls_.insert(base);
      return true;
    }
    names_.Undo();
    return false;
  }

  const NameScopes& scopes_;
  const LayerBody& body_;
  int outer_;
  UniqueNames names_;
  llvm::StringSet<> calls_;  // the layers called so far
};

}  // namespace

NameScopes::NameScopes(const LayerBody& body) : of_node_(body.graph->end_id(), -1) {
  all_.emplace_back();
  llvm::DenseMap<std::pair<int, llvm::StringRef>, int> known;
  for (NodeId id : body.nodes) {
    llvm::StringRef name = AroundCall(body.graph->node(id).name());
    llvm::SmallVector<llvm::StringRef, 8> parts = PartsOf(name);
    int scope = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      auto [place, is_new] = known.try_emplace({scope, parts[i]}, size());
      if (is_new) {
        all_[scope].inner.push_back(size());
        NameScope& added = all_.emplace_back();
        added.name = parts[i];
        added.path = name.take_front(parts[i].end() - name.begin());
        added.parent = scope;
        added.first = id;
      }
      scope = place->second;
    }
    all_[scope].nodes.push_back(id);
    of_node_[id] = scope;
  }
  for (const auto& [port, variable] : body.handles) {
    int scope = 0;
    for (llvm::StringRef part : PartsOf(AroundCall(body.graph->node(port.node).name()))) {
      auto found = known.find({scope, part});
      scope = found == known.end() ? -1 : found->second;
      if (scope < 0) break;
    }
    if (scope > 0) all_[scope].is_op = true;
  }
  for (int scope = 0; scope < size(); ++scope) {
    for (NodeId id : all_[scope].nodes) {
      llvm::StringRef name = AroundCall(body.graph->node(id).name());
      auto found = known.find({scope, name.substr(name.rfind('/') + 1)});
      if (found != known.end()) all_[found->second].is_op = true;
    }
  }
}

std::vector<int> NameScopes::Chain(int scope) const {
  std::vector<int> chain;
  for (; scope >= 0; scope = all_[scope].parent) chain.push_back(scope);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

bool IsCall(llvm::StringRef scope) {
  scope.consume_front("Stateful");
  return scope.consume_front("PartitionedCall") && scope.ltrim('_').rtrim("0123456789").empty();
}

llvm::StringRef AroundCall(llvm::StringRef node) {
  llvm::StringRef call = node;
  if (!call.consume_front("Func/")) return node;
  for (int part = 0; part < 2; ++part) {  // "input" and "_3"
    if (!call.contains('/')) return node;
    call = call.rsplit('/').first;
  }
  return call;
}

llvm::StringRef WithoutNumber(llvm::StringRef name) {
  llvm::StringRef stem = name.rtrim("0123456789");
  return stem.size() < name.size() && stem.size() > 1 && stem.consume_back("_") ? stem : name;
}

bool IsNumbered(llvm::StringRef name, llvm::StringRef base) {
  if (!name.consume_front(base)) return false;
  while (!name.empty()) {
    if (!name.consume_front("_")) return false;
    llvm::StringRef digits = name.take_while(llvm::isDigit);
    if (digits.empty()) return false;
    name = name.drop_front(digits.size());
  }
  return true;
}

std::vector<std::string> NamesOfCalls(const NameScopes& scopes, const LayerBody& body) {
  std::vector<std::string> names(scopes.size());
  for (int scope = 0; scope < scopes.size(); ++scope) CallNames(scopes, body, scope).Write(&names);
  return names;
}

bool AreOfKeras3(const NameScopes& scopes, llvm::ArrayRef<std::string> calls, const LayerBody& body,
                 llvm::ArrayRef<ModelVariable> variables) {
  int calls_seen = 0, others = 0;
  for (int top : scopes[0].inner) {
    if (scopes[top].is_op) continue;
    (calls[top].empty() ? others : calls_seen) += 1;
    for (int inner : scopes[top].inner) {
      if (!scopes[inner].is_op) (calls[inner].empty() ? others : calls_seen) += 1;
    }
  }
  for (const auto& [node, reads] : body.reads) {
    if (scopes.Of(node) < 0) continue;
    for (int variable : reads) {
      if (variables[variable].path.empty()) continue;
      llvm::StringRef layer = variables[variable].path.back();
      for (int scope : scopes.Chain(scopes.Of(node))) {
        if (scopes[scope].name == layer)
          ++others;
        else if (calls[scope] == layer)
          ++calls_seen;
      }
    }
  }
  return calls_seen > others;
}

}  // namespace grapnel
