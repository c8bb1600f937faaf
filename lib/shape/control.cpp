// Shape functions of control flow, v1 and functional, and of function calls.
#include <algorithm>

#include "lib/shape/functions.h"

namespace grapnel {
namespace {

void ForwardShape(ShapeContext& c) { c.OutFacts(0, c.facts(0)); }

// Every output has the facts of the data input; at run time, one output gets the data.
void SwitchShape(ShapeContext& c) {
  c.WithRank(1, 0);
  for (int i = 0; i < c.num_outputs(); ++i) c.OutFacts(i, c.facts(0));
}

// The output is one of the inputs. Ignores the back edge of a loop while nothing is known about it:
// the nodes of the loop are inferred again later.
void MergeShape(ShapeContext& c) {
  c.Out(1, Shape::Scalar());
  bool first = true;
  for (const PortFacts* input : c.inputs) {
    if (!input || c.num_outputs() == 0) continue;
    c.outputs[0] = first ? input->Copy() : JoinFacts(c.outputs[0], *input);
    first = false;
  }
}

void RefSelectShape(ShapeContext& c) {
  c.OutFacts(0, c.facts(1));
  for (int i = 2; i < c.num_inputs(); ++i) c.outputs[0] = JoinFacts(c.outputs[0], c.facts(i));
}

// Merges the shapes of the attribute `output_shapes`, if present, into the outputs.
void MergeOutputShapes(ShapeContext& c) {
  std::optional<AttrView> attr = c.Attr("output_shapes");
  auto shapes = attr ? attr->AsShapes() : std::nullopt;
  if (!shapes || shapes->size() != c.outputs.size()) return;
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Shape& stale = c.believes_notes ? c.outputs[i].shape : (*shapes)[i];
    c.Out(i, MergeShapes(c.outputs[i].shape, (*shapes)[i]).value_or(stale));
  }
}

using CallArgs = llvm::SmallVector<const PortFacts*, 8>;

CallArgs InputsFrom(ShapeContext& c, int first) {
  CallArgs args;
  for (int i = first; i < c.num_inputs(); ++i) args.push_back(&c.facts(i));
  return args;
}

CallArgs PointersTo(const std::vector<PortFacts>& facts) {
  CallArgs args;
  for (const PortFacts& fact : facts) args.push_back(&fact);
  return args;
}

// Infers the results of `function` for the inputs from `first` on; false if nothing is known about
// the results.
bool Call(ShapeContext& c, llvm::StringRef function, int first, std::vector<PortFacts>* results) {
  if (!c.sees_inside) return false;
  CallArgs args = InputsFrom(c, first);
  c.functions->Called(function, args);
  *results = c.functions->Infer(function, args);
  return results->size() == c.outputs.size();
}

void OutResults(ShapeContext& c, std::vector<PortFacts> results) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.outputs[i] = std::move(results[i]);
    c.OutSizes(i, Shape(c.outputs[i].shape));
  }
}

void PartitionedCallShape(ShapeContext& c) {
  std::optional<AttrView> attr = c.Attr("f");
  std::optional<llvm::StringRef> function = attr ? attr->AsFuncName() : std::nullopt;
  std::vector<PortFacts> results;
  if (function && Call(c, *function, 0, &results)) return OutResults(c, std::move(results));
  DefaultShape(c);
}

// One of several branches runs; a fact about a result is known only if all branches agree on it.
void BranchShape(ShapeContext& c) {
  if (!c.sees_inside) return MergeOutputShapes(c);
  std::vector<llvm::StringRef> branches;
  for (const char* key : {"then_branch", "else_branch", "branches"}) {
    if (std::optional<AttrView> attr = c.Attr(key)) {
      for (llvm::StringRef name : attr->FuncNames()) branches.push_back(name);
    }
  }
  bool known = !branches.empty();
  for (llvm::StringRef branch : branches) c.functions->Called(branch, InputsFrom(c, 1));
  for (size_t b = 0; known && b < branches.size(); ++b) {
    std::vector<PortFacts> results = c.functions->Infer(branches[b], InputsFrom(c, 1));
    known = results.size() == c.outputs.size();
    for (int i = 0; known && i < c.num_outputs(); ++i) {
      c.outputs[i] = b == 0 ? std::move(results[i]) : JoinFacts(c.outputs[i], results[i]);
    }
  }
  if (!known) {
    for (PortFacts& facts : c.outputs) facts = PortFacts();
  }
  MergeOutputShapes(c);
}

