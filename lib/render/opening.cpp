#include "lib/render/opening.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/ir/find.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/render/labels.h"
#include "lib/render/scope_lookup.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Numbers of boxes. A picture with fewer than kFew shows too little; at kEnough, only scopes
// that were requested or that hide most of their body are still opened; a scope that would give more
// than kMany should stay closed.
constexpr size_t kFew = 7, kEnough = 20, kMany = 40;
// Once a picture has this many boxes, parts that were cut along the flow may stay closed. Nested
// models may if there are kFew. Other layers may if there are kFewLayers besides the inputs and
// results of the graph.
constexpr size_t kReadable = 8, kFewLayers = 2;

struct Entity {
  bool is_scope;
  uint32_t id;    // the core of a scope with at least two shown nodes, or a node
  ScopeId child;  // for a scope: the direct child whose core is `id`
  size_t num_ops;
};

// A scope or function that can be opened.
struct Candidate {
  BodyPlan* body;
  ScopeId scope;  // the root scope stands for the whole body
  int depth;
  bool eligible;  // it is in a requested scope or function, or none was requested
  size_t num_ops;
  size_t order;
  Node caller;           // for a function: the first node whose call added it
  bool settled = false;  // it is or is in a part or series, so it may stay closed
  bool is_layer = false, is_model = false;  // a nested model is a layer too
};

class Opener {
 public:
  Opener(const Module& module, const ViewOptions& options) : module_(module), options_(options) {
    max_boxes_ = static_cast<size_t>(std::max(options.max_boxes, 5));
    if (BeginsAtEntry(options)) entry_ = options.entry;
  }

  Expected<Plan> Run(const Graph* only, const std::vector<bool>& selected) && {
    only_ = only;
    if (entry_ && !entry_->function) Body(nullptr, entry_->needed);
    BodyPlan* main = Body(nullptr, selected);
    bool asked = !options_.scopes.empty() || !options_.functions.empty();
    if (only) {
      const Function* function = FunctionOf(only);
      OpenForced(function ? Body(function, selected) : main, kRootScope, 0, true, kNoScope,
                 max_boxes_);
    } else if (entry_) {
      size_t budget = asked ? std::max<size_t>(max_boxes_ / 2, 5) : max_boxes_;
      OpenForced(Body(entry_->function, entry_->needed), kRootScope, 0, !asked, kNoScope, budget);
    } else if (!options_.hide_main) {
      size_t budget = asked ? std::max<size_t>(max_boxes_ / 2, 5) : max_boxes_;
      OpenForced(main, kRootScope, 0, !asked, kNoScope, budget);
    }
    RETURN_IF_ERROR(OpenFunctions());
    for (const std::string& scope : options_.scopes) RETURN_IF_ERROR(OpenScope(scope));
    if (options_.depth >= 0) {
      OpenToDepth();
    } else {
      OpenLargest();
    }
    FinishFunctions();
    return std::move(plan_);
  }

 private:
  const Function* FunctionOf(const Graph* graph) const {
    for (const auto& function : module_.functions) {
      if (&function->body == graph) return function.get();
    }
    return nullptr;
  }

  BodyPlan* Body(const Function* function, const std::vector<bool>& selected = {}) {
    const Graph* graph = function ? &function->body : &module_.main;
    auto [it, fresh] = bodies_.try_emplace(graph, nullptr);
    if (!fresh) return it->second;
    auto body = std::make_unique<BodyPlan>();
    body->graph = graph;
    body->function = function;
    FoldOptions fold;
    fold.constants = !options_.show_constants;
    fold.no_ops = !options_.show_control;
    if (!options_.hidden.empty()) fold.hidden = &options_.hidden;
    fold.keep = Kept(*graph, function == nullptr);
    bool in_part = graph == only_ || (entry_ && graph == entry_->graph);
    if (options_.signature && options_.signature->graph == graph)
      fold.signature = options_.signature;
    if (!loops_) loops_ = LoopGraphs(module_);
    body->loop = loops_->lookup(graph);
    fold.of_loop = static_cast<bool>(body->loop);
    body->is_entry = entry_ && graph == entry_->graph;
    body->folding = Fold(*graph, in_part ? selected : std::vector<bool>(), fold);
    body->tree = std::make_unique<ScopeTree>(*graph, body->folding.uses, kGroupAbove,
                                             options_.keep_outermost, options_.layers);
    body->open.assign(body->tree->size(), false);
    it->second = body.get();
    plan_.bodies.push_back(std::move(body));
    return it->second;
  }

