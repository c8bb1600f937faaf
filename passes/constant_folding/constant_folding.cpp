// Computes what depends on no input, and simplifies what constants and known shapes decide.
//
//   Before:  Reshape(x:[2,3], Shape(x)) * (1 + 1) -> y
//   After:   x * 2 -> y
//
// A round writes known shapes as constants, then values that need no computing, computes what has
// only constant inputs, drops what nobody reads, and simplifies the rest node by node; rounds go on
// while anything changes, and look only at what changed and what is near it. Each group of rules is
// a file of this folder and says there what it refuses; the order of rules here is Grappler's,
// because the first that fires decides the names that are left.
#include "lib/pass/pass.h"
#include "llvm/ADT/BitVector.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

struct RuleEntry {
  RuleFn apply;
  std::initializer_list<const char*> ops;
};

const RuleEntry kShapeRules[] = {
    {MaterializeShape, {"Shape", "Size", "Rank"}},
    {MaterializeShapeN, {"ShapeN"}},
    {MaterializeTensorArraySize, {"TensorArraySizeV3"}},
};

const RuleEntry kValueRules[] = {
    {MaterializeBroadcastGradientArgs, {"BroadcastGradientArgs"}},
    {MaterializeReductionIndices, {"Sum", "Prod", "Min", "Max", "Mean", "Any", "All"}},
    {MaterializeFill, {"Fill", "ZerosLike", "OnesLike"}},
    {MaterializeShapeMath, {"Pack", "ConcatV2", "Slice", "StridedSlice", "IdentityN"}},
};

const RuleEntry kSimplifyRules[] = {
    {RemoveSplit, {"Split", "SplitV"}},
    {RemoveTranspose, {"Transpose", "Shuffle"}},
    {RemoveRandomShuffle, {"RandomShuffle"}},
    {RemoveReverse, {"ReverseV2"}},
    {RemoveSlice, {"Slice"}},
    {RemoveStridedSlice, {"StridedSlice"}},
    {RemoveTile, {"Tile"}},
    {RemovePad, {"Pad", "PadV2"}},
    {RemoveSqueeze, {"Squeeze"}},
    {SimplifyPack, {"Pack"}},
    {MoveConstantsPastEnter, {"Enter", "RefEnter"}},
    {SimplifySwitch, {"Switch"}},
    {SimplifyReduction, {"Sum", "Prod", "Min", "Max", "Mean", "Any", "All"}},
    {RemoveReshape, {"Reshape"}},
    {SimplifyNeutralElements,
     {"Add", "AddV2", "BiasAdd", "BiasAddV1", "LogicalOr", "Sub", "Mul", "MulNoNan", "LogicalAnd",
      "Div", "RealDiv", "TruncateDiv", "Xdivy"}},
    {SimplifyAbsorbing,
     {"LogicalOr", "Mul", "MulNoNan", "LogicalAnd", "MatMul", "SparseMatMul", "BatchMatMul",
      "BatchMatMulV2", "BatchMatMulV3", "Div", "RealDiv", "TruncateDiv", "Xdivy"}},
    {ReduceDivision, {"Div", "RealDiv", "Xdivy"}},
    {PushConstantsDown, {"Add", "AddV2", "Sub", "Mul", "Div"}},
    {PushMulIntoConv, {"Mul", "MulNoNan"}},
    {ForwardIdentityN, {"IdentityN"}},
    {FoldPartOfAddN, {"AddN", "AccumulateNV2"}},
    {MergeConcats, {"ConcatV2"}},
    {FoldPartOfConcat, {"Concat", "ConcatV2"}},
    {PushConstantsDownBiasAdd, {"Add", "AddV2", "BiasAdd", "BiasAddV1"}},
    {SimplifyCase, {"Case"}},
    {SimplifySelect, {"Select", "SelectV2"}},
    {RemoveVariableUpdate,
     {"AssignAddVariableOp",
      "AssignSubVariableOp",
      "AssignAdd",
      "AssignSub",
      "ScatterAdd",
      "ScatterSub",
      "ScatterMul",
      "ScatterDiv",
      "ScatterNdAdd",
      "ScatterNdSub",
      "ScatterNdMul",
      "ScatterNdDiv",
      "ResourceScatterAdd",
      "ResourceScatterSub",
      "ResourceScatterMul",
      "ResourceScatterDiv",
      "ResourceScatterNdAdd",
      "ResourceScatterNdSub",
      "ResourceScatterNdMul",
      "ResourceScatterNdDiv"}},
};

