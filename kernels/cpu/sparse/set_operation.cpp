// Set operations on the last dimension: DenseToDenseSetOperation, DenseToSparseSetOperation,
// SparseToSparseSetOperation and SetSize. Resulting sets are sparse, each one sorted; sizes are
// dense.
#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/cpu/sparse/sparse_indices.h"

namespace grapnel {
namespace {

using SetTypes = TypeList<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, std::string>;

enum class SetOp { kAMinusB, kBMinusA, kIntersection, kUnion };

Expected<SetOp> ReadSetOp(const Node& node) {
  std::string text = node.GetString("set_operation");
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text == "a-b") return SetOp::kAMinusB;
  if (text == "b-a") return SetOp::kBMinusA;
  if (text == "intersection") return SetOp::kIntersection;
  if (text == "union") return SetOp::kUnion;
  return MakeError("set_operation '{0}' is not a-b, b-a, intersection or union", text);
}

// Sets by the index of their group: all dimensions but the last. Empty sets may be absent.
template <typename T>
struct Sets {
  Dims groups;
  std::map<std::vector<int64_t>, std::vector<T>> at;

  void Sort() {
    for (auto& entry : at) {
      std::vector<T>& set = entry.second;
      std::sort(set.begin(), set.end());
      set.erase(std::unique(set.begin(), set.end()), set.end());
    }
  }
};

template <typename T>
Expected<Sets<T>> ReadDense(const Tensor& tensor) {
  if (tensor.rank() < 2)
    return MakeError("sets must have rank 2 or more, not shape {0}", DimsText(tensor.dims()));
  Sets<T> sets;
  sets.groups.assign(tensor.dims().begin(), tensor.dims().end() - 1);
  int64_t size = tensor.dim(tensor.rank() - 1), count = NumElements(sets.groups).value_or(0);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> group(sets.groups.size());
    int64_t rest = i;
    for (size_t d = group.size(); d-- > 0; rest /= sets.groups[d]) group[d] = rest % sets.groups[d];
    const T* from = tensor.data<T>() + i * size;
    sets.at[group].assign(from, from + size);
  }
  sets.Sort();
  return sets;
}

// Reads a sparse tensor from inputs `first`, first + 1 and first + 2.
template <typename T>
Expected<Sets<T>> ReadSparse(const KernelContext& ctx, int first, bool validate) {
  const Tensor &indices = ctx.input(first), &values = ctx.input(first + 1),
               &shape = ctx.input(first + 2);
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, shape));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(shape));
  if (dims.size() < 2)
    return MakeError("sets must have rank 2 or more, not shape {0}", DimsText(dims));
  RETURN_IF_ERROR(CheckSparseIndices(indices, dims, validate));
  Sets<T> sets;
  sets.groups.assign(dims.begin(), dims.end() - 1);
  int64_t depth = static_cast<int64_t>(dims.size());
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    const int64_t* row = indices.data<int64_t>() + i * depth;
    sets.at[std::vector<int64_t>(row, row + depth - 1)].push_back(values.data<T>()[i]);
  }
  sets.Sort();
  return sets;
}

template <typename T>
std::vector<T> Combined(SetOp op, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> out;
  auto to = std::back_inserter(out);
  if (op == SetOp::kAMinusB) std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to);
  if (op == SetOp::kBMinusA) std::set_difference(b.begin(), b.end(), a.begin(), a.end(), to);
  if (op == SetOp::kIntersection) std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to);
  if (op == SetOp::kUnion) std::set_union(a.begin(), a.end(), b.begin(), b.end(), to);
  return out;
}