  // Returns, by node id, whether the user named the node: such nodes are never folded.
  std::vector<bool> Kept(const Graph& graph, bool main) const {
    std::vector<bool> keep(graph.end_id(), false);
    auto add = [&](llvm::StringRef text) {
      auto node = FindNode(module_, text);
      if (!node) return llvm::consumeError(node.takeError());
      if (&node->graph() == &graph) keep[node->id()] = true;
    };
    for (const std::string* text : {&options_.around, &options_.path_from, &options_.path_to}) {
      if (!text->empty()) add(*text);
    }
    if (main) {
      for (const std::string& tensor : options_.feeds) add(tensor);
      for (const std::string& tensor : options_.fetches) add(tensor);
    }
    return keep;
  }

  static std::vector<Entity> Entities(const BodyPlan& body, ScopeId id) {
    std::vector<Entity> entities;
    const ScopeTree& tree = *body.tree;
    const Scope& scope = tree.scope(id);
    for (ScopeId child = scope.first_child; child < scope.first_child + scope.num_children;
         ++child) {
      if (tree.scope(child).num_shown == 0) continue;
      ScopeId core = tree.scope(child).core;
      if (tree.scope(child).num_shown > 1) {
        entities.push_back({true, core, child, tree.scope(core).num_ops});
      } else {
        entities.push_back({false, tree.Ops(core)[0], child, 1});
      }
    }
    for (NodeId op : tree.Ops(id)) entities.push_back({false, op, kNoScope, 1});
    return entities;
  }

  size_t CountOf(const Candidate& candidate) const {
    const ScopeTree& tree = *candidate.body->tree;
    return tree.scope(tree.scope(candidate.scope).core).num_entities;
  }

  void Open(const Candidate& candidate) {
    OpenForced(candidate.body, candidate.scope, candidate.depth, candidate.eligible, kNoScope,
               ~size_t{0});
  }

  // Opens a scope however large it is. If the picture would have more than `budget` boxes, the
  // scope's smallest entities share one "rest" box. The child `keep` always gets its own box.
  void OpenForced(BodyPlan* body, ScopeId scope, int depth, bool eligible, ScopeId keep,
                  size_t budget) {
    scope = body->tree->scope(scope).core;
    if (body->open[scope]) return;
    body->open[scope] = true;
    body->drawn = true;
    std::erase_if(candidates_,
                  [&](const Candidate& c) { return c.body == body && c.scope == scope; });
    std::vector<Entity> entities = Entities(*body, scope);
    size_t closed_box =
        scope != body->tree->scope(kRootScope).core || function_boxes_.count(body->function);
    num_boxes_ -= std::min(num_boxes_, closed_box);
    size_t room = budget > num_boxes_ ? std::max<size_t>(budget - num_boxes_, 3) : 3;
    if (entities.size() > room) {
      std::stable_sort(entities.begin(), entities.end(), [&](const Entity& a, const Entity& b) {
        return std::make_tuple(a.child != keep || keep == kNoScope, !a.is_scope, ~a.num_ops) <
               std::make_tuple(b.child != keep || keep == kNoScope, !b.is_scope, ~b.num_ops);
      });
      for (size_t i = room - 1; i < entities.size(); ++i) {
        if (entities[i].child != kNoScope) {
          body->rest_scopes.insert(entities[i].child);
        } else {
          body->rest_ops.insert(entities[i].id);
        }
      }
      entities.resize(room - 1);
      ++num_boxes_;
    }
    num_boxes_ += entities.size();
    for (const Entity& entity : entities) {
      if (entity.is_scope) {
        int down = body->tree->IsPrefix(entity.child) ? depth : depth + 1;
        const Scope &around = body->tree->scope(scope), &child = body->tree->scope(entity.child);
        bool settled = around.cut || around.part || around.series || child.part || child.series;
        const Scope& core = body->tree->scope(entity.id);
        candidates_.push_back({body, entity.id, down, eligible, entity.num_ops, order_++, Node(),
                               settled, !core.layer.empty(), core.is_model});
      } else {
        num_ends_ += IsEnd(body->graph->node(entity.id));
        AddCalls(body, entity.id, depth, eligible);
      }
    }
  }

