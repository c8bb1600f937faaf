#include "lib/shape/loop_trips.h"

#include <algorithm>
#include <cstdlib>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

const Function* FunctionIn(const Node& node, llvm::StringRef attribute) {
  std::optional<AttrView> value = node.FindAttr(attribute);
  return value ? node.graph().module().FindFunction(value->AsFuncName().value_or("")) : nullptr;
}

// Follows a value back through nodes that only forward it.
Port Origin(const Graph& graph, Port port) {
  while (port.node != kNoNode && graph.node(port.node).op() == "Identity" &&
         graph.node(port.node).num_inputs() > 0)
    port = graph.node(port.node).input(0);
  return port;
}

class Loop {
 public:
  Loop(const Node& loop, const ModuleShapes& shapes)
      : loop_(loop),
        shapes_(shapes),
        condition_(FunctionIn(loop, "cond")),
        body_(FunctionIn(loop, "body")) {}

  std::optional<int64_t> Trips() const {
    if (!condition_ || !body_ || condition_->results.size() != 1) return std::nullopt;
    Node result = condition_->body.node(condition_->results[0].node);
    if (result.num_inputs() == 0) return std::nullopt;
    return TripsWhile(result.input(0), 0);
  }

 private:
  static constexpr int kDeepest = 50;

  // Returns how often a value of the condition is true before it is false.
  std::optional<int64_t> TripsWhile(Port port, int depth) const {
    port = Origin(condition_->body, port);
    if (port.node == kNoNode || depth > kDeepest) return std::nullopt;
    Node node = condition_->body.node(port.node);
    if (node.num_inputs() != 2) return std::nullopt;
    Port a = node.input(0), b = node.input(1);
    llvm::StringRef op = node.op();
    if (op == "LogicalAnd") {
      std::optional<int64_t> x = TripsWhile(a, depth + 1), y = TripsWhile(b, depth + 1);
      return x && y ? std::optional<int64_t>(std::min(*x, *y)) : std::nullopt;
    }
    if (op == "Less") return Count(a, b, 1, 0);
    if (op == "LessEqual") return Count(a, b, 1, 1);
    if (op == "Greater") return Count(a, b, -1, 0);
    if (op == "GreaterEqual") return Count(a, b, -1, 1);
    return std::nullopt;
  }

  // Counts how often `a` < `b` (direction -1: `a` > `b`) or, if `also_equal` is 1, also equal.
  std::optional<int64_t> Count(Port a, Port b, int64_t direction, int64_t also_equal) const {
    int slot = ArgumentOf(a);
    bool is_left = slot >= 0 && StepOf(slot);
    if (!is_left) {  // the counter may be on the other side
      slot = ArgumentOf(b);
      std::swap(a, b);
      direction = -direction;
    }
    if (slot < 0 || slot >= loop_.num_inputs()) return std::nullopt;
    std::optional<int64_t> step = StepOf(slot);
    std::optional<int64_t> limit = IntegerAt(shapes_.Of(condition_->body), b);
    std::optional<int64_t> start = IntegerAt(shapes_.Of(loop_.graph()), loop_.input(slot));
    int64_t way;
    if (!step || !limit || !start || *step * direction <= 0) return std::nullopt;
    if (__builtin_sub_overflow(*limit, *start, &way) || way == INT64_MIN) return std::nullopt;
    way = way * direction - (1 - also_equal);  // the last value below the limit
    return way < 0 ? 0 : way / (*step * direction) + 1;
  }

  // Returns the argument of the condition that the port is; -1 for other ports.
  int ArgumentOf(Port port) const {
    port = Origin(condition_->body, port);
    auto found = llvm::find(condition_->args, port.node);
    return found == condition_->args.end() ? -1
                                           : static_cast<int>(found - condition_->args.begin());
  }

  // Returns by how much each iteration changes a carried value; nullopt if not by a constant.
  std::optional<int64_t> StepOf(int slot) const {
    size_t i = static_cast<size_t>(slot);
    if (i >= body_->results.size() || i >= body_->args.size()) return std::nullopt;
    Node result = body_->body.node(body_->results[i].node);
    if (result.num_inputs() == 0) return std::nullopt;
    Port port = Origin(body_->body, result.input(0));
    if (port.node == kNoNode) return std::nullopt;
    Node node = body_->body.node(port.node);
    if ((node.op() != "Add" && node.op() != "AddV2") || node.num_inputs() != 2) return std::nullopt;
    for (int side : {0, 1}) {
      if (Origin(body_->body, node.input(side)).node != body_->args[i]) continue;
      std::optional<int64_t> step = IntegerAt(shapes_.Of(body_->body), node.input(1 - side));
      if (step && std::abs(*step) <= INT32_MAX) return step;
    }
    return std::nullopt;
  }

  static std::optional<int64_t> IntegerAt(const ShapeMap& shapes, Port port) {
    if (port.node == kNoNode || port.IsControl()) return std::nullopt;
    std::optional<llvm::ArrayRef<int64_t>> values = shapes.IntegersOf(port);
    return values && values->size() == 1 ? std::optional<int64_t>(values->front()) : std::nullopt;
  }

  const Node loop_;
  const ModuleShapes& shapes_;
  const Function* condition_;
  const Function* body_;
};

}  // namespace

std::optional<int64_t> TripsOf(const Node& loop, const ModuleShapes& shapes) {
  return Loop(loop, shapes).Trips();
}

}  // namespace grapnel
