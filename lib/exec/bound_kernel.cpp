#include "lib/exec/bound_kernel.h"

#include "lib/exec/op_reference.h"
#include "lib/ir/attr_rules.h"
#include "lib/ir/node_types.h"
#include "lib/support/exceptions.h"

namespace grapnel {
namespace {

// Returns the dtype that tensors of dtype `type` have at run time: references are resources.
DataType InMemory(DataType type) { return IsRefType(type) ? proto::DT_RESOURCE : type; }

// True for an argument that is a handle of a TensorArray. At run time a handle is a resource, but
// the definitions of old ops state string. Their elements may be strings too, but have the dtype of
// an attribute.
bool IsTensorArrayHandle(const OpInfo& info, const OpArg& arg) {
  return arg.type == proto::DT_STRING && llvm::StringRef(info.name).starts_with("TensorArray");
}

// Makes the node's kernel. Errors and exceptions of a plugin's kernel name the plugin.
Expected<KernelFn> MakeRun(const KernelDef& def, const KernelSetup& setup) {
  if (!*def.plugin) return def.factory(setup);
  std::string whose = std::string("kernel of ") + def.plugin;
  auto made = WithoutExceptions([&] { return def.factory(setup); });
  if (!made) return Annotate(whose, made.takeError());
  if (!*made) return KernelFn();
  return KernelFn([run = std::move(*made), whose](KernelContext& context) -> Error {
    return Annotate(whose, WithoutExceptions([&] { return run(context); }));
  });
}

}  // namespace

Expected<BoundKernel> BoundKernel::Make(const KernelDef& def, const KernelSetup& setup) {
  BoundKernel kernel;
  kernel.node_ = setup.node();
  const OpInfo* info = DefinitionOf(setup.node());
  if (info) RETURN_IF_ERROR(CheckAllowedAttrs(setup.node(), *info));
  ASSIGN_OR_RETURN(kernel.run_, MakeRun(def, setup));
  // A factory without code for the node's dtypes returns an empty function.
  if (!kernel.run_) return MakeError("no kernel for the node's dtypes");
  for (int i = 0; i < setup.num_inputs(); ++i) {
    Input input;
    input.dtype = InMemory(setup.input_type(i));
    // For a reference, the input may also be the variable's value, if the node only reads it.
    if (IsRefType(setup.input_type(i))) input.dtype = proto::DT_INVALID;
    kernel.inputs_.push_back(input);
  }
  for (int i = 0; i < setup.num_outputs(); ++i)
    kernel.outputs_.push_back(InMemory(setup.output_type(i)));
  if (info) RETURN_IF_ERROR(kernel.ReadArguments(*info));
  for (const InputRule& rule : def.rules) kernel.Check(rule);
  return kernel;
}

// Reads facts from the op's definition that KernelSetup does not have: the ranks that inputs may
// have, which outputs are references, and which arguments are handles of TensorArrays.
Error BoundKernel::ReadArguments(const OpInfo& info) {
  size_t slot = 0;
  for (const OpArg& arg : info.inputs) {
    ASSIGN_OR_RETURN(int64_t count, NumTensors(node_, arg));
    for (; count > 0 && slot < inputs_.size(); --count, ++slot) {
      inputs_[slot].min_rank = arg.min_rank;
      inputs_[slot].max_rank = arg.max_rank;
      if (IsTensorArrayHandle(info, arg)) inputs_[slot].dtype = proto::DT_RESOURCE;
    }
  }
  slot = 0;
  for (const OpArg& arg : info.outputs) {
    ASSIGN_OR_RETURN(int64_t count, NumTensors(node_, arg));
    for (; count > 0 && slot < outputs_.size(); --count, ++slot)
      if (arg.is_ref || IsTensorArrayHandle(info, arg)) outputs_[slot] = proto::DT_RESOURCE;
  }
  return Error::success();
}

BoundKernel BoundKernel::OfPlan(KernelFn run) {
  BoundKernel kernel;
  kernel.run_ = std::move(run);
  return kernel;
}

void BoundKernel::Check(const InputRule& rule) {
  int count = static_cast<int>(inputs_.size());
  for (int i = 0; i < count; ++i) {
    if (rule.slot != InputRule::kAll && rule.slot != i && rule.slot + count != i) continue;
    Input& input = inputs_[i];
    input.min_rank = std::max(input.min_rank, rule.min_rank);
    input.max_rank = std::min(input.max_rank, rule.max_rank);
    input.is_one |= rule.is_one;
    input.is_some |= rule.is_some;
  }
}

bool BoundKernel::Fits(const Input& wanted, const Tensor& input) {
  if (input.dtype() != wanted.dtype && wanted.dtype != proto::DT_INVALID) return false;
  if (input.rank() < wanted.min_rank || input.rank() > wanted.max_rank) return false;
  return !(wanted.is_one && input.num_elements() != 1) &&
         !(wanted.is_some && input.num_elements() == 0);
}

Error BoundKernel::Call(KernelContext& context) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!Fits(inputs_[i], context.input(i))) return Refuse(context, static_cast<int>(i));
  }
  RETURN_IF_ERROR(CallOnOthers(context));
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (context.output(i).dtype() != outputs_[i]) return RefuseOutput(context, static_cast<int>(i));
  }
  return Error::success();
}

Error BoundKernel::CallOnOthers(KernelContext& context) const {
  RETURN_IF_ERROR(StopIfCancelled(context.services().cancel));
  return WithoutExceptions([&] { return run_(context); });
}

// Describes the problem by the op's arguments: "input 1 ('axis') is int32[2], a scalar was
// expected".
Error BoundKernel::Refuse(const KernelContext& context, int i) const {
  const Input& wanted = inputs_[i];
  const Tensor& input = context.input(i);
  std::string what = llvm::formatv("input {0}", i);
  const OpInfo* info = node_ ? DefinitionOf(node_) : nullptr;
  llvm::StringRef argument = info ? ArgumentOfInput(node_, *info, i) : "";
  if (!argument.empty()) what += (" ('" + argument + "')").str();
  if (!input) return MakeError("{0} has no value", what);
  std::string is = (DataTypeName(input.dtype()) + DimsText(input.dims())).str();
  std::string expected;
  if (wanted.dtype != proto::DT_INVALID && input.dtype() != wanted.dtype)
    expected = DataTypeName(wanted.dtype).str();
  else if (input.rank() < wanted.min_rank || input.rank() > wanted.max_rank)
    expected = RankText(wanted.min_rank, wanted.max_rank);
  else
    expected = wanted.is_one ? "one element" : "at least one element";
  return MakeError("{0} is {1}, {2} was expected", what, is, expected);
}

Error BoundKernel::RefuseOutput(const KernelContext& context, int i) const {
  const Tensor& output = context.output(i);
  if (!output) return MakeError("output {0} was not made", i);
  return MakeError("output {0} is {1}{2}, but the node's dtype is {3}", i,
                   DataTypeName(output.dtype()), DimsText(output.dims()),
                   DataTypeName(outputs_[i]));
}

}  // namespace grapnel