  static bool IsEnd(const Node& node) {
    return GroupOf(node.op()) == OpGroup::kInput || IsResult(node);
  }

  void AddCalls(BodyPlan* body, NodeId caller, int depth, bool eligible) {
    if (only_) return;
    uint32_t index = 0;
    while (plan_.bodies[index].get() != body) ++index;
    Node node = body->graph->node(caller);
    auto add = [&](llvm::StringRef role, llvm::StringRef name) {
      const Function* callee = module_.FindFunction(name);
      if (!callee) return;
      plan_.calls.push_back({index, caller, role.str(), callee});
      if (!seen_functions_.insert(callee).second) return;
      BodyPlan* inner = Body(callee);
      if (inner->drawn) return;
      function_boxes_.insert(callee);
      ++num_boxes_;
      bool in_layer = !body->tree->LayerAround(body->tree->ScopeOf(caller)).empty();
      candidates_.push_back({inner, inner->tree->scope(kRootScope).core, depth + 1, eligible,
                             callee->body.num_nodes(), order_++, node, false, in_layer});
    };
    add("", node.op());
    for (auto& [key, value] : node.Attrs()) {
      for (llvm::StringRef name : value.FuncNames()) add(key, name);
    }
  }

  Error OpenFunctions() {
    for (const std::string& name : options_.functions) {
      if (name == "all") {
        for (const auto& function : module_.functions) OpenFunction(function.get());
        continue;
      }
      ASSIGN_OR_RETURN(const Function* function, FindFunction(module_, name));
      OpenFunction(function);
    }
    return Error::success();
  }

  void OpenFunction(const Function* function) {
    if (num_boxes_ + 3 > max_boxes_) {
      ++plan_.left_closed;
      return;
    }
    BodyPlan* body = Body(function);
    // If several functions were requested, each gets a part of the budget.
    size_t share =
        options_.functions.size() > 1 || options_.functions[0] == "all" ? kEnough : max_boxes_;
    OpenForced(body, kRootScope, 1, true, kNoScope, std::min(max_boxes_, num_boxes_ + share));
  }

  // Returns the body that a scope path is in, and the path within that body.
  std::pair<BodyPlan*, llvm::StringRef> BodyOfPath(llvm::StringRef path) {
    BodyPlan* main = Body(nullptr);
    if (main->drawn && main->tree->Find(path) != kNoScope) return {main, path};
    for (const auto& body : plan_.bodies) {
      if (body->drawn && body->tree->Find(path) != kNoScope) return {body.get(), path};
    }
    auto [name, inner] = path.split('/');
    if (const Function* function = only_ ? nullptr : module_.FindFunction(name))
      return {Body(function), inner};
    for (const auto& body : plan_.bodies) {
      if (body->drawn) return {body.get(), path};
    }
    return {main, path};
  }

