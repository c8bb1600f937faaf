#include "lib/watch/step_hook.h"

#include "lib/exec/session.h"
#include "lib/ir/tensor_name.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool IsSameTensor(llvm::StringRef a, llvm::StringRef b) {
  return WithoutZeroIndex(a) == WithoutZeroIndex(b);
}

// Returns the variable's value if `value` is the handle of a variable; other values are returned
// unchanged.
Expected<Tensor> HeldBy(const Tensor& value) {
  if (!value || value.dtype() != proto::DT_RESOURCE || value.num_elements() != 1) return value;
  auto* variable = dynamic_cast<StoredVariable*>(value.data<ObjectRef>()->get());
  return variable ? variable->Read() : value;
}

}  // namespace

void StepContext::Fetch(llvm::StringRef tensor) {
  for (llvm::ArrayRef<std::string> known : {fetches, llvm::ArrayRef<std::string>(more)}) {
    if (llvm::any_of(known, [&](llvm::StringRef name) { return IsSameTensor(name, tensor); }))
      return;
  }
  more.insert(llvm::upper_bound(more, tensor), tensor.str());
}

Expected<Tensor> StepContext::Value(llvm::StringRef tensor) const {
  const std::pair<llvm::ArrayRef<std::string>, llvm::ArrayRef<Tensor>> known[] = {
      {fetches, fetched}, {more, more_values}, {feeds, feed_values}};
  for (const auto& [names, values] : known) {
    for (size_t i = 0; i < names.size() && i < values.size(); ++i) {
      if (IsSameTensor(names[i], tensor)) return HeldBy(values[i]);
    }
  }
  return MakeError("tensor '{0}' is neither fed nor fetched", tensor);
}

}  // namespace grapnel
