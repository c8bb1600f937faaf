// Converts the nodes of the graph, one at a time, into parts of the plan.
#include "lib/exec/plan_builder.h"
#include "lib/ir/attr_rules.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/support/denormals.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

std::string NameWithOp(const Node& node) {
  return ("node '" + node.name() + "' (" + node.op() + ")").str();
}

bool IsIdentity(const Node& node) {
  return llvm::StringSwitch<bool>(node.op())
             .Cases("Identity", "StopGradient", "PreventGradient", "Snapshot", true)
             .Default(false) &&
         node.num_inputs() == 1;
}

// Returns the shape that a value fed for this Placeholder or argument must have; nullopt: any
// shape.
std::optional<Shape> ExpectedShape(const Node& node) {
  if (IsArgument(node)) {
    Shape shape = TypeOfArgument(node).shape;
    return shape.known_rank() ? std::optional(std::move(shape)) : std::nullopt;
  }
  if (node.op() != "Placeholder") return std::nullopt;
  std::optional<AttrView> attr = node.FindAttr("shape");
  std::optional<Shape> shape = attr ? attr->AsShape() : std::nullopt;
  // In old graphs a shape without dimensions means 'unknown'.
  if (shape && (!shape->known_rank() || shape->rank() == 0)) return std::nullopt;
  return shape;
}

// True if the frame runner executes the node without a kernel. Triggers and collectives have
// kernels.
bool IsControlFlow(FlowKind flow) {
  return flow != FlowKind::kKernel && flow != FlowKind::kTrigger && flow != FlowKind::kCollective;
}

}  // namespace

void PlanBuilder::AddFeed(Port feed, DataType type) {
  Node node = graph_.node(feed.node);
  Slot slot = NewSlot();
  slot_of_[Key(feed)] = slot;
  plan_->feeds.push_back({slot, node, BaseType(type), ExpectedShape(node)});
}

Error PlanBuilder::AddNode(const Node& node) {
  llvm::StringRef op = node.op();
  if (op == "Const" || op == "HostConst") return AddConstant(node);
  if (op == "Placeholder" || op == "PlaceholderV2") return AddUnfedPlaceholder(node);
  if (IsArgument(node)) return AddUnfedArgument(node);
  PlanNode plan;
  plan.node = node;
  plan.hooked = plan_->options.hook && plan_->options.hook->Wants(node);
  KernelInputs inputs;
  RETURN_IF_ERROR(ReadTypes(&plan, &inputs));
  plan.flow = KindOf(plan);
  if (IsControlFlow(plan.flow)) return AddControlFlow(std::move(plan));
  bool passes_on = !plan.hooked && !has_flow_ && IsIdentity(node) && node.num_controls() == 0;
  if (passes_on && AddAsItsInput(node)) return Error::success();
  return AddKernel(std::move(plan), std::move(inputs));
}

Error PlanBuilder::AddConstant(const Node& node) {
  bool hooked = plan_->options.hook && plan_->options.hook->Wants(node);
  ASSIGN_OR_RETURN(Literal literal, Literal::FromConst(node));
  // A large float constant shares the graph's memory, so that a kernel can pack it from there;
  // kernels that need aligned elements get a copy.
  constexpr size_t kLarge = size_t{16} << 10;
  bool borrows = may_keep_ && literal.dtype() == proto::DT_FLOAT && !literal.is_splat() &&
                 literal.bytes().size() >= kLarge;
  auto tensor = borrows ? Tensor::Borrow(literal) : Tensor::FromLiteral(literal);
  if (!tensor) return Annotate("node '" + node.name() + "'", tensor.takeError());
  if (hooked) *tensor = plan_->options.hook->ReplaceConstant(node, *tensor);
  if (has_flow_ && node.num_controls() > 0) {
    PlanNode plan;
    plan.node = node;
    plan.hooked = hooked;
    AddConstantOfBranch(std::move(plan), std::move(*tensor));
    return Error::success();
  }
  Slot slot = NewSlot();
  Bind({node.id(), 0}, slot);
  if (hooked) plan_->hooked_constants.emplace_back(node, slot);
  if (borrows) borrowed_.push_back({slot, node.id(), *tensor});
  plan_->slots[slot].constant = std::move(*tensor);
  return Error::success();
}

// If the slot's constant is unaligned, replaces it by an aligned copy, because a reader needs
// aligned elements.
Error PlanBuilder::Align(Slot slot) {
  Tensor& constant = plan_->slots[slot].constant;
  if (!constant || constant.IsAligned()) return Error::success();
  ASSIGN_OR_RETURN(constant, Tensor::Aligned(constant));
  llvm::erase_if(borrowed_, [&](const auto& borrowed) { return borrowed.slot == slot; });
  return Error::success();
}

