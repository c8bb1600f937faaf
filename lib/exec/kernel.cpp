#include "lib/exec/kernel.h"

#include <algorithm>

#include "lib/ir/module.h"
#include "lib/support/plugin.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Returns the node's dtypes for the attributes that the kernel restricts: "T=half", or
// "T=complex64, Tout=double".
std::string TypesAsked(const KernelDef& def, const Node& node) {
  std::string text;
  for (const OfTypes& choice : def.types) {
    text += (text.empty() ? "" : ", ") + std::string(choice.attr) + "=";
    text += DataTypeName(node.GetType(choice.attr));
  }
  return text;
}

// Returns the dtypes that the kernels support: "float, double", or "T=complex64, Tout=float or
// T=complex128, Tout=double".
std::string TypesThereAre(llvm::ArrayRef<const KernelDef*> defs) {
  std::string text;
  for (const KernelDef* def : defs) {
    bool is_one = def->types.size() == 1;
    if (!text.empty()) text += is_one ? ", " : " or ";
    text += is_one ? TypeNames(def->types[0].types) : TypesText(*def, "=");
  }
  return text;
}

}  // namespace

std::string TypeNames(llvm::ArrayRef<DataType> types) {
  std::vector<std::string> names;
  for (DataType type : types) names.push_back(DataTypeName(type).str());
  return llvm::join(names, ", ");
}

std::string TypesText(const KernelDef& def, llvm::StringRef between) {
  std::string text;
  for (const OfTypes& choice : def.types) {
    if (!text.empty()) text += ", ";
    text += (llvm::Twine(choice.attr) + between + TypeNames(choice.types)).str();
  }
  return text;
}

bool KernelDef::Takes(const Node& node) const {
  return llvm::all_of(types, [&](const OfTypes& choice) {
    DataType type = node.GetType(choice.attr);
    return type == proto::DT_INVALID || llvm::is_contained(choice.types, type);
  });
}

Expected<Tensor*> KernelContext::Allocate(int i, llvm::ArrayRef<int64_t> dims) {
  bool on_host = services_.device && KernelDef::Holds(services_.host_outputs, i, num_outputs());
  ASSIGN_OR_RETURN(outputs_[i],
                   Tensor::Allocate(output_types_[i], dims,
                                    on_host ? *services_.host_allocator : services_.allocator));
  return &outputs_[i];
}

Expected<Tensor*> KernelContext::ForwardOrAllocate(int in, int out, llvm::ArrayRef<int64_t> dims) {
  Tensor& input = inputs_[in];
  DataType dtype = output_types_[out];
  size_t size = DataTypeSize(dtype);
  if (services_.device && (input.device() != services_.device ||
                           KernelDef::Holds(services_.host_outputs, out, num_outputs()))) {
    return Allocate(out, dims);
  }
  if (size == 0 || !input.OwnsAlone() || DataTypeSize(input.dtype()) == 0 ||
      input.byte_size() != static_cast<size_t>(NumElements(dims).value_or(-1)) * size) {
    return Allocate(out, dims);
  }
  if (input.dtype() == dtype && input.dims() == dims)
    outputs_[out] = input;
  else
    outputs_[out] = Tensor(dtype, dims, input.buffer(), input.offset());
  return &outputs_[out];
}

KernelRegistry& KernelRegistry::Get() {
  static KernelRegistry* registry = new KernelRegistry;
  return *registry;
}

bool KernelRegistry::Add(KernelDef def) {
  def.plugin = PluginBeingLoaded();
  if (*def.plugin)
    defs_.push_front(std::move(def));
  else
    defs_.push_back(std::move(def));
  return true;
}

const KernelRegistry::Defs& KernelRegistry::OfOp(llvm::StringRef op) const {
  if (num_indexed_.load(std::memory_order_acquire) != defs_.size()) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (num_indexed_.load(std::memory_order_relaxed) != defs_.size()) {
      by_op_.clear();
      for (const KernelDef& def : defs_) by_op_[def.op].push_back(&def);
      num_indexed_.store(defs_.size(), std::memory_order_release);
    }
  }
  static const Defs kNone;
  auto found = by_op_.find(op);
  return found == by_op_.end() ? kNone : found->second;
}

Expected<const KernelDef*> KernelRegistry::Find(const Node& node, llvm::StringRef device) const {
  llvm::SmallVector<const KernelDef*, 4> candidates;
  bool is_function = node.graph().module().FindFunction(node.op()) != nullptr;
  llvm::StringRef op = is_function ? llvm::StringRef(kFunctionAsOp) : node.op();
  llvm::copy_if(OfOp(op), std::back_inserter(candidates),
                [&](const KernelDef* def) { return device == def->device; });
  if (candidates.empty()) return MakeError("no {0} kernel for op '{1}'", device, node.op());
  for (const KernelDef* def : candidates) {
    if (def->Takes(node)) return def;
  }
  return MakeError("op '{0}' has no {1} kernel for {2}; it has {3}", node.op(), device,
                   TypesAsked(*candidates.front(), node), TypesThereAre(candidates));
}

bool KernelRegistry::Has(llvm::StringRef op, llvm::StringRef device) const {
  return llvm::any_of(OfOp(op), [&](const KernelDef* def) { return device == def->device; });
}

std::vector<KernelDef> KernelRegistry::All() const {
  std::vector<KernelDef> all(defs_.begin(), defs_.end());
  llvm::stable_sort(all, [](const KernelDef& a, const KernelDef& b) {
    return std::pair(llvm::StringRef(a.op), llvm::StringRef(a.device)) <
           std::pair(llvm::StringRef(b.op), llvm::StringRef(b.device));
  });
  return all;
}

}  // namespace grapnel
