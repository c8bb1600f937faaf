// Fuses elementwise steps into one that runs them in a single pass.
//
//   Before:  x -> AddV2(3) -> Relu6 -> Mul(1/6) -> Mul(x) -> y        After:  x -> (all four) -> y
//
// Refuses: dtypes other than float and double; comparisons, and ops that reject some values of an
// operand; an AddN of other than two inputs; a BiasAdd with channels first; an intermediate value
// that anything but the fused steps reads.
#include <algorithm>

#include "kernels/cpu/fused/elementwise_steps.h"
#include "lib/exec/fusion.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostSteps = 32;

// Returns the loop of a step, without its operands; nullopt if the step cannot be fused.
std::optional<ElementwiseStep> LoopOf(const FusionView& view, int step) {
  if (view.output_types(step).size() != 1) return std::nullopt;
  DataType type = view.output_types(step)[0];
  if (type != proto::DT_FLOAT && type != proto::DT_DOUBLE) return std::nullopt;
  Node node = view.node(step);
  llvm::StringRef op = node.op();
  int inputs = view.num_inputs(step);
  ElementwiseStep loop;
  if (op == "LeakyRelu" && inputs == 1) {
    loop.leaky_relu = LeakyReluLoopFor(type);
    loop.alpha = node.GetFloat("alpha", 0.2f);
    loop.cost = 0.3;
    return loop;
  }
  if (const UnaryLoopDef* unary = inputs == 1 ? FindUnaryLoop(op) : nullptr) {
    loop.unary = unary->loop_for(type);
    loop.cost = unary->cost;
    return loop.unary ? std::optional(std::move(loop)) : std::nullopt;
  }
  if (op == "BiasAdd" && node.GetString("data_format", "NHWC") == "NHWC") {
    loop.shapes = ElementwiseStep::Shapes::kBias;
    op = "AddV2";
  } else if (op == "AddN") {
    loop.shapes = ElementwiseStep::Shapes::kEqual;
    op = "AddV2";
  }
  const BinaryOpDef* binary = inputs == 2 ? FindBinaryOp(op) : nullptr;
  if (!binary) return std::nullopt;
  BinaryOp found = binary->op_for(type);
  // Ops that reject some values of an operand, and comparisons, are not fused.
  if (!found.loop || node.GetType("T") != type) return std::nullopt;
  loop.binary = found.loop;
  loop.cost = found.cost;
  return loop;
}

// Returns `last` and the steps before it that can be fused into it, up to kMostSteps in all: those
// whose results only steps already found read, directly or through each other.
std::vector<int> Gather(const FusionView& view, int last) {
  std::vector<int> found = {last};
  DataType type = view.output_types(last)[0];
  auto is_found = [&](int step) { return llvm::is_contained(found, step); };
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t k = 0; k < found.size() && found.size() < kMostSteps; ++k) {
      for (int i = 0; i < view.num_inputs(found[k]); ++i) {
        int maker = view.Maker(found[k], i);
        if (maker < 0 || is_found(maker) || !view.IsHidden(maker)) continue;
        if (!llvm::all_of(view.Readers(maker), is_found)) continue;
        if (!LoopOf(view, maker) || view.output_types(maker)[0] != type) continue;
        found.push_back(maker);
        grows = true;
      }
    }
  }
  llvm::sort(found);
  return found;
}

// Fills in the operands of the steps: results of other steps, or inputs, which are added to the
// fusion.
void FindOperands(const FusionView& view, StepFusion& fusion, std::vector<ElementwiseStep>& loops) {
  llvm::SmallVector<int, 8> values;  // of the inputs
  for (size_t k = 0; k < fusion.steps.size(); ++k) {
    int step = fusion.steps[k];
    for (int i = 0; i < view.num_inputs(step); ++i) {
      ElementwiseStep::Operand operand;
      auto member = llvm::find(fusion.steps, view.Maker(step, i));
      operand.is_step = member != fusion.steps.end();
      if (operand.is_step) {
        operand.index = static_cast<int>(member - fusion.steps.begin());
      } else {
        auto known = llvm::find(values, view.Value(step, i));
        operand.index = static_cast<int>(known - values.begin());
        if (known == values.end()) {
          values.push_back(view.Value(step, i));
          fusion.inputs.push_back({step, i, Tensor()});
        }
      }
      loops[k].operands.push_back(operand);
    }
  }
  llvm::SmallVector<std::pair<bool, int>, 16> read;
  for (ElementwiseStep& loop : llvm::reverse(loops)) {
    for (ElementwiseStep::Operand& operand : llvm::reverse(loop.operands)) {
      std::pair<bool, int> what(operand.is_step, operand.index);
      operand.is_last = !llvm::is_contained(read, what);
      read.push_back(what);
    }
  }
}

std::optional<StepFusion> FindElementwise(const FusionView& view, int last) {
  if (!LoopOf(view, last)) return std::nullopt;
  StepFusion fusion;
  fusion.steps = Gather(view, last);
  if (fusion.steps.size() < 2) return std::nullopt;
  std::vector<ElementwiseStep> loops;
  for (int step : fusion.steps) loops.push_back(std::move(*LoopOf(view, step)));
  FindOperands(view, fusion, loops);
  DataType type = view.output_types(last)[0];
  auto shared = std::make_shared<std::vector<ElementwiseStep>>(std::move(loops));
  fusion.make = [shared, type](llvm::MutableArrayRef<FusedStep> steps) -> Expected<KernelFn> {
    for (size_t i = 0; i < steps.size(); ++i) {
      (*shared)[i].kernel = std::move(steps[i].kernel);
      (*shared)[i].name = steps[i].name;
    }
    return ElementwiseKernel(std::move(*shared), type);
  };
  return fusion;
}

GRAPNEL_CPU_FUSION(2, FindElementwise);

}  // namespace
}  // namespace grapnel
