#include "lib/exec/plan_fusion.h"

#include <algorithm>

#include "lib/exec/fusion.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

struct Finder {
  int place;
  FindFusion find;
};
std::vector<Finder>& Finders() {
  static auto* finders = new std::vector<Finder>;
  return *finders;
}

class PlanFuser : public FusionView {
 public:
  PlanFuser(ExecutionPlan& plan, const FusionFacts& facts)
      : plan_(plan),
        facts_(facts),
        readers_(plan.nodes.size()),
        is_seen_(plan.nodes.size(), false),
        is_taken_(plan.nodes.size(), false) {
    for (size_t step = 0; step < plan.nodes.size(); ++step) {
      for (Slot slot : plan.nodes[step].inputs) {
        int64_t maker = facts.maker[slot];
        if (maker < 0) continue;
        if (IsFirstOutput(slot, maker))
          readers_[maker].push_back(static_cast<int>(step));
        else
          is_seen_[maker] = true;
      }
    }
    for (Slot slot : plan.fetch_slots) {
      if (slot != kNoSlot && facts.maker[slot] >= 0) is_seen_[facts.maker[slot]] = true;
    }
  }

  int size() const override { return static_cast<int>(plan_.nodes.size()); }
  Node node(int step) const override { return plan_.nodes[step].node; }
  llvm::ArrayRef<DataType> output_types(int step) const override {
    return plan_.nodes[step].output_types;
  }
  int num_inputs(int step) const override {
    return static_cast<int>(plan_.nodes[step].inputs.size());
  }
  int Maker(int step, int i) const override {
    Slot slot = plan_.nodes[step].inputs[i];
    int64_t maker = facts_.maker[slot];
    return maker >= 0 && IsFirstOutput(slot, maker) ? static_cast<int>(maker) : -1;
  }
  int Value(int step, int i) const override {
    return static_cast<int>(plan_.nodes[step].inputs[i]);
  }
  const Tensor* Constant(int step, int i) const override {
    const Tensor& constant = plan_.slots[plan_.nodes[step].inputs[i]].constant;
    return constant ? &constant : nullptr;
  }
  bool IsFree(int step) const override {
    const PlanNode& plan = plan_.nodes[step];
    return !is_taken_[step] && !plan.hooked && !plan.puts_references && !plan.is_constant &&
           !facts_.waits[step] && plan.flow == FlowKind::kKernel;
  }
  bool IsHidden(int step) const override {
    return IsFree(step) && !is_seen_[step] && !facts_.is_waited_for[step] &&
           !readers_[step].empty();
  }
  llvm::ArrayRef<int> Readers(int step) const override { return readers_[step]; }

  // Calls each finder for each step that is still free, the last step first.
  void FindAll() {
    for (FindFusion find : FusionFinders()) {
      for (int step = size(); step-- > 0;) {
        if (!IsFree(step)) continue;
        std::optional<StepFusion> fusion = find(*this, step);
        if (!fusion) continue;
        for (int member : fusion->steps) is_taken_[member] = true;
        fusions_.push_back(std::move(*fusion));
      }
    }
  }

  // Inserts the fusions into the plan, each at the position of its last step.
  std::vector<uint32_t> Apply() {
    std::vector<bool> is_gone(plan_.nodes.size(), false);
    bool has_joined = false;
    for (StepFusion& fusion : fusions_) {
      if (!Join(fusion)) continue;
      has_joined = true;
      for (int member : llvm::ArrayRef<int>(fusion.steps).drop_back()) is_gone[member] = true;
    }
    if (!has_joined) return {};
    std::vector<uint32_t> number(plan_.nodes.size());
    std::vector<PlanNode> left;
    for (size_t step = 0; step < plan_.nodes.size(); ++step) {
      number[step] = left.size();
      if (!is_gone[step]) left.push_back(std::move(plan_.nodes[step]));
    }
    for (const StepFusion& fusion : fusions_) {
      for (int member : fusion.steps) {
        if (is_gone[member]) number[member] = number[fusion.steps.back()];
      }
    }
    plan_.nodes = std::move(left);
    DropUnread();
    return number;
  }