  // Returns an error if the body's graph has the scope, but nothing of it is drawn.
  Error WhyNotDrawn(const BodyPlan& body, llvm::StringRef path) const {
    const Folding all = Fold(*body.graph, {}, {.constants = false, .no_ops = false});
    const ScopeTree tree(*body.graph, all.uses, kGroupAbove, options_.keep_outermost,
                         options_.layers);
    ScopeId scope = tree.Find(path);
    if (scope == kNoScope) return Error::success();
    size_t nodes = 0, hidden = 0;
    for (Node node : body.graph->nodes()) {
      ScopeId id = tree.ScopeOf(node.id());
      while (id != kNoScope && id != scope) id = tree.scope(id).parent;
      nodes += id == scope;
      hidden += id == scope && options_.hidden.Hides(node);
    }
    std::string shown = Printable(path), of_it = Plural(nodes, "op");
    if (hidden == nodes) {
      return MakeError(
          "scope '{0}' has nothing to draw, because --hide hides its {1}: hide fewer, or open "
          "another scope",
          shown, of_it);
    }
    const std::string also = hidden > 0 ? Sentence(" (--hide hides {0})", hidden) : "";
    if (body.graph == only_) {
      return MakeError(
          "scope '{0}' has nothing to draw, because the part that --around or --path selects lacks "
          "its {1}{2}: select more, or open another scope",
          shown, of_it, also);
    }
    return MakeError(
        "scope '{0}' has nothing to draw, because the signature does not need its {1}{2}: --whole "
        "draws all of the main graph",
        shown, of_it, also);
  }

  Error OpenScope(llvm::StringRef path) {
    auto [body, inner] = BodyOfPath(path);
    const ScopeTree& tree = *body->tree;
    ScopeId scope = tree.Find(inner);
    if (scope == kNoScope) {
      for (const auto& other : plan_.bodies) {
        bool may_have = inner.size() == path.size() ? other->drawn : other.get() == body;
        if (may_have) RETURN_IF_ERROR(WhyNotDrawn(*other, inner));
      }
      return NoSuchScope(tree, inner);
    }
    if (std::string why = WhyNoFrame(tree, inner, scope, *body->graph); !why.empty())
      plan_.notices.push_back(std::move(why));
    std::vector<ScopeId> chain;
    for (ScopeId id = scope; id != kNoScope; id = tree.scope(id).parent) chain.push_back(id);
    int depth = 0;
    for (size_t i = chain.size(); i-- > 0;) {
      size_t at = std::find(chain.begin(), chain.end(), tree.scope(chain[i]).core) - chain.begin();
      ScopeId keep = at > 0 && at < chain.size() ? chain[at - 1] : kNoScope;
      if (keep != kNoScope) body->rest_scopes.erase(keep);
      // The scopes around the requested scope may use only half of the boxes, to leave room for the
      // requested scope.
      size_t budget = i > 0 ? max_boxes_ / 2 : max_boxes_;
      OpenForced(body, chain[i], depth++, i == 0, keep, budget);
    }
    ScopeId core = tree.scope(scope).core;
    plan_.asked.push_back({body, core});
    for (Candidate& candidate : candidates_) {
      for (ScopeId id = candidate.scope; candidate.body == body && id != kNoScope;
           id = tree.scope(id).parent) {
        if (id == core) candidate.eligible = true;
      }
    }
    return Error::success();
  }

  bool IsSeries(const Candidate& candidate) const {
    const Scope& scope = candidate.body->tree->scope(candidate.scope);
    return scope.series || scope.slice;
  }

  // True if the scope contains so many of its body's nodes that a picture with the scope closed
  // would show little: more than half, of a layer more than three fifths.
  bool HidesMost(const Candidate& candidate) const {
    size_t nodes = candidate.body->graph->num_nodes();
    bool is_most =
        candidate.is_layer ? candidate.num_ops * 5 > nodes * 3 : candidate.num_ops * 2 > nodes;
    return !candidate.caller && !IsSeries(candidate) && is_most && !IsWhole(candidate);
  }

  // True if the scope is one layer for the user, as a row of the model's summary is, and there are
  // others to see: then it stays closed, however many ops it has.
  bool IsWhole(const Candidate& candidate) const {
    return candidate.is_layer && !candidate.is_model && num_boxes_ >= kFewLayers + num_ends_;
  }