// In a branch or loop that does not run, a constant is dead like any other tensor. A constant that
// a hook wants gets a kernel, so that the hook is called if the constant is alive.
void PlanBuilder::AddConstantOfBranch(PlanNode plan, Tensor value) {
  plan.output_types.push_back(value.dtype());
  if (plan.hooked) {
    plan.is_constant = true;
    plan.kernel = BoundKernel::OfPlan([value = std::move(value)](KernelContext& context) {
      context.SetOutput(0, value);
      return Error::success();
    });
  } else {
    plan.flow = FlowKind::kConstant;
    flow_values_[plan.node.id()] = std::move(value);
  }
  AddPlanNode(std::move(plan));
}

Error PlanBuilder::AddUnfedPlaceholder(const Node& node) {
  std::string form = DataTypeName(node.GetType("dtype")).str();
  std::optional<Shape> shape = ExpectedShape(node);
  if (shape && shape->known_rank()) form += shape->ToString();
  missing_.push_back(
      llvm::formatv("'{0}' ({1}, {2}) needs a value: feed it", node.name(), node.op(), form).str());
  return Error::success();
}

Error PlanBuilder::AddUnfedArgument(const Node& node) {
  ArgumentType type = TypeOfArgument(node);
  const char* what = "needs a value: feed it";
  if (type.held != proto::DT_INVALID)
    what = "needs a value: feed the variable's value";
  else if (type.dtype == proto::DT_RESOURCE)
    what =
        "needs a value: feed the variable's value if it is a variable; other resources cannot be "
        "fed";
  else if (Tensor::IsObject(type.dtype))
    what = "cannot be fed: no file can hold its value";
  missing_.push_back(llvm::formatv("argument {0} '{1}' ({2}) {3}", node.GetInt("index"),
                                   node.name(), type.ToString(), what)
                         .str());
  return Error::success();
}

// Adds a node that the frame runner executes without a kernel (Switch, Merge, a send, ...).
// LinkFrames finds its inputs, some of which may come later in the plan.
Error PlanBuilder::AddControlFlow(PlanNode plan) {
  if (const OpInfo* info = DefinitionOf(plan.node)) {
    if (Error error = CheckAllowedAttrs(plan.node, *info))
      return Annotate(NameWithOp(plan.node), std::move(error));
  }
  AddPlanNode(std::move(plan));
  return Error::success();
}

// Omits a node that forwards its input: the node's readers read the input instead, and nodes that
// wait for the node wait for the input's producer. Returns false if the input has no slot or is a
// reference.
bool PlanBuilder::AddAsItsInput(const Node& node) {
  Port input = node.input(0);
  auto found = slot_of_.find(Key(input));
  if (found == slot_of_.end() || plan_->slots[found->second].is_reference) return false;
  Slot slot = found->second;
  Bind({node.id(), 0}, slot);
  auto maker = plan_of_.find(input.node);
  if (maker != plan_of_.end()) {
    uint32_t of_input = maker->second;
    plan_of_[node.id()] = of_input;
  }
  return true;
}

Error PlanBuilder::AddKernel(PlanNode plan, KernelInputs inputs) {
  ASSIGN_OR_RETURN(bool found, FindInputs(&plan, &inputs));
  if (!found) {
    AddMissingKernel(plan.node);
    return Error::success();
  }
  const OpInfo* info = DefinitionOf(plan.node);
  // A call is watched if there is a hook, which may want nodes of the called function's body.
  bool is_watched = plan.hooked || (plan_->options.hook && !CalledFunctions(plan.node).empty());
  bool once = inputs.are_constant && plan.node.num_controls() == 0 && !is_watched && info &&
              !info->is_stateful;
  if (!once && plan.flow == FlowKind::kKernel) {
    ASSIGN_OR_RETURN(bool placed, AddOnDevice(plan, inputs));
    if (placed) return Error::success();
  }
  auto def = KernelRegistry::Get().Find(plan.node, "CPU");
  if (!def) {
    llvm::consumeError(def.takeError());
    AddMissingKernel(plan.node);
    return Error::success();
  }
  RETURN_IF_ERROR(FindKept(**def, &plan, &inputs));
  KernelSetup setup(plan.node, inputs.types, plan.output_types, inputs.constants);
  auto kernel = BoundKernel::Make(**def, setup);
  if (!kernel) {
    return Annotate(NameWithOp(plan.node), kernel.takeError());
  }
  plan.kernel = std::move(*kernel);
  plan.cost = (*def)->cost;
  if (once && AddComputedOnce(plan)) return Error::success();
  return AddOnCpu(std::move(plan));
}

