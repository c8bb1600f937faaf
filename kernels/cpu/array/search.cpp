// Ops whose output size depends on values: Where, Unique and its variants, ListDiff.
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "kernels/common/dispatch.h"
#include "kernels/common/indices.h"
#include "kernels/cpu/array/data_move.h"

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

// Sets ids[i] to an id of element i, equal for equal elements. `first` collects the position of the
// first element of each id.
template <typename Key, typename At>
void Number(int64_t n, At key_at, std::vector<int64_t>& first, std::vector<int64_t>& ids) {
  std::unordered_map<Key, int64_t> seen;
  for (int64_t i = 0; i < n; ++i) {
    auto [where, fresh] = seen.try_emplace(key_at(i), static_cast<int64_t>(first.size()));
    if (fresh) first.push_back(i);
    ids[i] = where->second;
  }
}

// NaN equals nothing, so each NaN is a distinct value; a map with keys of type double behaves the
// same way.
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

// Writes the ids of the elements (or slices) along an axis to output 1, and the number of elements
// with each id to output 2.
Error PutNumbers(KernelContext& ctx, int64_t distinct, const std::vector<int64_t>& ids) {
  int64_t n = static_cast<int64_t>(ids.size());
  ASSIGN_OR_RETURN(Tensor * numbers, ctx.Allocate(1, {n}));
  for (int64_t i = 0; i < n; ++i) PutIndex(*numbers, i, ids[i]);
  if (ctx.num_outputs() < 3) return Error::success();
  std::vector<int64_t> counts(distinct, 0);
  for (int64_t id : ids) ++counts[id];
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(2, {distinct}));
  for (int64_t i = 0; i < distinct; ++i) PutIndex(*out, i, counts[i]);
  return Error::success();
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
  return PutNumbers(ctx, count, ids);
}
Expected<KernelFn> MakeUnique(const KernelSetup&) { return KernelFn(Unique); }

// Assigns ids to the elements first, and then to the slices by the ids of their elements, so that
// equality is the same for all dtypes.
Error UniqueAlong(KernelContext& ctx) {
  const Tensor &in = ctx.input(0), &axes = ctx.input(1);
  if (axes.rank() == 1 && axes.num_elements() == 0) return Unique(ctx);
  if (axes.rank() != 1 || axes.num_elements() != 1)
    return MakeError("axis must be a vector of at most one element, got shape {0}",
                     DimsText(axes.dims()));
  ASSIGN_OR_RETURN(int axis, AxisIn(axes.IntAt(0), in.rank()));
  std::vector<int64_t> first_element, element(in.num_elements());
  RETURN_IF_ERROR(NumberElements(in, first_element, element));
  int64_t size = in.dim(axis);
  int64_t outer = NumElements(in.dims().take_front(axis)).value_or(0);
  int64_t inner = NumElements(in.dims().drop_front(axis + 1)).value_or(0);
  std::vector<int64_t> first, ids(size);
  Number<std::string>(
      size,
      [&](int64_t i) {
        std::string key;
        for (int64_t o = 0; o < outer; ++o)
          key.append(reinterpret_cast<const char*>(element.data() + (o * size + i) * inner),
                     inner * sizeof(int64_t));
        return key;
      },
      first, ids);
  int64_t count = static_cast<int64_t>(first.size());
  Dims dims(in.dims().begin(), in.dims().end());
  dims[axis] = count;
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(0, dims));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < count; ++i)
      CopyElements(in.dtype(), At(in, (o * size + first[i]) * inner),
                   At(*values, (o * count + i) * inner), inner);
  }
  return PutNumbers(ctx, count, ids);
}
Expected<KernelFn> MakeUniqueAlong(const KernelSetup&) { return KernelFn(UniqueAlong); }

// Returns the positions of the elements of x that are not in y, including repeats.
template <typename Key, typename At>
std::vector<int64_t> Missing(int64_t n, At x, int64_t m, At y) {
  std::unordered_set<Key> there;
  for (int64_t i = 0; i < m; ++i) there.insert(y(i));
  std::vector<int64_t> left;
  for (int64_t i = 0; i < n; ++i) {
    if (!there.contains(x(i))) left.push_back(i);
  }
  return left;
}

Error ListDiff(KernelContext& ctx) {
  const Tensor &x = ctx.input(0), &y = ctx.input(1);
  if (x.rank() != 1 || y.rank() != 1)
    return MakeError("expected two vectors, got shapes {0} and {1}", DimsText(x.dims()),
                     DimsText(y.dims()));
  std::vector<int64_t> left;
  bool known = ForType(x.dtype(), Join<RealTypes, TypeList<std::string>>(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Key = std::conditional_t<kIsSmallFloat<T>, float, T>;
    auto reader = [](const Tensor& tensor) {
      return [data = tensor.data<T>()](int64_t i) { return static_cast<Key>(data[i]); };
    };
    left = Missing<Key>(x.num_elements(), reader(x), y.num_elements(), reader(y));
    return true;
  });
  if (!known) return MakeError("no kernel for dtype {0}", DataTypeName(x.dtype()));
  int64_t count = static_cast<int64_t>(left.size());
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(0, {count}));
  ASSIGN_OR_RETURN(Tensor * places, ctx.Allocate(1, {count}));
  for (int64_t i = 0; i < count; ++i) {
    CopyElements(x.dtype(), At(x, left[i]), At(*values, i), 1);
    PutIndex(*places, i, left[i]);
  }
  return Error::success();
}
Expected<KernelFn> MakeListDiff(const KernelSetup&) { return KernelFn(ListDiff); }

GRAPNEL_CPU_KERNEL("Where", MakeWhere, AtLeastRank(1, 0));
GRAPNEL_CPU_KERNEL("Unique", MakeUnique);
GRAPNEL_CPU_KERNEL("UniqueWithCounts", MakeUnique);
GRAPNEL_CPU_KERNEL("UniqueV2", MakeUniqueAlong);
GRAPNEL_CPU_KERNEL("UniqueWithCountsV2", MakeUniqueAlong);
GRAPNEL_CPU_KERNEL("ListDiff", MakeListDiff);

}  // namespace
}  // namespace grapnel
