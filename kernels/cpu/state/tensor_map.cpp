// Maps from tensors to tensors as variants: EmptyTensorMap, TensorMapInsert, -Lookup, -Erase,
// -HasKey, -Size, -StackKeys. A shared map is copied before it is modified.
#include <map>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/array/tensor_message.h"

namespace grapnel {
namespace {

struct TensorMap : Object {
  struct Entry {
    Tensor key, value;
  };
  std::map<std::string, Entry> entries;  // by dtype, shape and elements of the key

  std::string ToString() const override {
    return llvm::formatv("map of {0} tensors", entries.size()).str();
  }
};

Expected<TensorMap*> MapIn(const Tensor& tensor) {
  if (tensor.num_elements() == 1) {
    if (auto* map = dynamic_cast<TensorMap*>(tensor.data<ObjectRef>()->get())) return map;
  }
  return MakeError("{0}: a tensor map was expected", tensor.ToString());
}

Expected<std::string> KeyIn(const KernelContext& ctx) {
  if (ctx.input(1).HoldsObjects())
    return MakeError("{0} cannot be a key: its elements are objects, not values",
                     ctx.input(1).ToString(0));
  return TensorMessage(ctx.input(1));
}

// Returns the map in input 0, writable: the map itself if nothing else refers to it, else a copy.
Expected<llvm::IntrusiveRefCntPtr<TensorMap>> OwnMap(KernelContext& ctx) {
  Tensor handle = ctx.TakeInput(0);
  ASSIGN_OR_RETURN(TensorMap * map, MapIn(handle));
  if (handle.OwnsAlone() && !map->IsShared()) return llvm::IntrusiveRefCntPtr<TensorMap>(map);
  llvm::IntrusiveRefCntPtr<TensorMap> copy(new TensorMap);
  copy->entries = map->entries;
  return copy;
}

Error Empty(KernelContext& ctx) {
  ctx.SetOutput(0, Tensor::OfObject(proto::DT_VARIANT, new TensorMap));
  return Error::success();
}

Error Insert(KernelContext& ctx) {
  ASSIGN_OR_RETURN(std::string key, KeyIn(ctx));
  ASSIGN_OR_RETURN(auto map, OwnMap(ctx));
  map->entries[key] = {ctx.input(1), ctx.input(2)};
  ctx.SetOutput(0, Tensor::OfObject(proto::DT_VARIANT, std::move(map)));
  return Error::success();
}

Error Lookup(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorMap * map, MapIn(ctx.input(0)));
  ASSIGN_OR_RETURN(std::string key, KeyIn(ctx));
  auto it = map->entries.find(key);
  if (it == map->entries.end())
    return MakeError("trying to lookup non-existent key {0}", ctx.input(1).ToString());
  if (it->second.value.dtype() != ctx.output_type(0))
    return MakeError("the value is {0}, expected {1}", it->second.value.ToString(0),
                     DataTypeName(ctx.output_type(0)));
  ctx.SetOutput(0, it->second.value);
  return Error::success();
}

Error Erase(KernelContext& ctx) {
  ASSIGN_OR_RETURN(std::string key, KeyIn(ctx));
  ASSIGN_OR_RETURN(auto map, OwnMap(ctx));
  if (map->entries.erase(key) == 0)
    return MakeError("trying to erase non-existent item {0}", ctx.input(1).ToString());
  ctx.SetOutput(0, Tensor::OfObject(proto::DT_VARIANT, std::move(map)));
  return Error::success();
}

Error HasKey(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorMap * map, MapIn(ctx.input(0)));
  ASSIGN_OR_RETURN(std::string key, KeyIn(ctx));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<bool>() = map->entries.count(key) > 0;
  return Error::success();
}

Error Size(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorMap * map, MapIn(ctx.input(0)));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<int32_t>() = static_cast<int32_t>(map->entries.size());
  return Error::success();
}

// TensorFlow outputs the keys in no particular order; here they are sorted by their bytes.
Error StackKeys(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorMap * map, MapIn(ctx.input(0)));
  if (map->entries.empty()) return MakeError("the map has no keys to stack");
  const Tensor& first = map->entries.begin()->second.key;
  Dims dims = {static_cast<int64_t>(map->entries.size())};
  dims.append(first.dims().begin(), first.dims().end());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  int64_t at = 0;
  for (const auto& [bytes, entry] : map->entries) {
    if (entry.key.dims() != first.dims() || entry.key.dtype() != out->dtype())
      return MakeError("key {0} has another shape than {1} or another dtype than the output, {2}",
                       entry.key.ToString(0), first.ToString(0), DataTypeName(out->dtype()));
    CopyElements(out->dtype(), entry.key.raw(), At(*out, at), entry.key.num_elements());
    at += entry.key.num_elements();
  }
  return Error::success();
}

#define GRAPNEL_MAP_KERNEL(op, run) GRAPNEL_CPU_KERNEL(op, KernelOf<run>)
GRAPNEL_MAP_KERNEL("EmptyTensorMap", Empty);
GRAPNEL_MAP_KERNEL("TensorMapInsert", Insert);
GRAPNEL_MAP_KERNEL("TensorMapLookup", Lookup);
GRAPNEL_MAP_KERNEL("TensorMapErase", Erase);
GRAPNEL_MAP_KERNEL("TensorMapHasKey", HasKey);
GRAPNEL_MAP_KERNEL("TensorMapSize", Size);
GRAPNEL_MAP_KERNEL("TensorMapStackKeys", StackKeys);

}  // namespace
}  // namespace grapnel
