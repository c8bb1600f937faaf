// Shared by the rules of the dependency optimizer: the worklist, and which nodes may be removed.
#ifndef GRAPNEL_PASSES_DEPENDENCY_OPTIMIZER_DEPENDENCY_OPTIMIZER_H_
#define GRAPNEL_PASSES_DEPENDENCY_OPTIMIZER_DEPENDENCY_OPTIMIZER_H_

#include <vector>

#include "lib/pass/bypass.h"
#include "lib/pass/rule.h"

namespace grapnel {

// The phases of a round: first the rules that remove duplicate and implied edges; then rules that
// visit nodes until nothing is left to do; then duplicate edges are removed again; last, the rules
// of the whole body.
constexpr int kDuplicateEdges = 0, kNodes = 1, kAfterwards = 2;

// One round over one body (the main graph or a function).
class Dependencies : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "dependency_optimizer";
  explicit Dependencies(Editor& edit)
      : RuleContext(edit),
        has_fetches(edit.boundary().has_fetches()),
        on_one_device(AreOnOneDevice(edit.graph())),
        bypasser(edit) {}

  const bool has_fetches;
  const bool on_one_device;  // all nodes have the same device string
  Bypasser bypasser;

  // --- The worklist of nodes to visit: last in, first out; each node is in it at most once.
  bool has_work() const { return !work_.empty(); }
  void Push(const Node& node);
  NodeId Pop();

  // True if no node reads the node's outputs and it may become a NoOp; may record a refusal
  // otherwise.
  bool CanBecomeNoOp(const Node& node);
  // True if readers of an identity may read its input; may record a refusal otherwise.
  bool CanRemoveIdentity(const Node& node);

 private:
  static bool AreOnOneDevice(const Graph& graph);

  std::vector<NodeId> work_;
  std::vector<bool> in_work_;
};

}  // namespace grapnel

#endif  // GRAPNEL_PASSES_DEPENDENCY_OPTIMIZER_DEPENDENCY_OPTIMIZER_H_