 private:
  bool IsFirstOutput(Slot slot, int64_t maker) const {
    return plan_.nodes[maker].first_output == slot;
  }

  // Replaces the last step of the fusion by a step that does the work of all. Returns false if the
  // fused kernel cannot be made.
  bool Join(StepFusion& fusion) {
    PlanNode joined;
    PlanNode& last = plan_.nodes[fusion.steps.back()];
    for (const StepFusion::Input& input : fusion.inputs) {
      const PlanNode& reader = plan_.nodes[input.step];
      joined.inputs.push_back(reader.inputs[input.input]);
      joined.input_types.push_back(reader.input_types[input.input]);
      bool is_kept = input.is_kept || (!input.constant && reader.Keeps(input.input));
      size_t i = joined.inputs.size() - 1;
      if (is_kept && i < 32) joined.kept_inputs |= uint32_t{1} << i;
    }
    std::vector<FusedStep> steps;
    for (int member : fusion.steps) {
      PlanNode& plan = plan_.nodes[member];
      steps.push_back({std::move(plan.kernel), plan_.Describe(plan)});
      joined.stands_for.push_back(plan.node);
    }
    auto kernel = fusion.make(steps);
    if (!kernel) {
      llvm::consumeError(kernel.takeError());
      for (size_t i = 0; i < steps.size(); ++i)
        plan_.nodes[fusion.steps[i]].kernel = std::move(steps[i].kernel);
      return false;
    }
    for (size_t i = 0; i < fusion.inputs.size(); ++i) {
      if (!fusion.inputs[i].constant) continue;
      joined.inputs[i] = plan_.slots.size();
      plan_.slots.emplace_back().constant = std::move(fusion.inputs[i].constant);
    }
    last.kernel = BoundKernel::OfPlan(std::move(*kernel));
    last.cost = fusion.cost;
    last.inputs = std::move(joined.inputs);
    last.input_types = std::move(joined.input_types);
    last.kept_inputs = joined.kept_inputs;
    last.stands_for = std::move(joined.stands_for);
    if (plan_.options.profiler) plan_.options.profiler->OnFused(last.node, last.stands_for);
    return true;
  }

  // Releases constants that no step reads any more, such as weights that a fusion multiplied into
  // others.
  void DropUnread() {
    std::vector<bool> is_read(plan_.slots.size(), false);
    for (const PlanNode& node : plan_.nodes) {
      for (Slot slot : node.inputs) is_read[slot] = true;
    }
    for (Slot slot : plan_.fetch_slots) {
      if (slot != kNoSlot) is_read[slot] = true;
    }
    for (const auto& [node, slot] : plan_.hooked_constants) is_read[slot] = true;
    for (size_t slot = 0; slot < plan_.slots.size(); ++slot) {
      if (!is_read[slot]) plan_.slots[slot].constant = Tensor();
    }
  }

  ExecutionPlan& plan_;
  const FusionFacts& facts_;
  std::vector<llvm::SmallVector<int, 2>> readers_;  // by step: the readers of its output 0
  std::vector<bool> is_seen_;  // by step: is an output fetched, or another than 0 read?
  std::vector<bool> is_taken_;
  std::vector<StepFusion> fusions_;
};

}  // namespace

std::vector<FindFusion> FusionFinders() {
  std::vector<Finder> sorted = Finders();
  llvm::sort(sorted, [](const Finder& a, const Finder& b) { return a.place < b.place; });
  std::vector<FindFusion> finders;
  finders.reserve(sorted.size());
  for (const Finder& finder : sorted) finders.push_back(finder.find);
  return finders;
}

bool AddFusionFinder(int place, FindFusion find) {
  Finders().push_back({place, find});
  return true;
}

std::vector<uint32_t> FuseSteps(ExecutionPlan& plan, const FusionFacts& facts) {
  if (plan.nodes.size() < 2) return {};
  PlanFuser fuser(plan, facts);
  fuser.FindAll();
  return fuser.Apply();
}

}  // namespace grapnel
