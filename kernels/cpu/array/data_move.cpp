#include "kernels/cpu/array/data_move.h"

#include <algorithm>
#include <cstring>

namespace grapnel {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

// A rows x cols part of a copy. Strides are in elements.
struct Plane {
  const void* from;
  void* to;
  int64_t rows, cols;
  int64_t from_row, from_col, to_row, to_col;
};

template <typename E>
void CopyRun(const E* from, E* to, int64_t n) {
  if constexpr (std::is_trivially_copyable_v<E>)
    std::memcpy(to, from, n * sizeof(E));
  else
    std::copy(from, from + n, to);
}

template <typename E>
void CopyPlane(const Plane& p) {
  const E* from = static_cast<const E*>(p.from);
  E* to = static_cast<E*>(p.to);
  if (p.from_col == 1 && p.to_col == 1) {
    for (int64_t i = 0; i < p.rows; ++i) CopyRun(from + i * p.from_row, to + i * p.to_row, p.cols);
    return;
  }
  if (p.from_row != 1) {
    for (int64_t i = 0; i < p.rows; ++i) {
      const E* source = from + i * p.from_row;
      E* target = to + i * p.to_row;
      for (int64_t j = 0; j < p.cols; ++j) target[j * p.to_col] = source[j * p.from_col];
    }
    return;
  }
  // A transpose: traverses source and destination in blocks that fit the L1 cache.
  constexpr int64_t kBlock = 16;
  for (int64_t i0 = 0; i0 < p.rows; i0 += kBlock) {
    int64_t i1 = std::min(i0 + kBlock, p.rows);
    for (int64_t j0 = 0; j0 < p.cols; j0 += kBlock) {
      int64_t j1 = std::min(j0 + kBlock, p.cols);
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j)
          to[i * p.to_row + j * p.to_col] = from[i + j * p.from_col];
      }
    }
  }
}

template <typename E>
void FillRun(void* to, int64_t n, const void* value) {
  E element = *static_cast<const E*>(value);
  std::fill_n(static_cast<E*>(to), n, element);
}

using PlaneFn = void (*)(const Plane&);
PlaneFn PlaneFor(DataType dtype) {
  if (Tensor::IsObject(dtype)) return CopyPlane<ObjectRef>;
  switch (DataTypeSize(dtype)) {
    case 1:
      return CopyPlane<uint8_t>;
    case 2:
      return CopyPlane<uint16_t>;
    case 4:
      return CopyPlane<uint32_t>;
    case 8:
      return CopyPlane<uint64_t>;
    case 16:
      return CopyPlane<Bytes16>;
    default:
      return CopyPlane<std::string>;
  }
}

// The dimensions of a copy, without sizes of 1 and with neighbors merged, but at least two.
struct Walk {
  llvm::SmallVector<int64_t, 8> sizes, from, to;
};

Walk Merge(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> from,
           llvm::ArrayRef<int64_t> to) {
  Walk walk;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if (!walk.sizes.empty() && walk.from.back() == from[d] * sizes[d] &&
        walk.to.back() == to[d] * sizes[d]) {
      walk.sizes.back() *= sizes[d];
      walk.from.back() = from[d];
      walk.to.back() = to[d];
      continue;
    }
    walk.sizes.push_back(sizes[d]);
    walk.from.push_back(from[d]);
    walk.to.push_back(to[d]);
  }
  while (walk.sizes.size() < 2) {
    walk.sizes.insert(walk.sizes.begin(), 1);
    walk.from.insert(walk.from.begin(), 0);
    walk.to.insert(walk.to.begin(), 0);
  }
  // The last two dimensions are the rows and columns of a plane. If the source is contiguous along
  // a dimension before them, that dimension trades places with the rows, so that CopyPlane() can
  // transpose in blocks.
  size_t last = walk.sizes.size() - 1;
  if (walk.from[last] != 1) {
    for (size_t d = 0; d + 1 < last; ++d) {
      if (walk.from[d] != 1) continue;
      std::swap(walk.sizes[d], walk.sizes[last - 1]);
      std::swap(walk.from[d], walk.from[last - 1]);
      std::swap(walk.to[d], walk.to[last - 1]);
    }
  }
  return walk;
}

}  // namespace