template <typename T>
Error Store(KernelContext& ctx, const Sets<T>& sets) {
  int64_t total = 0, largest = 0, depth = static_cast<int64_t>(sets.groups.size()) + 1;
  for (const auto& entry : sets.at) {
    int64_t size = static_cast<int64_t>(entry.second.size());
    total += size;
    largest = std::max(largest, size);
  }
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(0, {total, depth}));
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(1, {total}));
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(2, {depth}));
  std::copy(sets.groups.begin(), sets.groups.end(), shape->data<int64_t>());
  shape->data<int64_t>()[depth - 1] = largest;
  int64_t at = 0;
  for (const auto& entry : sets.at) {
    for (size_t i = 0; i < entry.second.size(); ++i, ++at) {
      int64_t* row = indices->data<int64_t>() + at * depth;
      std::copy(entry.first.begin(), entry.first.end(), row);
      row[depth - 1] = static_cast<int64_t>(i);
      values->data<T>()[at] = entry.second[i];
    }
  }
  return Error::success();
}

// `first` and `second` are how many input tensors each operand has: 1 if dense, 3 if sparse.
template <typename T, int first, int second>
Error SetOperation(KernelContext& ctx, SetOp op, bool validate) {
  Sets<T> a, b;
  if constexpr (first == 1) {
    ASSIGN_OR_RETURN(a, ReadDense<T>(ctx.input(0)));
  } else {
    ASSIGN_OR_RETURN(a, ReadSparse<T>(ctx, 0, validate));
  }
  if constexpr (second == 1) {
    ASSIGN_OR_RETURN(b, ReadDense<T>(ctx.input(first)));
  } else {
    ASSIGN_OR_RETURN(b, ReadSparse<T>(ctx, first, validate));
  }
  if (a.groups != b.groups)
    return MakeError(
        "both operands must agree in all dimensions but the last: without it, their shapes are {0} "
        "and {1}",
        DimsText(a.groups), DimsText(b.groups));
  Sets<T> result;
  result.groups = a.groups;
  for (const auto& entry : a.at)
    result.at[entry.first] = Combined(op, entry.second, b.at[entry.first]);
  for (const auto& entry : b.at) {
    if (!a.at.count(entry.first)) result.at[entry.first] = Combined(op, {}, entry.second);
  }
  return Store(ctx, result);
}

template <int first, int second>
Expected<KernelFn> MakeSetOperation(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(SetOp op, ReadSetOp(setup.node()));
  bool validate = setup.node().GetBool("validate_indices", true);
  KernelFn fn;
  ForType(setup.output_type(1), SetTypes(), [&](auto tag) {
    fn = [op, validate](KernelContext& ctx) {
      return SetOperation<typename decltype(tag)::type, first, second>(ctx, op, validate);
    };
    return true;
  });
  return fn;
}

template <typename T>
Error SetSize(KernelContext& ctx, bool validate) {
  ASSIGN_OR_RETURN(Sets<T> sets, ReadSparse<T>(ctx, 0, validate));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, sets.groups));
  std::fill_n(out->data<int32_t>(), out->num_elements(), 0);
  Dims strides = RowMajorStrides(sets.groups);
  for (const auto& entry : sets.at) {
    int64_t at = 0;
    for (size_t d = 0; d < strides.size(); ++d) at += entry.first[d] * strides[d];
    out->data<int32_t>()[at] = static_cast<int32_t>(entry.second.size());
  }
  return Error::success();
}

Expected<KernelFn> MakeSetSize(const KernelSetup& setup) {
  bool validate = setup.node().GetBool("validate_indices", true);
  KernelFn fn;
  ForType(setup.input_type(1), SetTypes(), [&](auto tag) {
    fn = [validate](KernelContext& ctx) {
      return SetSize<typename decltype(tag)::type>(ctx, validate);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("DenseToDenseSetOperation", (MakeSetOperation<1, 1>),
                   OfTypes("T", DataTypesOf(SetTypes())));
GRAPNEL_CPU_KERNEL("DenseToSparseSetOperation", (MakeSetOperation<1, 3>),
                   OfTypes("T", DataTypesOf(SetTypes())));
GRAPNEL_CPU_KERNEL("SparseToSparseSetOperation", (MakeSetOperation<3, 3>),
                   OfTypes("T", DataTypesOf(SetTypes())));
GRAPNEL_CPU_KERNEL("SetSize", MakeSetSize, OfTypes("T", DataTypesOf(SetTypes())));

}  // namespace
}  // namespace grapnel