  bool HoldsSlices(const Candidate& candidate) const {
    const ScopeTree& tree = *candidate.body->tree;
    const Scope& scope = tree.scope(candidate.scope);
    return scope.num_children > 0 && tree.scope(scope.first_child).slice;
  }

  bool MayStayClosed(const Candidate& candidate) const {
    if (HoldsSlices(candidate)) return true;
    if (HidesMost(candidate)) return false;
    if (IsWhole(candidate)) return true;
    return candidate.is_layer ? num_boxes_ >= kFew : candidate.settled && num_boxes_ >= kReadable;
  }

  // Returns the largest candidate that can be opened without exceeding `limit` boxes; null if there
  // is none. If `need`, skips candidates that may stay closed.
  const Candidate* Largest(size_t limit, int depth, bool need = false) const {
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates_) {
      if (!candidate.eligible || candidate.depth > depth) continue;
      if (need && MayStayClosed(candidate)) continue;
      if (limit != ~size_t{0} && num_boxes_ - 1 + CountOf(candidate) > limit) continue;
      if (!best || std::make_tuple(~candidate.num_ops, candidate.order) <
                       std::make_tuple(~best->num_ops, best->order)) {
        best = &candidate;
      }
    }
    return best;
  }

  // Returns the candidates to open together with `best`: its siblings of equal size or, in a
  // series, all repeats, because no single one of them stands out. If these are fewer than three,
  // returns only `best`.
  std::vector<Candidate> Equals(const Candidate& best) const {
    std::vector<Candidate> equals;
    for (const Candidate& other : candidates_) {
      const ScopeTree& tree = *best.body->tree;
      bool siblings = other.body == best.body && other.scope != kRootScope &&
                      best.scope != kRootScope &&
                      tree.scope(other.scope).parent == tree.scope(best.scope).parent;
      if (!other.eligible || !siblings) continue;
      bool in_series = tree.scope(tree.scope(best.scope).parent).series;
      if (in_series || other.num_ops == best.num_ops) equals.push_back(other);
    }
    return equals.size() < 3 ? std::vector<Candidate>{best} : equals;
  }

  // Returns the layer to open if there are fewer than kFew boxes: a nested model, the largest one;
  // else, with fewer than kFewLayers, the layer with the fewest boxes that makes them enough, so that
  // the others can be seen at a glance; else the one with the most boxes. Null if no layer fits.
  const Candidate* LayerToOpen() const {
    auto rank = [&](const Candidate& candidate) {
      size_t count = CountOf(candidate);
      bool is_enough = num_boxes_ - 1 + count >= kFew;
      return std::make_tuple(!candidate.is_model, candidate.is_model ? ~candidate.num_ops : 0,
                             !is_enough, is_enough ? count : ~count, candidate.order);
    };
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates_) {
      bool fits = candidate.eligible && candidate.is_layer && !IsWhole(candidate) &&
                  !candidate.caller &&
                  num_boxes_ - 1 + CountOf(candidate) <= std::min(kMany, max_boxes_);
      if (fits && (!best || rank(candidate) < rank(*best))) best = &candidate;
    }
    return best;
  }

  void OpenLargest() {
    constexpr int kAnyDepth = ~0u >> 1;
    while (num_boxes_ < kFew) {
      const Candidate* layer = LayerToOpen();
      if (!layer) break;
      Candidate candidate = *layer;
      Open(candidate);
    }
    for (size_t limit : {std::min(kMany, max_boxes_), max_boxes_}) {
      while (num_boxes_ < std::min(kEnough, max_boxes_)) {
        const Candidate* best = Largest(limit, kAnyDepth, true);
        if (!best) break;
        std::vector<Candidate> equals = Equals(*best);
        size_t after = num_boxes_ - equals.size();
        for (const Candidate& candidate : equals) after += CountOf(candidate);
        if (after > limit && num_boxes_ >= kFew) {
          std::erase_if(candidates_, [&](const Candidate& c) {
            return c.body == equals[0].body &&
                   llvm::any_of(equals, [&](const Candidate& e) { return e.scope == c.scope; });
          });
          continue;
        }
        if (after > limit) equals.resize(1);
        for (const Candidate& candidate : equals) Open(candidate);
        OpenLike(equals[0], limit);
      }
    }
    OpenWhatHidesMost();
    while (num_boxes_ < kFew) {
      std::erase_if(candidates_, [&](const Candidate& candidate) { return IsWhole(candidate); });
      const Candidate* best = Largest(~size_t{0}, kAnyDepth);
      if (!best) break;
      Candidate candidate = *best;
      OpenForced(candidate.body, candidate.scope, candidate.depth, candidate.eligible, kNoScope,
                 max_boxes_);
    }
  }

  // Opens scopes that hide most of their body, even if there are kEnough boxes already.
  void OpenWhatHidesMost() {
    while (true) {
      auto most = llvm::find_if(candidates_, [&](const Candidate& candidate) {
        return candidate.eligible && HidesMost(candidate) &&
               num_boxes_ - 1 + CountOf(candidate) <= max_boxes_;
      });
      if (most == candidates_.end()) return;
      Candidate candidate = *most;
      Open(candidate);
    }
  }

  // True if a user who sees one of the candidates open expects the other to be open: a loop's body
  // and condition; the groups conv2_* and conv3_* of a network, which contain groups themselves.
  bool AreAlike(const Candidate& a, const Candidate& b) const {
    if (a.body != b.body || a.scope == kRootScope) return a.caller && a.caller == b.caller;
    const ScopeTree& tree = *a.body->tree;
    return tree.scope(a.scope).parent == tree.scope(b.scope).parent && tree.HoldsGroups(a.scope) &&
           tree.HoldsGroups(b.scope);
  }

  void OpenLike(const Candidate& opened, size_t limit) {
    std::vector<Candidate> alike;
    for (const Candidate& candidate : candidates_) {
      if (candidate.eligible && AreAlike(opened, candidate)) alike.push_back(candidate);
    }
    for (const Candidate& candidate : alike) {
      if (num_boxes_ - 1 + CountOf(candidate) <= limit) Open(candidate);
    }
  }

  void OpenToDepth() {
    for (Candidate& candidate : candidates_) candidate.eligible = true;
    for (int depth = 0; depth <= options_.depth; ++depth) {
      while (const Candidate* best = Largest(max_boxes_, depth)) {
        Candidate candidate = *best;
        candidate.eligible = true;
        Open(candidate);
      }
    }
    for (const Candidate& candidate : candidates_)
      plan_.left_closed += candidate.depth <= options_.depth;
  }

  void FinishFunctions() {
    for (const auto& body : plan_.bodies) {
      if (body->function && !body->drawn && function_boxes_.count(body->function)) {
        plan_.closed.push_back(body->function);
      }
    }
  }

  const Module& module_;
  const ViewOptions& options_;
  const Graph* only_ = nullptr;
  // The signature's body that is shown instead of the main graph.
  const SignatureBody* entry_ = nullptr;
  size_t max_boxes_;
  std::optional<llvm::DenseMap<const Graph*, Node>> loops_;
  size_t num_boxes_ = 0, order_ = 0;
  size_t num_ends_ = 0;  // of num_boxes_, the inputs and results of bodies
  Plan plan_;
  llvm::DenseMap<const Graph*, BodyPlan*> bodies_;
  std::vector<Candidate> candidates_;
  llvm::DenseSet<const Function*> seen_functions_, function_boxes_;
};

}  // namespace

bool BeginsAtEntry(const ViewOptions& options) {
  return options.entry && options.around.empty() && options.path_from.empty() &&
         options.path_to.empty() && options.functions.empty() && !options.hide_main;
}

Expected<Plan> MakePlan(const Module& module, const ViewOptions& options, const Graph* only,
                        const std::vector<bool>& selected) {
  return Opener(module, options).Run(only, selected);
}

}  // namespace grapnel
