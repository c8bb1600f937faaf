// EditDistance: the minimum number of insertions, deletions and substitutions between sequences,
// which are rows of two sparse tensors.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/sparse/sparse_indices.h"

namespace grapnel {
namespace {

// The elements of each sequence, by the output position of its distance.
using Sequences = std::map<int64_t, std::vector<int64_t>>;

Sequences SequencesOf(const Tensor& indices, llvm::ArrayRef<int64_t> strides) {
  Sequences sequences;
  int64_t depth = indices.dim(1);
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d + 1 < depth; ++d)
      at += indices.data<int64_t>()[i * depth + d] * strides[d];
    sequences[at].push_back(i);
  }
  return sequences;
}

// Keeps one row of the distance table at a time. NaN does not equal NaN.
template <typename T>
int64_t Distance(const Tensor& a, llvm::ArrayRef<int64_t> left, const Tensor& b,
                 llvm::ArrayRef<int64_t> right) {
  std::vector<int64_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < left.size(); ++i) {
    int64_t corner = row[0]++;
    for (size_t j = 0; j < right.size(); ++j) {
      int64_t changed = corner + (a.data<T>()[left[i]] == b.data<T>()[right[j]] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, corner + 1});
    }
  }
  return row.back();
}

using DistanceFn = int64_t (*)(const Tensor&, llvm::ArrayRef<int64_t>, const Tensor&,
                               llvm::ArrayRef<int64_t>);

DistanceFn DistanceOf(DataType dtype) {
  return ForType(dtype, Join<NumberTypes, TypeList<bool, std::string>>(),
                 [](auto tag) -> DistanceFn { return &Distance<typename decltype(tag)::type>; });
}

float Scaled(int64_t distance, size_t truth, bool normalize) {
  if (!normalize || distance == 0) return static_cast<float>(distance);
  if (truth == 0) return std::numeric_limits<float>::infinity();
  return static_cast<float>(distance) / static_cast<float>(truth);
}

Error EditDistance(KernelContext& ctx, DistanceFn distance, bool normalize) {
  const Tensor &guess = ctx.input(1), &truth = ctx.input(4);
  RETURN_IF_ERROR(CheckSparseTensor(ctx.input(0), &guess, ctx.input(2)));
  RETURN_IF_ERROR(CheckSparseTensor(ctx.input(3), &truth, ctx.input(5)));
  ASSIGN_OR_RETURN(Dims guess_dims, ShapeFrom(ctx.input(2)));
  ASSIGN_OR_RETURN(Dims truth_dims, ShapeFrom(ctx.input(5)));
  if (guess_dims.size() != truth_dims.size() || guess_dims.empty())
    return MakeError("hypothesis and truth must be of one rank, at least 1, got shapes {0} and {1}",
                     DimsText(guess_dims), DimsText(truth_dims));
  RETURN_IF_ERROR(CheckSparseIndices(ctx.input(0), guess_dims, false));
  RETURN_IF_ERROR(CheckSparseIndices(ctx.input(3), truth_dims, false));
  Dims dims;
  for (size_t d = 0; d + 1 < guess_dims.size(); ++d)
    dims.push_back(std::max(guess_dims[d], truth_dims[d]));
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  std::fill_n(out->data<float>(), out->num_elements(), 0.f);
  Dims strides = RowMajorStrides(dims);
  Sequences guesses = SequencesOf(ctx.input(0), strides);
  Sequences truths = SequencesOf(ctx.input(3), strides);
  for (const auto& [at, right] : truths) {
    auto it = guesses.find(at);
    llvm::ArrayRef<int64_t> left;
    if (it != guesses.end()) left = it->second;
    out->data<float>()[at] = Scaled(distance(guess, left, truth, right), right.size(), normalize);
  }
  for (const auto& [at, left] : guesses) {
    if (truths.count(at) == 0)
      out->data<float>()[at] = Scaled(static_cast<int64_t>(left.size()), 0, normalize);
  }
  return Error::success();
}

Expected<KernelFn> MakeEditDistance(const KernelSetup& setup) {
  bool normalize = setup.node().GetBool("normalize", true);
  if (setup.input_type(1) != setup.input_type(4))
    return MakeError("hypothesis and truth must have the same dtype, got {0} and {1}",
                     DataTypeName(setup.input_type(1)), DataTypeName(setup.input_type(4)));
  DistanceFn distance = DistanceOf(setup.input_type(1));
  if (!distance) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(1)));
  return KernelFn([=](KernelContext& ctx) { return EditDistance(ctx, distance, normalize); });
}

GRAPNEL_CPU_KERNEL("EditDistance", MakeEditDistance);

}  // namespace
}  // namespace grapnel
