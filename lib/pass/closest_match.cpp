// Finds the part of a graph around a node that comes closest to a pattern of ops.
#include <cmath>
#include <map>

#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/ir/op_table.h"
#include "lib/ir/tensor_name.h"
#include "lib/pass/op_pattern.h"
#include "lib/support/sentence.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

using Step = OpPattern::Step;

// The amount that a gap adds to PatternMatch::distance.
constexpr int kWrongConstant = 2, kOtherTensor = 4, kMissing = 6, kMissingBelow = 2;
constexpr int kOtherOp = 3;   // of the same kind
constexpr int kVariable = 1;  // instead of a constant: --freeze
constexpr size_t kMostBetween = 3, kMostComputing = 16;
constexpr int kMostReaders = 16, kMostVisited = 200, kMostInputs = 8;

bool IsCommutative(const Node& node) {
  // Add is not for strings, which no pattern is about.
  if (node.op() == "Add" || node.op() == "Maximum" || node.op() == "Minimum") return true;
  const OpInfo* info = FindOp(node.op());
  return info && (info->is_commutative || info->is_aggregate);
}

enum class PatternOpKind { kNone, kConvolution, kMatrixProduct, kActivation };

// The kind of ops of which a rule may take some: if a node has another one of them than the
// pattern, the node is what the user means.
PatternOpKind KindOf(llvm::StringRef op) {
  return llvm::StringSwitch<PatternOpKind>(op)
      .Cases("Conv2D", "Conv3D", "DepthwiseConv2dNative", PatternOpKind::kConvolution)
      .Cases("Conv2DBackpropInput", "Conv3DBackpropInputV2", PatternOpKind::kConvolution)
      .Cases("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3",
             PatternOpKind::kMatrixProduct)
      .Cases("Einsum", "SparseMatMul", PatternOpKind::kMatrixProduct)
      .Cases("Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid", PatternOpKind::kActivation)
      .Cases("Selu", "Softplus", "Softsign", "Softmax", PatternOpKind::kActivation)
      .Default(PatternOpKind::kNone);
}

// The distance for a node that a pattern does not have: 1 if the values pass through it; too much
// for a pattern to go on if another layer begins with it.
int PassCost(const Node& node) {
  PatternOpKind kind = KindOf(node.op());
  if (kind == PatternOpKind::kConvolution || kind == PatternOpKind::kMatrixProduct)
    return kFoundOps + 1;
  return llvm::StringSwitch<int>(node.op())
      .Cases("Identity", "RefIdentity", "IdentityN", "Snapshot", "StopGradient", 1)
      .Cases("PreventGradient", "CheckNumerics", "DeepCopy", "EnsureShape", "Print", 1)
      .Cases("Reshape", "Squeeze", "ExpandDims", "Transpose", "Cast", "Bitcast", 1)
      .Cases("DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", "Enter", "Exit", 1)
      .Cases("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4", 1)
      .Cases("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", 1)
      .Default(2);
}

std::string NodeText(const Node& node) { return Sentence("'{0}' ({1})", node.name(), node.op()); }

std::string ListText(llvm::ArrayRef<std::string> words, const char* last) {
  if (words.size() < 2) return words.empty() ? "" : words[0];
  return llvm::join(words.drop_back(), ", ") + " " + last + " " + words.back();
}

std::string NodesText(llvm::ArrayRef<Node> nodes) {
  std::vector<std::string> names;
  for (const Node& node : nodes) names.push_back(NodeText(node));
  return ListText(names, "and");
}

std::string OpsText(const Step& step) {
  switch (step.kind) {
    case Step::kConstant:
      return "a constant";
    case Step::kNumber:
      return "the constant " + NumberText(step.number);
    case Step::kAny:
      return "a tensor";
    case Step::kOps:
      return ListText(step.ops, "or");
  }
  return "";
}

class Matcher {
 public:
  explicit Matcher(const OpPattern& pattern)
      : steps_(pattern.steps), has_one_op_(CountOps(0) == 1) {}

