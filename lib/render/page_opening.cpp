#include "lib/render/page_opening.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/render/opening.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

const Graph* GraphOf(const Module& module, const Function* function) {
  return function ? &function->body : &module.main;
}

// The calls that lead from one body to functions: for each function, the call by which a
// breadth-first walk first reaches it.
class WaysFrom {
 public:
  WaysFrom(const Module& module, const Graph* first) {
    std::deque<const Graph*> bodies = {first};
    reached_.try_emplace(first);
    for (; !bodies.empty(); bodies.pop_front()) {
      for (Node node : bodies.front()->nodes()) {
        if (!MayCallFunctions(node)) continue;
        for (llvm::StringRef name : CalledFunctions(node)) {
          const Function* callee = module.FindFunction(name);
          if (callee && reached_.try_emplace(&callee->body, Call{node.id(), &node.graph()}).second)
            bodies.push_back(&callee->body);
        }
      }
    }
  }

  bool Leads(const Graph* to) const { return reached_.count(to) != 0; }

  // Visits the chain of calls that leads to the body `to`, the last call first: visit(body that
  // contains the call, calling node).
  template <typename Visit>
  void ForEachCallTo(const Graph* to, Visit&& visit) const {
    for (Call call = reached_.at(to); call.body; call = reached_.at(call.body))
      visit(call.body, call.caller);
  }

 private:
  struct Call {
    NodeId caller = kNoNode;
    const Graph* body = nullptr;  // the caller's body; null: the walk starts here
  };
  std::map<const Graph*, Call> reached_;
};

class PageOpener {
 public:
  PageOpener(const Module& module, const Function* first, const OpenRequest& wanted,
             const PageBoxes& boxes)
      : module_(module), wanted_(wanted), boxes_(boxes) {
    opening_.first = first;
  }

  Expected<PageOpening> Run() && {
    std::vector<const Function*> functions;
    for (const std::string& name : wanted_.functions) {
      if (name == "all") {
        for (const auto& function : module_.functions) functions.push_back(function.get());
        continue;
      }
      ASSIGN_OR_RETURN(const Function* function, FindFunction(module_, name));
      functions.push_back(function);
    }
    BeginWithin(functions);
    RETURN_IF_ERROR(MakePlanOf());
    for (const Function* function : functions) LeadTo(&function->body);
    // Requested scopes of functions must be visible, so open the callers of these functions.
    for (const auto& asked : plan_.asked) LeadTo(asked.body->graph);
    const Function* seen = functions.empty() || IsAll() ? nullptr : functions[0];
    if (!plan_.asked.empty()) {
      opening_.viewport = {plan_.asked[0].body->graph, plan_.asked[0].scope};
    } else if (seen && seen != opening_.first) {
      opening_.viewport = {&seen->body, TreeOf(seen->body).scope(kRootScope).core};
    }
    Finish();
    return std::move(opening_);
  }

 private:
  bool IsAll() const { return llvm::is_contained(wanted_.functions, "all"); }

  // If no chain of calls leads from the first body to a requested function, makes that function the
  // first body.
  void BeginWithin(llvm::ArrayRef<const Function*> functions) {
    if (IsAll()) return;
    const auto* apart = llvm::find_if(
        functions, [&](const Function* function) { return !Ways().Leads(&function->body); });
    if (apart == functions.end()) return;
    opening_.first = *apart;
    ways_.reset();
  }

  // The chains of calls from the first body, computed on first use: most pages do not need them.
  const WaysFrom& Ways() {
    if (!ways_) ways_.emplace(module_, GraphOf(module_, opening_.first));
    return *ways_;
  }

  Error MakePlanOf() {
    ViewOptions options;
    options.max_boxes = wanted_.max_boxes;
    options.scopes = wanted_.scopes;
    options.depth = wanted_.depth;
    options.layers = boxes_.layers;
    options.signature = boxes_.signature;
    // If only functions were requested, no scopes are opened within them.
    if (!wanted_.functions.empty() && wanted_.scopes.empty() && wanted_.depth < 0)
      options.depth = 0;
    SignatureBody entry;
    if (opening_.first) {
      entry.graph = &opening_.first->body;
      entry.function = opening_.first;
      options.entry = &entry;
    }
    ASSIGN_OR_RETURN(plan_, MakePlan(module_, options, nullptr, {}));
    opening_.notices = plan_.notices;
    for (const auto& body : plan_.bodies) {
      if (!body->drawn) continue;
      Open& open = open_[body->graph];
      for (ScopeId id = 0; id < body->tree->size(); ++id) {
        if (body->open[id]) open.scopes.insert(id);
      }
    }
    for (const DrawnCall& call : plan_.calls) {
      const auto& caller = plan_.bodies[call.body];
      bool drawn = llvm::any_of(plan_.bodies, [&](const auto& body) {
        return body->drawn && body->function == call.callee;
      });
      if (caller->drawn && drawn) open_[caller->graph].callers.insert(call.caller);
    }
    return Error::success();
  }

  void LeadTo(const Graph* body) {
    if (!Ways().Leads(body)) return;
    Ways().ForEachCallTo(body, [&](const Graph* around, NodeId caller) {
      Open& open = open_[around];
      open.callers.insert(caller);
      const ScopeTree& tree = TreeOf(*around);
      for (ScopeId id = tree.ScopeOf(caller); id != kNoScope; id = tree.scope(id).parent)
        open.scopes.insert(tree.scope(id).core);
    });
  }

  // Returns a body's scope tree. It has the same scope ids as the page's tree, since it folds the
  // same nodes.
  const ScopeTree& TreeOf(const Graph& graph) {
    for (const auto& body : plan_.bodies) {
      if (body->graph == &graph) return *body->tree;
    }
    std::unique_ptr<ScopeTree>& tree = trees_[&graph];
    if (!tree) {
      FoldOptions fold;
      fold.signature = boxes_.signature;
      if (!loops_) loops_ = LoopGraphs(module_);
      fold.of_loop = loops_->contains(&graph);
      tree = std::make_unique<ScopeTree>(graph, Fold(graph, {}, fold).uses, kGroupAbove, false,
                                         boxes_.layers);
    }
    return *tree;
  }

  void Finish() {
    auto add = [&](const Graph& graph) {
      auto open = open_.find(&graph);
      if (open == open_.end()) return;
      const auto& [scopes, callers] = open->second;
      opening_.bodies.push_back(
          {&graph, {scopes.begin(), scopes.end()}, {callers.begin(), callers.end()}});
    };
    add(module_.main);
    for (const auto& function : module_.functions) add(function->body);
  }

  struct Open {
    std::set<ScopeId> scopes;
    std::set<NodeId> callers;
  };

  const Module& module_;
  const OpenRequest& wanted_;
  const PageBoxes& boxes_;
  PageOpening opening_;
  std::optional<WaysFrom> ways_;
  std::optional<llvm::DenseMap<const Graph*, Node>> loops_;
  Plan plan_;
  std::map<const Graph*, Open> open_;
  // The scope trees of bodies that are not in plan_.
  std::map<const Graph*, std::unique_ptr<ScopeTree>> trees_;
};

}  // namespace

Expected<PageOpening> OpenPage(const Module& module, const Function* first,
                               const OpenRequest& wanted, const PageBoxes& boxes) {
  return PageOpener(module, first, wanted, boxes).Run();
}

}  // namespace grapnel