// The outputs have the shapes of `output_shapes`, or without it those of the inputs.
void WhileShapeFromOutside(ShapeContext& c) {
  if (std::optional<AttrView> attr = c.Attr("output_shapes")) {
    auto shapes = attr->AsShapes();
    if (shapes && !shapes->empty()) return MergeOutputShapes(c);
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, c.in(i));
}

// Makes the facts about the values that the loop carries less precise until they hold after the
// body too, and so in every iteration.
void WhileShape(ShapeContext& c) {
  if (!c.sees_inside) return WhileShapeFromOutside(c);
  std::optional<AttrView> attr = c.Attr("body");
  std::optional<llvm::StringRef> body = attr ? attr->AsFuncName() : std::nullopt;
  std::vector<PortFacts> carried;
  carried.reserve(c.num_outputs());
  for (int i = 0; i < c.num_outputs(); ++i) carried.push_back(c.facts(i).Copy());
  // If the loop's body copies one carried value to the next, an iteration of this inference may
  // widen only one of them.
  const int max_iterations = c.believes_notes ? 64 : 8;
  bool settled = false;
  for (int iteration = 0; body && iteration < max_iterations && !settled; ++iteration) {
    std::vector<PortFacts> results = c.functions->Infer(*body, PointersTo(carried));
    if (results.size() != carried.size()) break;
    settled = true;
    for (size_t i = 0; i < carried.size(); ++i) {
      PortFacts joined = JoinFacts(carried[i], results[i]);
      settled &= joined.SameAs(carried[i]);
      carried[i] = std::move(joined);
    }
  }
  if (!settled) {
    for (PortFacts& facts : carried) facts = PortFacts();
  }
  if (body) c.functions->Called(*body, PointersTo(carried));
  std::optional<AttrView> condition = c.Attr("cond");
  if (std::optional<llvm::StringRef> cond = condition ? condition->AsFuncName() : std::nullopt)
    c.functions->Called(*cond, PointersTo(carried));
  if (settled) OutResults(c, std::move(carried));
  MergeOutputShapes(c);
}

// The outputs are gradients with respect to the inputs, and have the shapes of the inputs.
void SymbolicGradientShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, c.in(i));
}

void ArrayToListShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.OutFacts(i, c.facts(i));
}

void NothingShape(ShapeContext&) {}

constexpr ShapeRule kRules[] = {
    {"Switch", SwitchShape},
    {"RefSwitch", SwitchShape},
    {"_SwitchN", SwitchShape},
    {"Merge", MergeShape},
    {"RefMerge", MergeShape},
    {"RefSelect", RefSelectShape},
    {"Enter", ForwardShape},
    {"RefEnter", ForwardShape},
    {"Exit", ForwardShape},
    {"RefExit", ForwardShape},
    {"NextIteration", ForwardShape},
    {"RefNextIteration", ForwardShape},
    {"LoopCond", ForwardShape},
    {"NoOp", NothingShape},
    {"ControlTrigger", NothingShape},
    {"Abort", NothingShape},
    {"_Retval", NothingShape},
    {"_DeviceRetval", NothingShape},
    {"PartitionedCall", PartitionedCallShape},
    {"StatefulPartitionedCall", PartitionedCallShape},
    {"TPUPartitionedCall", PartitionedCallShape},
    {"If", BranchShape},
    {"StatelessIf", BranchShape},
    {"_If", BranchShape},
    {"Case", BranchShape},
    {"StatelessCase", BranchShape},
    {"While", WhileShape},
    {"StatelessWhile", WhileShape},
    {"_While", WhileShape},
    {"SymbolicGradient", SymbolicGradientShape},
    {"_ArrayToList", ArrayToListShape},
    {"_ListToArray", ArrayToListShape},
};

}  // namespace

void CallShape(ShapeContext& c) {
  std::vector<PortFacts> results;
  if (Call(c, c.op(), 0, &results)) return OutResults(c, std::move(results));
  DefaultShape(c);
}

llvm::ArrayRef<ShapeRule> ControlShapeRules() { return kRules; }

}  // namespace grapnel
