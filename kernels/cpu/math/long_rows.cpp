#include "kernels/cpu/math/long_rows.h"

#include <algorithm>

namespace grapnel {
namespace {

// In rows of fewer elements than this, the call for each row costs more than the arithmetic.
constexpr int64_t kLongRow = 1024;
// For rows shorter than this, writing an operand out as longer rows is faster than a call for each
// row, even if the copy is read only once.
constexpr int64_t kShortRow = 64;
constexpr size_t kLargestElement = 16;

template <typename E>
E* WriteOutAs(const E* from, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides,
              E* to) {
  int64_t n = sizes[0], stride = strides[0];
  if (sizes.size() == 1) return stride == 0 ? std::fill_n(to, n, *from) : std::copy_n(from, n, to);
  E* first = to;
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0 && stride == 0)
      to = std::copy(first, first + (to - first) / i, to);
    else
      to = WriteOutAs(from + i * stride, sizes.drop_front(), strides.drop_front(), to);
  }
  return to;
}

struct Bytes16 {
  uint64_t low, high;
};

}  // namespace

std::optional<LongRows> LongRows::Of(const BroadcastPlan& plan, DataType dtype) {
  size_t element = DataTypeSize(dtype), rank = plan.sizes.size();
  bool has_size = element == 1 || element == 2 || element == 4 || element == 8 || element == 16;
  if (!has_size || dtype == proto::DT_STRING || Tensor::IsObject(dtype)) return std::nullopt;
  int64_t row = plan.sizes.back();
  if (rank < 2 || row >= kLongRow / 2 || plan.total < 4 * row) return std::nullopt;
  LongRows rows;
  rows.element_ = element;
  rows.sizes_ = plan.sizes;
  size_t inside = rank - 1;
  rows.width_ = row;
  while (inside > 1 && rows.width_ * plan.sizes[inside - 1] <= kLongRow)
    rows.width_ *= plan.sizes[--inside];
  rows.split_ = inside - 1;
  rows.times_ = std::clamp<int64_t>(kLongRow / rows.width_, 1, plan.sizes[rows.split_]);
  for (int k = 0; k < 2; ++k) {
    const BroadcastPlan::Sizes& strides = plan.strides[k];
    rows.strides_[k] = strides;
    bool dense = true;
    int64_t dense_stride = 1;
    for (size_t d = rank; d-- > rows.split_; dense_stride *= plan.sizes[d])
      dense &= strides[d] == dense_stride;
    rows.is_dense_[k] = dense;
    if (!dense && strides[rows.split_] != 0 && row >= kShortRow) return std::nullopt;
  }
  return rows;
}

void LongRows::WriteOut(int operand, const char* from, int64_t times, char* to) const {
  BroadcastPlan::Sizes sizes(sizes_.begin() + split_, sizes_.end());
  llvm::ArrayRef<int64_t> strides = llvm::ArrayRef<int64_t>(strides_[operand]).drop_front(split_);
  sizes[0] = times;
  auto write = [&](auto zero) {
    using E = decltype(zero);
    WriteOutAs(reinterpret_cast<const E*>(from), sizes, strides, reinterpret_cast<E*>(to));
  };
  switch (element_) {
    case 1:
      return write(uint8_t());
    case 2:
      return write(uint16_t());
    case 4:
      return write(uint32_t());
    case 8:
      return write(uint64_t());
    default:
      return write(Bytes16());
  }
}

void LongRows::ForRows(
    int64_t begin, int64_t end, const void* left, const void* right,
    llvm::function_ref<void(int64_t, const void*, const void*, int64_t)> row) const {
  alignas(64) char memory[2][kLongRow * kLargestElement];
  int64_t written[2] = {-1, -1};  // offset of the data in `memory`, if it can be reused
  const char* operands[2] = {static_cast<const char*>(left), static_cast<const char*>(right)};
  while (begin < end) {
    int64_t i = begin % sizes_[split_], n = std::min({times_, end - begin, sizes_[split_] - i});
    const char* at[2];
    for (int k = 0; k < 2; ++k) {
      int64_t offset = i * strides_[k][split_];
      for (int64_t rest = begin / sizes_[split_], d = static_cast<int64_t>(split_); d-- > 0;) {
        offset += rest % sizes_[d] * strides_[k][d];
        rest /= sizes_[d];
      }
      at[k] = operands[k] + offset * static_cast<int64_t>(element_);
      if (is_dense_[k]) continue;
      bool repeats = strides_[k][split_] == 0;
      if (!repeats || written[k] != offset) {
        WriteOut(k, at[k], repeats ? times_ : n, memory[k]);
        written[k] = repeats ? offset : -1;
      }
      at[k] = memory[k];
    }
    row(begin * width_, at[0], at[1], n * width_);
    begin += n;
  }
}

}  // namespace grapnel