// Rules by op.
class RuleTable {
 public:
  RuleTable(StringTable& strings, llvm::ArrayRef<RuleEntry> entries) {
    for (const RuleEntry& entry : entries) {
      for (const char* op : entry.ops) rules_[strings.Intern(op)].push_back(entry.apply);
    }
  }
  llvm::ArrayRef<RuleFn> Of(const Node& node) const {
    auto it = rules_.find(node.op_id());
    return it == rules_.end() ? llvm::ArrayRef<RuleFn>() : llvm::ArrayRef<RuleFn>(it->second);
  }

 private:
  llvm::DenseMap<StringId, llvm::SmallVector<RuleFn, 4>> rules_;
};

// The rounds over one body. Nodes are looked at in order of id: the file's order, then as made.
class Rounds {
 public:
  explicit Rounds(Editor& edit)
      : edit_(edit),
        graph_(edit.graph()),
        fold_(edit),
        shape_rules_(graph_.module().strings, kShapeRules),
        value_rules_(graph_.module().strings, kValueRules),
        simplify_rules_(graph_.module().strings, kSimplifyRules) {}

  void Run() {
    edit_.TakeTouched();
    todo_.resize(graph_.end_id(), true);
    while (todo_.any() && !fold_.out_of_rewrites) {
      next_.clear();
      next_.resize(graph_.end_id());
      spread_ = next_;
      Apply(shape_rules_);
      Apply(value_rules_);
      Fold();
      DropUnread();
      Apply(simplify_rules_);
      std::swap(todo_, next_);
    }
  }

 private:
  // What is made on the way waits for the next phase, as in Grappler.
  template <typename Visit>
  void ForEachTodo(Visit visit) {
    int end = static_cast<int>(graph_.end_id());
    for (int i = todo_.find_first(); i >= 0 && i < end && !fold_.out_of_rewrites;
         i = todo_.find_next(i)) {
      if (graph_.IsAlive(i)) visit(graph_.node(i));
    }
  }

  void Apply(const RuleTable& table) {
    ForEachTodo([&](Node node) {
      for (RuleFn rule : table.Of(node)) {
        if (fold_.too_large.contains(node.id()) || fold_.HasTpuAttribute(node)) break;
        if (!rule(fold_, node)) continue;
        Spread();
        break;
      }
    });
  }

  void Fold() {
    std::vector<NodeId> queue;
    ForEachTodo([&](Node node) {
      if (IsFoldable(fold_, node)) queue.push_back(node.id());
    });
    for (size_t i = 0; i < queue.size() && !fold_.out_of_rewrites; ++i) {
      if (!graph_.IsAlive(queue[i])) continue;
      Node node = graph_.node(queue[i]);
      if (fold_.IsConst(node)) continue;
      llvm::SmallVector<NodeId, 8> readers;
      for (const Use& use : node.uses()) readers.push_back(use.node);
      llvm::sort(readers);
      if (!FoldNode(fold_, node)) continue;
      Spread();
      for (NodeId reader : readers) {
        if (graph_.IsAlive(reader) && IsFoldable(fold_, graph_.node(reader)))
          queue.push_back(reader);
      }
    }
  }

  bool IsUnread(const Node& node) {
    bool stays = edit_.IsPreserved(node) ||
                 (edit_.boundary().keep_stateful && fold_.kinds.Is(node, kStatefulOp));
    return node.uses().empty() && !stays;
  }

  // Without fetches any node may be asked for. What only they read goes in the next round, as in
  // Grappler: until then it counts as a reader.
  void DropUnread() {
    if (!fold_.has_fetches) return;
    std::vector<NodeId> unread;
    ForEachTodo([&](Node node) {
      if (IsUnread(node)) unread.push_back(node.id());
    });
    for (NodeId id : unread) {
      Rewriting rewriting(fold_, "drop_unread", graph_.node(id));
      if (!rewriting) return;
      edit_.RemoveNode(graph_.node(id));
    }
    Spread();
  }