size_t ElementSize(DataType dtype) {
  if (dtype == proto::DT_STRING) return sizeof(std::string);
  return Tensor::IsObject(dtype) ? sizeof(ObjectRef) : DataTypeSize(dtype);
}

void CopyStrided(KernelContext& ctx, DataType dtype, llvm::ArrayRef<int64_t> sizes,
                 const void* from, llvm::ArrayRef<int64_t> from_strides, void* to,
                 llvm::ArrayRef<int64_t> to_strides) {
  if (llvm::is_contained(sizes, 0)) return;
  Walk walk = Merge(sizes, from_strides, to_strides);
  int64_t size = ElementSize(dtype);
  int planes = static_cast<int>(walk.sizes.size()) - 2;  // number of dimensions outside a plane
  int64_t rows = walk.sizes[planes], cols = walk.sizes[planes + 1], total = rows;
  for (int d = 0; d < planes; ++d) total *= walk.sizes[d];
  PlaneFn copy = PlaneFor(dtype);
  bool dense = walk.from[planes + 1] == 1 && walk.to[planes + 1] == 1;
  double element_cost = dtype == proto::DT_STRING ? 20 : dense ? size * 0.08 : 0.5 + size * 0.1;
  auto run = [&](int64_t begin, int64_t end, int64_t first_col, int64_t num_cols) {
    while (begin < end) {
      int64_t row = begin % rows, n = std::min(rows - row, end - begin);
      int64_t from_at = row * walk.from[planes] + first_col * walk.from[planes + 1];
      int64_t to_at = row * walk.to[planes] + first_col * walk.to[planes + 1];
      for (int64_t rest = begin / rows, d = planes; d-- > 0;) {
        from_at += rest % walk.sizes[d] * walk.from[d];
        to_at += rest % walk.sizes[d] * walk.to[d];
        rest /= walk.sizes[d];
      }
      copy({static_cast<const char*>(from) + from_at * size, static_cast<char*>(to) + to_at * size,
            n, num_cols, walk.from[planes], walk.from[planes + 1], walk.to[planes],
            walk.to[planes + 1]});
      begin += n;
    }
  };
  if (total == 1) {
    ctx.ParallelFor(cols, element_cost,
                    [&](int64_t begin, int64_t end) { run(0, 1, begin, end - begin); });
  } else {
    ctx.ParallelFor(total, cols * element_cost + 3,
                    [&](int64_t begin, int64_t end) { run(begin, end, 0, cols); });
  }
}

void CopyElements(DataType dtype, const void* from, void* to, int64_t n) {
  if (n <= 0) return;
  if (dtype == proto::DT_STRING) {
    CopyRun(static_cast<const std::string*>(from), static_cast<std::string*>(to), n);
  } else if (Tensor::IsObject(dtype)) {
    CopyRun(static_cast<const ObjectRef*>(from), static_cast<ObjectRef*>(to), n);
  } else {
    std::memcpy(to, from, n * DataTypeSize(dtype));
  }
}

void FillElements(KernelContext& ctx, DataType dtype, void* to, int64_t n, const void* value) {
  int64_t size = ElementSize(dtype);
  using Fill = void (*)(void*, int64_t, const void*);
  Fill fill = Tensor::IsObject(dtype) ? FillRun<ObjectRef> : FillRun<std::string>;
  switch (DataTypeSize(dtype)) {
    case 1:
      fill = FillRun<uint8_t>;
      break;
    case 2:
      fill = FillRun<uint16_t>;
      break;
    case 4:
      fill = FillRun<uint32_t>;
      break;
    case 8:
      fill = FillRun<uint64_t>;
      break;
    case 16:
      fill = FillRun<Bytes16>;
      break;
  }
  ctx.ParallelFor(n, dtype == proto::DT_STRING ? 20 : size * 0.05, [&](int64_t begin, int64_t end) {
    fill(static_cast<char*>(to) + begin * size, end - begin, value);
  });
}

}  // namespace grapnel