Error PlanBuilder::FindKept(const KernelDef& def, PlanNode* plan, KernelInputs* inputs) {
  int count = static_cast<int>(plan->inputs.size());
  for (int i = 0; i < count; ++i) {
    const Tensor* constant = inputs->constants[i];
    if (!constant) continue;
    if (may_keep_ && i < 32 && constant->dtype() == proto::DT_FLOAT && def.KeepsInput(i, count))
      plan->kept_inputs |= uint32_t{1} << i;
    else
      RETURN_IF_ERROR(Align(plan->inputs[i]));
  }
  return Error::success();
}

// Computes a node that depends only on constants (a weight behind an Identity, a folded batch norm)
// now, so that kernels that read the node get a constant, which they can pack. Returns false if the
// kernel fails; then the node stays in the plan, and the run reports the error.
bool PlanBuilder::AddComputedOnce(PlanNode& plan) {
  FlushDenormals flush;
  llvm::SmallVector<Tensor, 4> inputs, outputs(plan.output_types.size());
  for (Slot slot : plan.inputs) inputs.push_back(plan_->slots[slot].constant);
  // Pass on the kernel's warnings, which the run will not repeat, but not what called functions
  // print (PrintV2).
  MessageSink warnings = [&](Severity severity, llvm::StringRef text) {
    if (severity != Severity::kInfo && plan_->options.print) plan_->options.print(severity, text);
  };
  RunServices services{HeapAllocator(), *plan_->options.pool, warnings};
  services.cancel = plan_->options.cancel;
  services.onednn = plan_->options.onednn;
  KernelContext context(inputs, outputs, plan.output_types, services);
  if (Error error = plan.kernel.Call(context)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    Slot slot = NewSlot();
    Bind({plan.node.id(), static_cast<int32_t>(i)}, slot);
    plan_->slots[slot].constant = std::move(outputs[i]);
  }
  return true;
}

// Returns false if the node names another device, the device has no kernel for the node's dtypes
// and attributes, or the kernel's factory returns an error; then the node runs on the CPU.
Expected<bool> PlanBuilder::AddOnDevice(PlanNode& plan, const KernelInputs& inputs) {
  for (const auto& lane : plan_->lanes) {
    if (!AllowsDevice(plan.node, *lane->device)) continue;
    auto def = KernelRegistry::Get().Find(plan.node, lane->device->kind());
    if (!def) {
      llvm::consumeError(def.takeError());
      continue;
    }
    KernelSetup setup(plan.node, inputs.types, plan.output_types, inputs.constants, lane->device);
    auto kernel = BoundKernel::Make(**def, setup);
    if (!kernel) {
      llvm::consumeError(kernel.takeError());
      continue;
    }
    plan.kernel = std::move(*kernel);
    plan.cost = (*def)->cost;
    plan.lane = lane.get();
    plan.host_outputs.assign((*def)->host_outputs.begin(), (*def)->host_outputs.end());
    RETURN_IF_ERROR(BringInputs(plan, *def));
    ++plan_->spread.on_device;
    AddPlanNode(std::move(plan));
    return true;
  }
  return false;
}

Error PlanBuilder::AddOnCpu(PlanNode plan) {
  RETURN_IF_ERROR(BringInputs(plan, nullptr));
  ++plan_->spread.on_host;
  AddPlanNode(std::move(plan));
  return Error::success();
}

// --- Kinds and inputs of nodes.

FlowKind PlanBuilder::KindOf(const PlanNode& plan) const {
  if (!has_flow_) return FlowKind::kKernel;
  FlowKind flow = FlowKindOf(plan.node.op());
  // An Identity keeps its kernel in two cases: if a hook wants the node, because the hook sees a
  // kernel's inputs and outputs; and if the graph has references, because only a kernel reads the
  // variable behind a reference.
  if (flow == FlowKind::kKernel && !plan.hooked && !has_references_ && IsIdentity(plan.node))
    return FlowKind::kPass;
  return flow;
}

Error PlanBuilder::ReadTypes(PlanNode* plan, KernelInputs* inputs) const {
  const OpInfo* info = DefinitionOf(plan->node);
  if (!info) return Error::success();
  auto types = TypesOf(plan->node, *info);
  if (!types) return Annotate("node '" + plan->node.name() + "'", types.takeError());
  for (DataType type : types->outputs) {
    plan->output_types.push_back(BaseType(type));
    plan->puts_references |= IsRefType(type);
  }
  inputs->types = types->inputs;
  return Error::success();
}