  // Marks what a rewrite touched and what looks at it: rules look at inputs of inputs, and at
  // readers.
  void Spread() {
    todo_.resize(graph_.end_id());
    next_.resize(graph_.end_id());
    spread_.resize(graph_.end_id());
    for (NodeId id : edit_.TakeTouched()) {
      if (!graph_.IsAlive(id) || spread_.test(id)) continue;
      spread_.set(id);
      Node node = graph_.node(id);
      Mark(id);
      for (Port port : node.inputs()) Mark(port.node);
      for (const Use& use : node.uses()) {
        Mark(use.node);
        for (const Use& further : graph_.node(use.node).uses()) Mark(further.node);
      }
    }
  }
  void Mark(NodeId id) {
    if (id == kNoNode) return;
    todo_.set(id);
    next_.set(id);
  }

  Editor& edit_;
  Graph& graph_;
  Folding fold_;
  RuleTable shape_rules_, value_rules_, simplify_rules_;
  llvm::BitVector todo_, next_;  // what to look at in this round, and in the next
  llvm::BitVector spread_;       // of what the neighbours have been marked in this round
};

class ConstantFolding : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    Rounds(edit).Run();
    return Error::success();
  }
};

}  // namespace

GRAPNEL_PASS(
    ConstantFolding,
    (PassInfo{"constant_folding", "constfold", 7, true, false, "constant_folding",
              "computes what does not depend on inputs, and simplifies what constants and known "
              "shapes decide",
              "state and effects, strings, results over 100 KiB that outgrow their inputs, "
              "floating point times 0"}),
    {"absorbing_element", "integers times 0, true or x: the result whatever the other side"},
    {"broadcast_gradient_args", "axes of a broadcast's gradient as constants"},
    {"constant_past_enter", "a loop's body reads a constant itself instead of an Enter"},
    {"constant_push_down", "moves constants of sums and products to where they meet"},
    {"drop_unread", "removes what nobody reads"},
    {"fold", "computes nodes of which all inputs are constant"},
    {"fold_merge", "what a Merge gives when a constant is first"},
    {"fold_switch", "the live output of a Switch on a constant"},
    {"forward_identity_n", "readers of an IdentityN read its constants"},
    {"materialize_fill", "Fill, ZerosLike and OnesLike of known shape as one number"},
    {"materialize_shape", "Shape, ShapeN, Size, Rank and array sizes that are known as constants"},
    {"materialize_value", "integers that shapes are put together from as constants"},
    {"merge_concat", "takes a concatenation into the one that reads it"},
    {"mul_conv_push_down", "multiplies the weights of a convolution instead of its result"},
    {"neutral_element", "x + 0, x * 1 and the like; 0 - x and 1 / x"},
    {"partial_add_n", "computes the constant inputs of a sum of several"},
    {"partial_concat", "computes neighbouring constants of a concatenation"},
    {"reciprocal_of_constant", "divides by a constant by multiplying"},
    {"reduction_indices", "axes of a full reduction as a constant"},
    {"remove_pad", "padding by nothing"}, {"remove_random_shuffle", "shuffling one row"},
    {"remove_reshape", "reshaping to the same shape"},
    {"remove_reverse", "reversing dimensions of size 1"}, {"remove_slice", "slices that take all"},
    {"remove_split", "splitting in one"},
    {"remove_squeeze", "squeezing where no dimension has size 1"}, {"remove_tile", "tiling once"},
    {"remove_transpose", "transposing dimensions of size 1 only"},
    {"simplify_case", "a Case of known index becomes a call"},
    {"simplify_pack", "a Pack of one tensor becomes ExpandDims"},
    {"simplify_reduction", "reducing no dimension, or dimensions of size 1"},
    {"simplify_select", "a Select on a condition that is the same everywhere"},
    {"simplify_switch", "a Switch on its own predicate"},
    {"variable_update", "updates of variables by nothing"});

}  // namespace grapnel::constant_folding
