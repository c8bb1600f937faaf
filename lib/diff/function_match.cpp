#include "lib/diff/function_match.h"

#include <algorithm>
#include <map>

#include "lib/diff/callees_first.h"
#include "lib/diff/structure_hash.h"
#include "lib/ir/node_types.h"
#include "lib/support/side_by_side.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

ModuleView::ModuleView(const Module& module, const IgnoreRules& ignore, bool names_only) {
  bodies_.resize(1 + module.functions.size());
  bodies_[0].view = std::make_unique<BodyView>(module.main, nullptr, names_only);
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const Function& function = *module.functions[i];
    bodies_[i + 1].view = std::make_unique<BodyView>(function.body, &function, names_only);
    by_name_.try_emplace(function.name(), static_cast<int32_t>(i + 1));
  }
  if (names_only) return;
  for (int32_t i : CalleesFirst(module)) {
    Body& body = bodies_[i];
    // In the body of a recursive function, calls of itself count with hash 0: its own hash is not
    // known yet.
    body.labels = MakeLabels(*body.view, ignore, [&](llvm::StringRef name) {
      int32_t callee = Find(name);
      return callee == kNobody ? HashText(name) : bodies_[callee].hash;
    });
    uint64_t sum = 0;
    for (uint64_t hash : HashOfInputs(*body.view, body.labels.exact, true).hash)
      sum += HashInto(0, hash);
    body.hash = HashInto(body.view->size(), sum);
  }
}

llvm::StringRef ModuleView::name(int32_t i) const {
  return bodies_[i].view->function() ? bodies_[i].view->function()->name() : llvm::StringRef();
}

int32_t ModuleView::Find(llvm::StringRef function) const {
  auto it = by_name_.find(function);
  return it == by_name_.end() ? kNobody : it->second;
}

ModuleMatching::ModuleMatching(const ModuleView& a, const ModuleView& b, const DiffOptions& options)
    : a_(a), b_(b), options_(options), to_b_(a.size(), kNobody), to_a_(b.size(), kNobody) {
  Pair(0, 0);
  if (options.by_name) PairEqualNames();
  do {
    Follow();
  } while (!options.by_name && PairLeftOver());
}

llvm::StringRef ModuleMatching::InB(llvm::StringRef function_of_a) const {
  int32_t a = a_.Find(function_of_a);
  return a == kNobody || to_b_[a] == kNobody ? llvm::StringRef() : b_.name(to_b_[a]);
}

void ModuleMatching::Pair(int32_t a, int32_t b) {
  to_b_[a] = b;
  to_a_[b] = a;
  pairs_.push_back({a, b, nullptr});
}

void ModuleMatching::PairEqualNames() {
  for (int32_t a = 1; a < a_.size(); ++a) {
    int32_t b = b_.Find(a_.name(a));
    if (b != kNobody) Pair(a, b);
  }
}

void ModuleMatching::Follow() {
  for (; followed_ < pairs_.size(); ++followed_) {
    auto [a, b] = std::pair(pairs_[followed_].a, pairs_[followed_].b);
    size_t nodes = static_cast<size_t>(a_.body(a).size()) + static_cast<size_t>(b_.body(b).size());
    bool is_long = options_.side_by_side && nodes > kNodesWorthThreads;
    auto matching =
        std::make_unique<Matching>(a_.body(a), a_.labels(a), b_.body(b), b_.labels(b), is_long);
    if (options_.by_name) {
      matching->RunByName();
    } else {
      KnownPairs known;
      if (options_.provenance) known = options_.provenance->PairsOf(a_.body(a), b_.body(b));
      matching->Run(known);
      PairCallees(*matching);
    }
    pairs_[followed_].matching = std::move(matching);
  }
}

void ModuleMatching::PairCallees(const Matching& matching) {
  if (a_.size() == 1 || b_.size() == 1) return;  // one module has no functions
  std::map<std::pair<int32_t, int32_t>, int> votes;
  for (int32_t i = 0; i < matching.a().view->size(); ++i) {
    int32_t other = matching.a().other[i];
    if (other == kNobody) continue;
    Node node_a = matching.a().view->node(i), node_b = matching.b().view->node(other);
    if (!MayCallFunctions(node_a) || !MayCallFunctions(node_b)) continue;
    std::vector<llvm::StringRef> names_a = CalledFunctions(node_a),
                                 names_b = CalledFunctions(node_b);
    if (names_a.size() != names_b.size()) continue;
    for (size_t k = 0; k < names_a.size(); ++k) {
      int32_t a = a_.Find(names_a[k]), b = b_.Find(names_b[k]);
      if (a == kNobody || b == kNobody || to_b_[a] != kNobody || to_a_[b] != kNobody) continue;
      ++votes[{a, b}];
    }
  }
  struct Candidate {
    bool same_body, same_name;
    int votes, a, b;
  };
  std::vector<Candidate> candidates;
  for (const auto& [pair, count] : votes) {
    auto [a, b] = pair;
    candidates.push_back({a_.hash(a) == b_.hash(b), a_.name(a) == b_.name(b), count, a, b});
  }
  llvm::stable_sort(candidates, [](const Candidate& x, const Candidate& y) {
    return std::tie(x.same_body, x.votes, x.same_name) >
           std::tie(y.same_body, y.votes, y.same_name);
  });
  for (const Candidate& candidate : candidates) {
    if (to_b_[candidate.a] == kNobody && to_a_[candidate.b] == kNobody)
      Pair(candidate.a, candidate.b);
  }
}