  std::optional<PatternMatch> Run(const Node& node) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (Fits(i, node) || AlmostFits(i, node))
        Climb(static_cast<int>(i), node, Links(steps_.size()));
    }
    return std::move(best_);
  }

 private:
  // Nodes that are passed on the way from a reader to a producer.
  using Way = std::vector<Node>;

  // The node of a step that lies between the root and the node that the match has to contain.
  struct Link {
    Node node;
    int input;    // of the parent's node
    Way between;  // from `node` to the parent's node
  };
  using Links = std::vector<std::optional<Link>>;  // by step

  // A tensor that has a name in the pattern, and the node that reads it.
  struct Named {
    Port port;
    Node reader;
  };

  struct Attempt {
    std::vector<Node> nodes;  // by step
    std::map<std::string, Named> names;
    std::vector<PatternGap> gaps;
    int distance = 0;

    void Add(int cost, PatternGap gap) {
      distance += cost;
      gaps.push_back(std::move(gap));
    }
  };

  bool Fits(size_t step, const Node& node) const {
    return steps_[step].kind == Step::kOps && llvm::is_contained(steps_[step].ops, node.op());
  }

  // True if the node has an op of the same kind. A pattern with one activation means only that one.
  bool AlmostFits(size_t step, const Node& node) const {
    PatternOpKind kind = KindOf(node.op());
    const auto& ops = steps_[step].ops;
    return kind != PatternOpKind::kNone && !Fits(step, node) && !has_one_op_ &&
           (kind != PatternOpKind::kActivation || ops.size() > 1) &&
           llvm::any_of(ops, [&](const std::string& op) { return KindOf(op) == kind; });
  }

  bool FitsAsReader(int step, const Node& reader, uint32_t slot) const {
    const Step& parent = steps_[steps_[step].parent];
    if (!Fits(steps_[step].parent, reader) && !AlmostFits(steps_[step].parent, reader))
      return false;
    return IsCommutative(reader) || (slot < parent.inputs.size() && parent.inputs[slot] == step);
  }

  // Finds the nodes of the steps from `step`, whose node is `node`, to the root, through other
  // nodes if need be, and tries each such way.
  void Climb(int step, const Node& node, const Links& links) {
    if (++visited_ > kMostVisited) return;
    if (steps_[step].parent < 0) return Try(step, node, links);
    struct Open {
      Node at;
      Way between;
      int cost;
    };
    std::vector<Open> open = {{node, {}, 0}};
    std::optional<size_t>
        nearest;  // number of nodes between `node` and its nearest reader that fits
    for (size_t i = 0; i < open.size(); ++i) {
      const Open now = open[i];
      if (nearest && now.between.size() > *nearest) break;
      int readers = 0;
      for (const Use& use : now.at.uses()) {
        Node reader = node.graph().node(use.node);
        if (static_cast<int>(use.slot) >= reader.num_inputs()) continue;
        if (++readers > kMostReaders) break;
        if (FitsAsReader(step, reader, use.slot)) {
          if (Fits(steps_[step].parent, reader)) nearest = now.between.size();
          Links more = links;
          more[step] = Link{node, static_cast<int>(use.slot), now.between};
          Climb(steps_[step].parent, reader, more);
          continue;
        }
        int cost = now.cost + PassCost(reader);
        // A further node with this step's op would be the one that the pattern means.
        if (now.between.size() >= kMostBetween || cost > kFoundOps || Fits(step, reader)) continue;
        Open next = {reader, now.between, cost};
        next.between.push_back(reader);
        open.push_back(std::move(next));
      }
    }
    if (!nearest) Try(step, node, links);
  }

  // Matches the steps below `top`, and keeps the attempt if it is the best one.
  void Try(int top, const Node& node, const Links& links) {
    links_ = &links;
    Attempt attempt;
    attempt.nodes.resize(steps_.size());
    Take(top, node, &attempt);
    if (top != 0) {
      int missing = CountOps(0) - CountOps(top);
      attempt.Add(kMissing + kMissingBelow * (missing - 1), NoReader(top, node));
    }
    if (!steps_[top].name.empty()) attempt.names[steps_[top].name] = {{node.id(), 0}, node};
    MatchInputs(top, node, &attempt);
    if (best_ && best_->distance <= attempt.distance) return;
    best_.emplace();
    for (size_t i = steps_.size(); i-- > 0;) {
      const Node& found = attempt.nodes[i];
      if (found && !llvm::is_contained(best_->nodes, found)) best_->nodes.push_back(found);
    }
    best_->gaps = std::move(attempt.gaps);
    best_->distance = attempt.distance;
  }

  // Makes `node` the node of the step.
  void Take(int step, const Node& node, Attempt* attempt) const {
    attempt->nodes[step] = node;
    if (Fits(step, node)) return;
    std::string wanted = OpsText(steps_[step]);
    attempt->Add(kOtherOp, {Sentence("{0} was expected, not {1}", wanted, NodeText(node)),
                            Sentence("use {0} instead of '{1}'", wanted, node.name()),
                            {}});
  }

  // The number of steps with ops from `step` on down.
  int CountOps(int step) const {
    int count = steps_[step].kind == Step::kOps;
    for (int input : steps_[step].inputs) count += CountOps(input);
    return count;
  }

  // The input of the parent's node that the step is, if their order matters.
  int SlotOf(int step) const {
    llvm::ArrayRef<int> inputs = steps_[steps_[step].parent].inputs;
    return static_cast<int>(llvm::find(inputs, step) - inputs.begin());
  }

  PatternGap NoReader(int step, const Node& node) const {
    const Step& parent = steps_[steps_[step].parent];
    std::vector<std::string> readers;
    for (const Use& use : node.uses()) {
      Node reader = node.graph().node(use.node);
      std::string text = NodeText(reader);
      bool is_data = static_cast<int>(use.slot) < reader.num_inputs();
      if (is_data && !llvm::is_contained(readers, text)) readers.push_back(std::move(text));
    }
    for (const Use& use : node.uses()) {
      Node reader = node.graph().node(use.node);
      bool is_data = static_cast<int>(use.slot) < reader.num_inputs();
      if (is_data && Fits(steps_[step].parent, reader))
        return {Sentence("{0} reads '{1}' as its input {2}, input {3} was expected",
                         NodeText(reader), node.name(), use.slot, SlotOf(step)),
                Sentence("change the order of the inputs of '{0}'", reader.name()),
                {}};
    }
    constexpr size_t kShown = 3;
    size_t more = readers.size() > kShown ? readers.size() - kShown : 0;
    if (more > 0) {
      readers.resize(kShown);
      readers.push_back(llvm::formatv("{0} more", more).str());
    }
    PatternGap gap;
    gap.reason = Sentence("no {0} reads {1}, {2}", OpsText(parent), NodeText(node),
                          readers.empty() ? std::string("which has no reader")
                                          : "which is read by " + ListText(readers, "and"));
    gap.remedy = Sentence("put {0} directly after '{1}'", OpsText(parent), node.name());
    return gap;
  }

  void MatchInputs(int step, const Node& node, Attempt* attempt) {
    llvm::ArrayRef<int> inputs = steps_[step].inputs;
    if (inputs.empty()) return;
    if (IsCommutative(node)) {
      *attempt = MatchInAnyOrder(inputs, node, /*taken=*/0, *attempt);
      return;
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      MatchInput(inputs[i], node, static_cast<int>(i), attempt);
  }

  // Returns `attempt` with the steps `inputs` matched to inputs of the node that are not in the
  // mask `taken`, in the order that comes closest.
  Attempt MatchInAnyOrder(llvm::ArrayRef<int> inputs, const Node& node, unsigned taken,
                          const Attempt& attempt) {
    if (inputs.empty()) return attempt;
    std::optional<Attempt> best;
    for (int slot = 0; slot < std::min(node.num_inputs(), kMostInputs); ++slot) {
      const std::optional<Link>& link = (*links_)[inputs[0]];
      if ((taken >> slot & 1) != 0 || (link && link->input != slot)) continue;
      Attempt next = attempt;
      MatchInput(inputs[0], node, slot, &next);
      if (best && best->distance <= next.distance) continue;
      next = MatchInAnyOrder(inputs.drop_front(), node, taken | 1u << slot, next);
      if (!best || next.distance < best->distance) best = std::move(next);
    }
    if (best) return std::move(*best);
    Attempt without = attempt;
    without.Add(kMissing, {Sentence("{0} has too few inputs", NodeText(node)), "", {}});
    return without;
  }

  void MatchInput(int step, const Node& reader, int slot, Attempt* attempt) {
    const Step& wanted = steps_[step];
    Node input = slot < reader.num_inputs() ? reader.input_node(slot) : Node();
    if (!input) {
      attempt->Add(kMissing, {Sentence("{0} has no input {1}", NodeText(reader), slot), "", {}});
      return;
    }
    Port port = reader.input(slot);
    if (const std::optional<Link>& link = (*links_)[step]) {
      if (!link->between.empty()) {
        AddBetween(link->node, reader, link->between, attempt);
        port = {link->node.id(), 0};
      }
      return Enter(step, port, reader, link->node, attempt);
    }
    if (wanted.kind == Step::kConstant) return MatchConstant(wanted, input, attempt);
    if (wanted.kind == Step::kNumber) return MatchNumber(wanted, input, attempt);
    if (wanted.kind == Step::kAny || Fits(step, input) || AlmostFits(step, input))
      return Enter(step, port, reader, input, attempt);
    auto is_wanted = [&](const Node& node) { return Fits(step, node); };
    if (std::optional<Way> way = FindBelow(input, is_wanted)) {
      Node found = way->front();
      AddBetween(found, reader, llvm::ArrayRef(*way).drop_front(), attempt);
      return Enter(step, {found.id(), 0}, reader, found, attempt);
    }
    PatternGap gap;
    gap.reason = Sentence("input {0} of {1} is {2}, {3} was expected", slot, NodeText(reader),
                          NodeText(input), OpsText(wanted));
    gap.remedy = Sentence("let '{0}' read {1} there", reader.name(), OpsText(wanted));
    attempt->Add(kMissing + kMissingBelow * (CountOps(step) - 1), std::move(gap));
  }

  // Takes `node` for the step, and matches its inputs. `port`: the tensor that `reader` reads.
  void Enter(int step, Port port, const Node& reader, const Node& node, Attempt* attempt) {
    const Step& wanted = steps_[step];
    if (wanted.kind == Step::kOps) Take(step, node, attempt);
    if (!wanted.name.empty()) {
      auto [named, is_new] = attempt->names.try_emplace(wanted.name, Named{port, reader});
      if (!is_new && named->second.port != port)
        AddOtherTensor(named->second, port, reader, attempt);
    }
    MatchInputs(step, node, attempt);
  }

  // Returns the way from the first node that `is_wanted`, which comes first, to `start`, the node
  // that it ends with.
  static std::optional<Way> FindBelow(const Node& start,
                                      llvm::function_ref<bool(const Node&)> is_wanted) {
    struct Open {
      Way way;  // from `start` down
      int cost;
    };
    std::vector<Open> open = {{{start}, PassCost(start)}};
    if (open.front().cost > kFoundOps) return std::nullopt;
    for (size_t i = 0; i < open.size(); ++i) {
      const Open now = open[i];
      const Node& at = now.way.back();
      int inputs = PassCost(at) == 1 ? std::min(1, at.num_inputs()) : at.num_inputs();
      for (int k = 0; k < std::min(inputs, kMostInputs); ++k) {
        Node input = at.input_node(k);
        if (!input) continue;
        Open next = {now.way, now.cost + PassCost(input)};
        next.way.push_back(input);
        if (is_wanted(input)) return Way(next.way.rbegin(), next.way.rend());
        if (now.way.size() < kMostBetween && next.cost <= kFoundOps) open.push_back(next);
      }
    }
    return std::nullopt;
  }

  static void AddBetween(const Node& producer, const Node& reader, llvm::ArrayRef<Node> between,
                         Attempt* attempt) {
    PatternGap gap;
    int cost = 0;
    for (const Node& node : between) cost += PassCost(node);
    gap.between = between.vec();
    gap.changes_values = cost > static_cast<int>(between.size());
    gap.reason = Sentence("{0} {1} between {2} and {3}", NodesText(between),
                          between.size() == 1 ? "is" : "are", NodeText(producer), NodeText(reader));
    gap.remedy = Sentence("let '{0}' read '{1}' directly, with {2} before or after the two",
                          reader.name(), producer.name(), NodesText(between));
    attempt->Add(cost, std::move(gap));
  }

  // `reader` reads `port`, and named.reader reads named.port, which has the same name in the
  // pattern.
  static void AddOtherTensor(const Named& named, Port port, const Node& reader, Attempt* attempt) {
    Node one = reader.graph().node(named.port.node), other = reader.graph().node(port.node);
    auto is = [](const Node& wanted) {
      return [wanted](const Node& node) { return node == wanted; };
    };
    // The inputs of one node are any two tensors, unless the pattern goes on from them.
    bool is_one_reader = reader == named.reader;
    if (auto way = FindBelow(other, is(one)); way && one != other && !is_one_reader)
      return AddBetween(one, reader, llvm::ArrayRef(*way).drop_front(), attempt);
    if (auto way = FindBelow(one, is(other)); way && one != other && !is_one_reader)
      return AddBetween(other, named.reader, llvm::ArrayRef(*way).drop_front(), attempt);
    PatternGap gap;
    gap.reason = Sentence("{0} reads '{1}', and {2} reads '{3}': one tensor was expected",
                          NodeText(reader), OutputName(other.name(), port.index),
                          NodeText(named.reader), OutputName(one.name(), named.port.index));
    gap.remedy =
        Sentence("let '{0}' and '{1}' read one tensor", reader.name(), named.reader.name());
    attempt->Add(is_one_reader ? kMissing : kOtherTensor, std::move(gap));
  }

  // True if the node has one value as long as variables keep theirs.
  static bool ComesFromVariables(const Node& node) {
    std::vector<Node> open = {node};
    for (size_t i = 0; i < open.size(); ++i) {
      const Node at = open[i];
      if (at.num_inputs() == 0 && !IsConstant(at) && !at.op().starts_with("Var")) return false;
      for (int k = 0; k < at.num_inputs(); ++k) {
        Node input = at.input_node(k);
        if (!input || open.size() > kMostComputing) return false;
        if (!llvm::is_contained(open, input)) open.push_back(input);
      }
    }
    return true;
  }

  static void MatchConstant(const Step& wanted, const Node& input, Attempt* attempt,
                            int cost = kWrongConstant) {
    if (IsConstant(input)) return;
    // A tensor that is computed from others is hardly meant to be a constant.
    PatternGap gap;
    gap.reason = Sentence("{0} is not {1}", NodeText(input), OpsText(wanted));
    if (ComesFromVariables(input)) {
      gap.remedy = Sentence("make '{0}' a constant, as --freeze does with variables", input.name());
      cost = std::min(cost, kVariable);
    } else if (input.num_inputs() == 0) {
      gap.remedy = Sentence("make '{0}' a constant instead of an input", input.name());
    } else {
      gap.remedy =
          Sentence("compute '{0}' from constants only, so that it is folded", input.name());
      cost = kMissing;
    }
    attempt->Add(cost, std::move(gap));
  }

  void MatchNumber(const Step& wanted, const Node& input, Attempt* attempt) const {
    Node node = input.op() == "Cast" && input.num_inputs() == 1 ? input.input_node(0) : input;
    // Most products are with another number, or with a tensor: these do not come near.
    if (!node || !IsConstant(node)) return MatchConstant(wanted, input, attempt, kMissing);
    auto literal = Literal::FromConst(node);
    std::string is = "not one number";
    if (!literal) {
      llvm::consumeError(literal.takeError());  // the reader reports broken constants
    } else if (literal->num_elements() > 0 && literal->dtype() != proto::DT_STRING) {
      double value = literal->AsDouble(0);
      constexpr double kRounding = 5e-3;  // of a bfloat16
      if (literal->AllEqualTo(value)) {
        if (std::abs(value - wanted.number) <= kRounding * std::abs(wanted.number)) return;
        is = NumberText(value, 6);
      }
    }
    attempt->Add(
        has_one_op_ ? kMissing : kWrongConstant,
        {Sentence("'{0}' is {1}, {2} was expected", node.name(), is, NumberText(wanted.number)),
         Sentence("use {0} in '{1}'", NumberText(wanted.number), node.name()),
         {}});
  }

  const std::vector<Step>& steps_;
  const bool has_one_op_;
  const Links* links_ = nullptr;  // of the attempt under way
  std::optional<PatternMatch> best_;
  int visited_ = 0;
};

}  // namespace

std::optional<PatternMatch> ClosestMatch(const OpPattern& pattern, const Node& node) {
  return Matcher(pattern).Run(node);
}

}  // namespace grapnel
