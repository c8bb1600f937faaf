// Results whose size depends on the values: Where, Unique, UniqueWithCounts.
#include <cmath>
#include <unordered_map>

#include "kernels/cpu/data_move.h"
#include "kernels/cpu/dispatch.h"

namespace grapnel {
namespace {

using WhereTypes = Join<NumberTypes, TypeList<bool>>;

Error Where(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  std::vector<int64_t> hits;
  bool known = ForType(in.dtype(), WhereTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = in.data<T>();
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      if (data[i] != T(0)) hits.push_back(i);
    }
    return true;
  });
  if (!known) return MakeError("no kernel for dtype {0}", DataTypeName(in.dtype()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {static_cast<int64_t>(hits.size()), in.rank()}));
  int64_t* row = out->data<int64_t>();
  for (int64_t flat : hits) {
    for (int d = in.rank(); d-- > 0; flat /= in.dim(d)) row[d] = flat % in.dim(d);
    row += in.rank();
  }
  return Error::success();
}
Expected<KernelFn> MakeWhere(const KernelSetup&) { return KernelFn(Where); }

// Numbers each element by the first one equal to it. `first` gets the position of each new value.
template <typename Key, typename At>
void Number(int64_t n, At key_at, std::vector<int64_t>& first, std::vector<int64_t>& ids) {
  std::unordered_map<Key, int64_t> seen;
  for (int64_t i = 0; i < n; ++i) {
    auto [where, fresh] = seen.try_emplace(key_at(i), static_cast<int64_t>(first.size()));
    if (fresh) first.push_back(i);
    ids[i] = where->second;
  }
}

// A NaN equals nothing, so each one is a value of its own; a map of doubles finds the same.
Error NumberElements(const Tensor& in, std::vector<int64_t>& first, std::vector<int64_t>& ids) {
  if (in.dtype() == proto::DT_STRING) {
    Number<std::string>(
        in.num_elements(), [&](int64_t i) { return in.data<std::string>()[i]; }, first, ids);
    return Error::success();
  }
  bool floating = ForType(in.dtype(), FloatTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = in.data<T>();
    Number<double>(
        in.num_elements(), [&](int64_t i) { return static_cast<double>(data[i]); }, first, ids);
    return true;
  });
  if (floating) return Error::success();
  if (!IsInteger(in.dtype()) && in.dtype() != proto::DT_BOOL) {
    return MakeError("no kernel for dtype {0}", DataTypeName(in.dtype()));
  }
  Number<int64_t>(
      in.num_elements(), [&](int64_t i) { return in.IntAt(i); }, first, ids);
  return Error::success();
}

void PutIndex(Tensor& out, int64_t i, int64_t value) {
  if (out.dtype() == proto::DT_INT64)
    out.data<int64_t>()[i] = value;
  else
    out.data<int32_t>()[i] = static_cast<int32_t>(value);
}

Error Unique(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.rank() != 1)
    return MakeError("unique expects a vector, got shape {0}", DimsText(in.dims()));
  std::vector<int64_t> first, ids(in.num_elements());
  RETURN_IF_ERROR(NumberElements(in, first, ids));
  int64_t count = static_cast<int64_t>(first.size());
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(0, {count}));
  for (int64_t i = 0; i < count; ++i) CopyElements(in.dtype(), At(in, first[i]), At(*values, i), 1);
  ASSIGN_OR_RETURN(Tensor * numbers, ctx.Allocate(1, {in.num_elements()}));
  for (int64_t i = 0; i < in.num_elements(); ++i) PutIndex(*numbers, i, ids[i]);
  if (ctx.num_outputs() < 3) return Error::success();
  std::vector<int64_t> counts(count, 0);
  for (int64_t id : ids) ++counts[id];
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(2, {count}));
  for (int64_t i = 0; i < count; ++i) PutIndex(*out, i, counts[i]);
  return Error::success();
}
Expected<KernelFn> MakeUnique(const KernelSetup&) { return KernelFn(Unique); }

GRAPNEL_CPU_KERNEL("Where", nullptr, {}, KernelCost::kElements, MakeWhere);
GRAPNEL_CPU_KERNEL("Unique", nullptr, {}, KernelCost::kElements, MakeUnique);
GRAPNEL_CPU_KERNEL("UniqueWithCounts", nullptr, {}, KernelCost::kElements, MakeUnique);

}  // namespace
}  // namespace grapnel