// Returns, by function, whether an unpaired function calls it.
std::vector<bool> ModuleMatching::CalledByLeftOver(const ModuleView& view,
                                                   llvm::ArrayRef<int32_t> other) {
  std::vector<bool> called(view.size(), false);
  for (int32_t i = 1; i < view.size(); ++i) {
    if (other[i] != kNobody) continue;
    for (Node node : view.body(i).graph().nodes()) {
      if (!MayCallFunctions(node)) continue;
      for (llvm::StringRef name : CalledFunctions(node)) {
        int32_t callee = view.Find(name);
        if (callee != kNobody && callee != i) called[callee] = true;
      }
    }
  }
  return called;
}

// Identifies a trace by its Python function and argument types, because the number of a trace
// differs between processes.
std::string ModuleMatching::TraceKey(const ModuleView& view, int32_t i) {
  std::optional<FunctionLibrary>& library = &view == &a_ ? library_a_ : library_b_;
  if (!library) library = ReadFunctionLibrary(view.body(0).graph().module());
  const LibraryFunction& function = library->functions[i - 1];
  std::string key = std::to_string(static_cast<int>(function.role)) + " " + function.part + " " +
                    function.name.base;
  for (const FunctionArgument& argument : function.arguments) key += " " + argument.ToString();
  return key;
}

// Pairs functions that are still unpaired, since no matched nodes call them, by the most certain
// kind of similarity that yields pairs. Does not go on to the next kind: the caller first pairs the
// functions that the new pairs call.
bool ModuleMatching::PairLeftOver() {
  // Starts with functions that no unpaired function calls: once callers are paired, the matches of
  // their calls tell similar callees apart.
  return PairLeftOver(/*callers=*/true) || PairLeftOver(/*callers=*/false);
}

bool ModuleMatching::PairLeftOver(bool callers) {
  size_t before = pairs_.size();
  std::vector<bool> called_a = callers ? CalledByLeftOver(a_, to_b_) : std::vector<bool>(),
                    called_b = callers ? CalledByLeftOver(b_, to_a_) : std::vector<bool>();
  auto takes = [](const std::vector<bool>& called, int32_t i) {
    return called.empty() || !called[i];
  };
  auto by_key = [&](auto key_of, bool in_order) {
    std::map<std::string, std::pair<std::vector<int32_t>, std::vector<int32_t>>> classes;
    for (int32_t a = 1; a < a_.size(); ++a) {
      if (to_b_[a] == kNobody && takes(called_a, a)) classes[key_of(a_, a)].first.push_back(a);
    }
    for (int32_t b = 1; b < b_.size(); ++b) {
      if (to_a_[b] == kNobody && takes(called_b, b)) classes[key_of(b_, b)].second.push_back(b);
    }
    for (const auto& [key, bodies] : classes) {
      const auto& [of_a, of_b] = bodies;
      if (of_a.size() != of_b.size() || (of_a.size() > 1 && !in_order)) continue;
      for (size_t i = 0; i < of_a.size(); ++i) Pair(of_a[i], of_b[i]);
    }
    return pairs_.size() > before;
  };
  auto hash = [](const ModuleView& view, int32_t i) { return std::to_string(view.hash(i)); };
  auto name = [](const ModuleView& view, int32_t i) { return view.name(i).str(); };
  auto name_class = [](const ModuleView& view, int32_t i) { return NameClass(view.name(i)); };
  auto hash_and_name = [&](const ModuleView& view, int32_t i) {
    return hash(view, i) + " " + name(view, i);
  };
  auto trace = [&](const ModuleView& view, int32_t i) { return TraceKey(view, i); };
  return by_key(hash_and_name, false) || by_key(hash, true) || by_key(name, false) ||
         by_key(trace, true) || by_key(name_class, true);
}

}  // namespace grapnel