// Returns false if the producer of an input could not be added to the plan. Errors: the producer
// does not have the output that the node reads.
Expected<bool> PlanBuilder::FindInputs(PlanNode* plan, KernelInputs* inputs) {
  const Node& node = plan->node;
  inputs->are_constant = node.num_inputs() > 0;
  for (int i = 0; i < node.num_inputs(); ++i) {
    auto slot = slot_of_.find(Key(node.input(i)));
    if (slot == slot_of_.end()) {
      if (!missing_.empty()) return false;
      return MakeError("node '{0}': input {1} reads output {2} of '{3}', which it does not have",
                       node.name(), i, node.input(i).index, graph_.node(node.input(i).node).name());
    }
    plan->inputs.push_back(slot->second);
    const Tensor& constant = plan_->slots[slot->second].constant;
    inputs->constants.push_back(constant ? &constant : nullptr);
    inputs->are_constant &= constant.operator bool();
  }
  inputs->types.resize(node.num_inputs(), proto::DT_INVALID);
  for (DataType type : inputs->types)
    plan->input_types.push_back(IsRefType(type) ? proto::DT_INVALID : type);
  return true;
}

// Adds the node to missing_ if it has no kernel. Called also for nodes whose inputs could not be
// added, so that the error counts every node without a kernel.
void PlanBuilder::AddMissingKernel(const Node& node) {
  auto def = KernelRegistry::Get().Find(node, "CPU");
  if (!def) missing_.push_back(("'" + node.name() + "': " + TextOf(def.takeError())).str());
}

// Replaces inputs that are not in the memory that the kernel reads by copies that are. `def`
// declares the inputs that a device's kernel reads in host memory; null: a kernel of the CPU.
Error PlanBuilder::BringInputs(PlanNode& plan, const KernelDef* def) {
  if (plan_->lanes.empty()) return Error::success();
  int count = static_cast<int>(plan.inputs.size());
  for (int i = 0; i < count; ++i) {
    DeviceLane* wanted = def && !def->IsHostInput(i, count) ? plan.lane : nullptr;
    Node maker = graph_.node(plan.node.input(i).node);
    ASSIGN_OR_RETURN(plan.inputs[i],
                     InMemoryOf(wanted, plan.inputs[i], plan.input_types[i], maker));
  }
  return Error::success();
}

// Returns the slot itself if its value is in the memory of `to` (null: host memory), else the slot
// of a copy, which all readers on that device share. A constant is copied now; other values are
// copied in each run.
Expected<Slot> PlanBuilder::InMemoryOf(DeviceLane* to, Slot slot, DataType type,
                                       const Node& maker) {
  DeviceLane* from = plan_->slots[slot].lane;
  if (from == to) return slot;
  if (from && to) {
    ASSIGN_OR_RETURN(slot, InMemoryOf(nullptr, slot, type, maker));
    from = nullptr;
  }
  auto [it, is_new] = copies_.try_emplace({slot, to}, plan_->slots.size());
  if (!is_new) return it->second;
  Slot copy = it->second;
  if (const Tensor& constant = plan_->slots[slot].constant) {
    auto copied = CopyTensor(constant, to->device, *to->stream, *to->allocator);
    if (!copied) return Annotate("node '" + maker.name() + "'", copied.takeError());
    plan_->spread.constant_bytes += copied->byte_size();
    NewSlot();
    plan_->slots[copy].constant = std::move(*copied);
  } else {
    PlanNode plan;
    plan.node = maker;
    plan.inputs.push_back(slot);
    plan.input_types.push_back(type);
    plan.output_types.push_back(type);
    ASSIGN_OR_RETURN(KernelFn run, MakeCopyKernel(from, to));
    plan.kernel = BoundKernel::OfPlan(std::move(run));
    ++plan_->spread.copies;
    AppendToPlan(std::move(plan));
  }
  plan_->slots[copy].lane = to;
  return copy;
}

// --- Functions that append to the plan.

Slot PlanBuilder::NewSlot() {
  plan_->slots.emplace_back();
  return plan_->slots.size() - 1;
}

void PlanBuilder::AddPlanNode(PlanNode plan) {
  NodeId id = plan.node.id();
  Slot first = plan_->slots.size();
  for (size_t i = 0; i < plan.output_types.size(); ++i)
    Bind({id, static_cast<int32_t>(i)}, first + i);
  plan_of_[id] = plan_->nodes.size();
  AppendToPlan(std::move(plan));
}

void PlanBuilder::AppendToPlan(PlanNode plan) {
  plan.first_output = plan_->slots.size();
  int count = static_cast<int>(plan.output_types.size());
  for (int i = 0; i < count; ++i) {
    SlotInfo& info = plan_->slots[NewSlot()];
    info.is_reference = plan.puts_references;
    if (!KernelDef::Holds(plan.host_outputs, i, count)) info.lane = plan.lane;
  }
  maker_.resize(plan_->slots.size(), -1);
  for (int i = 0; i < count; ++i) maker_[plan.first_output + i] = plan_->nodes.size();
  plan_->nodes.push_back(std::move(plan));
}

}  // namespace grapnel
