// Bands of diagonals: MatrixDiagV2 and V3, MatrixDiagPartV2 and V3, MatrixSetDiag and its versions.
// A band is stored as a matrix with one row per diagonal, the uppermost first, as long as the
// longest; shorter ones are aligned to the left or right end.
#include <algorithm>
#include <array>

#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

// Elements of equal size are moved by the same code.
template <typename F>
void ForElementSize(DataType dtype, F&& f) {
  switch (DataTypeSize(dtype)) {
    case 1:
      return f(uint8_t());
    case 2:
      return f(uint16_t());
    case 4:
      return f(uint32_t());
    case 8:
      return f(uint64_t());
    default:
      return f(std::array<uint64_t, 2>());
  }
}

struct Alignment {
  bool super_left = true, sub_left = true;  // the end that super- and subdiagonals are aligned to
};

Expected<Alignment> ReadAlignment(const Node& node) {
  bool v3 = node.op().take_back(2) == "V3";
  std::string text = node.GetString("align", v3 ? "RIGHT_LEFT" : "LEFT_LEFT");
  for (const char* known : {"LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"}) {
    if (text == known)
      return Alignment{text.compare(0, 5, "LEFT_") == 0, text.substr(text.size() - 5) == "_LEFT"};
  }
  return MakeError("align '{0}' is not LEFT_RIGHT, RIGHT_LEFT, LEFT_LEFT or RIGHT_RIGHT", text);
}

struct Band {
  int64_t rows = 0, columns = 0, lower = 0, upper = 0, longest = 0;
  Alignment align;

  int64_t diagonals() const { return upper - lower + 1; }
  int64_t LengthOf(int64_t d) const {
    return std::min(rows + std::min<int64_t>(d, 0), columns - std::max<int64_t>(d, 0));
  }
  // The offset of the diagonal's first element in its stored row.
  int64_t OffsetOf(int64_t d) const {
    bool left = (d >= 0 && align.super_left) || (d <= 0 && align.sub_left);
    return left ? 0 : longest - LengthOf(d);
  }
  void FindLongest() {
    longest = std::min(rows + std::min<int64_t>(upper, 0), columns - std::max<int64_t>(lower, 0));
  }
};

// Reads input `at` as k: one diagonal, or the first and the last.
Error ReadBand(const KernelContext& ctx, int at, Band& band) {
  const Tensor& k = ctx.input(at);
  if (k.rank() > 1 || k.num_elements() < 1 || k.num_elements() > 2)
    return MakeError("k must be a scalar or a vector of one or two numbers, got shape {0}",
                     DimsText(k.dims()));
  band.lower = k.IntAt(0);
  band.upper = k.IntAt(k.num_elements() - 1);
  if (band.lower > band.upper)
    return MakeError("k's first diagonal {0} is above its last {1}", band.lower, band.upper);
  return Error::success();
}

Error CheckBandFits(const Band& band) {
  for (int64_t d : {band.lower, band.upper}) {
    if (d != 0 && (d <= -band.rows || d >= band.columns))
      return MakeError("k must be 0 or between {0} and {1}, got {2}", 1 - band.rows,
                       band.columns - 1, d);
  }
  return Error::success();
}

// Calls f(index in the matrix, index in the stored band) for every element of the band. A band may
// extend far beyond the matrix, so diagonals outside it are skipped.
template <typename F>
void ForBand(const Band& band, F&& f) {
  int64_t first = std::max(band.lower, 1 - band.rows);
  int64_t last = std::min(band.upper, band.columns - 1);
  for (int64_t d = first; d <= last; ++d) {
    int64_t place = (band.upper - d) * band.longest + band.OffsetOf(d);
    int64_t element = std::max<int64_t>(-d, 0) * band.columns + std::max<int64_t>(d, 0);
    for (int64_t i = 0, n = band.LengthOf(d); i < n; ++i)
      f(element + i * (band.columns + 1), place + i);
  }
}

// --- MatrixDiag

// Reads num_rows and num_cols of the result; -1 means the smallest number that holds the band, or
// the smallest square if both are -1.
Error FindSize(KernelContext& ctx, Band& band) {
  for (int i : {2, 3, 4}) {
    if (ctx.input(i).num_elements() != 1)
      return MakeError("num_rows, num_cols and padding_value must have one element each");
  }
  int64_t min_rows = band.longest - std::min<int64_t>(band.upper, 0);
  int64_t min_columns = band.longest + std::max<int64_t>(band.lower, 0);
  int64_t rows = ctx.input(2).IntAt(0), columns = ctx.input(3).IntAt(0);
  if (rows != -1 && rows < min_rows)
    return MakeError("num_rows must be -1 or at least {0}, got {1}", min_rows, rows);
  if (columns != -1 && columns < min_columns)
    return MakeError("num_cols must be -1 or at least {0}, got {1}", min_columns, columns);
  if (rows == -1 && columns == -1) rows = columns = std::max(min_rows, min_columns);
  if (rows == -1) rows = min_rows;
  if (columns == -1) columns = min_columns;
  if (rows != min_rows && columns != min_columns)
    return MakeError(
        "num_rows must be {0} or num_cols {1} for diagonals of {2} elements, got {3} and {4}",
        min_rows, min_columns, band.longest, rows, columns);
  // Diagonals of the band outside the matrix are dropped.
  band.rows = rows;
  band.columns = columns;
  return Error::success();
}

Error MatrixDiag(KernelContext& ctx, Alignment align) {
  const Tensor& in = ctx.input(0);
  if (in.rank() < 1) return MakeError("diagonal must be at least a vector, got a scalar");
  Band band;
  band.align = align;
  RETURN_IF_ERROR(ReadBand(ctx, 1, band));
  bool several = band.diagonals() > 1;
  if (several && (in.rank() < 2 || in.dim(in.rank() - 2) != band.diagonals()))
    return MakeError("diagonal must have {0} rows for k = [{1},{2}], not shape {3}",
                     band.diagonals(), band.lower, band.upper, DimsText(in.dims()));
  band.longest = in.dim(in.rank() - 1);
  RETURN_IF_ERROR(FindSize(ctx, band));
  Dims dims(in.dims().begin(), in.dims().end() - (several ? 2 : 1));
  dims.append({band.rows, band.columns});
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  FillElements(ctx, in.dtype(), out->raw(), out->num_elements(), ctx.input(4).raw());
  int64_t matrix = band.rows * band.columns, stored = band.diagonals() * band.longest;
  ForElementSize(in.dtype(), [&](auto element) {
    using T = decltype(element);
    ctx.ParallelFor(out->num_elements() / matrix, 5.0 + stored, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* from = static_cast<const T*>(in.raw()) + i * stored;
        T* to = static_cast<T*>(out->raw()) + i * matrix;
        ForBand(band, [&](int64_t at, int64_t place) { to[at] = from[place]; });
      }
    });
  });
  return Error::success();
}

// --- MatrixDiagPart

Error MatrixDiagPart(KernelContext& ctx, Alignment align) {
  const Tensor &in = ctx.input(0), &padding = ctx.input(2);
  if (in.rank() < 2)
    return MakeError("input must be at least a matrix, got shape {0}", DimsText(in.dims()));
  if (padding.num_elements() != 1) return MakeError("padding_value must have one element");
  Band band;
  band.align = align;
  band.rows = in.dim(in.rank() - 2);
  band.columns = in.dim(in.rank() - 1);
  RETURN_IF_ERROR(ReadBand(ctx, 1, band));
  RETURN_IF_ERROR(CheckBandFits(band));
  band.FindLongest();
  Dims dims(in.dims().begin(), in.dims().end() - 2);
  if (band.diagonals() > 1) dims.push_back(band.diagonals());
  dims.push_back(band.longest);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  FillElements(ctx, in.dtype(), out->raw(), out->num_elements(), padding.raw());
  int64_t matrix = band.rows * band.columns, stored = band.diagonals() * band.longest;
  ForElementSize(in.dtype(), [&](auto element) {
    using T = decltype(element);
    ctx.ParallelFor(out->num_elements() / stored, 5.0 + stored, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* from = static_cast<const T*>(in.raw()) + i * matrix;
        T* to = static_cast<T*>(out->raw()) + i * stored;
        ForBand(band, [&](int64_t at, int64_t place) { to[place] = from[at]; });
      }
    });
  });
  return Error::success();
}

// --- MatrixSetDiag

Error MatrixSetDiag(KernelContext& ctx, Alignment align) {
  const Tensor &in = ctx.input(0), &diagonal = ctx.input(1);
  if (in.rank() < 2)
    return MakeError("input must be at least a matrix, got shape {0}", DimsText(in.dims()));
  Band band;
  band.align = align;
  band.rows = in.dim(in.rank() - 2);
  band.columns = in.dim(in.rank() - 1);
  if (ctx.num_inputs() > 2) RETURN_IF_ERROR(ReadBand(ctx, 2, band));
  RETURN_IF_ERROR(CheckBandFits(band));
  band.FindLongest();
  Dims expected(in.dims().begin(), in.dims().end() - 2);
  if (band.diagonals() > 1) expected.push_back(band.diagonals());
  expected.push_back(band.longest);
  if (diagonal.dims() != llvm::ArrayRef<int64_t>(expected))
    return MakeError("diagonal must have shape {0} for input {1}, got shape {2}",
                     DimsText(expected), DimsText(in.dims()), DimsText(diagonal.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
  if (out->num_elements() == 0) return Error::success();
  if (out->raw() != in.raw()) CopyElements(in.dtype(), in.raw(), out->raw(), in.num_elements());
  int64_t matrix = band.rows * band.columns, stored = band.diagonals() * band.longest;
  ForElementSize(in.dtype(), [&](auto element) {
    using T = decltype(element);
    ctx.ParallelFor(out->num_elements() / matrix, 5.0 + stored, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* from = static_cast<const T*>(diagonal.raw()) + i * stored;
        T* to = static_cast<T*>(out->raw()) + i * matrix;
        ForBand(band, [&](int64_t at, int64_t place) { to[at] = from[place]; });
      }
    });
  });
  return Error::success();
}

template <Error (*run)(KernelContext&, Alignment)>
Expected<KernelFn> MakeBand(const KernelSetup& setup) {
  if (setup.input_type(0) == proto::DT_STRING) return MakeError("no kernel for dtype string");
  ASSIGN_OR_RETURN(Alignment align, ReadAlignment(setup.node()));
  return KernelFn([align](KernelContext& ctx) { return run(ctx, align); });
}

GRAPNEL_CPU_KERNEL("MatrixDiagV2", MakeBand<MatrixDiag>);
GRAPNEL_CPU_KERNEL("MatrixDiagV3", MakeBand<MatrixDiag>);
GRAPNEL_CPU_KERNEL("MatrixDiagPartV2", MakeBand<MatrixDiagPart>);
GRAPNEL_CPU_KERNEL("MatrixDiagPartV3", MakeBand<MatrixDiagPart>);
GRAPNEL_CPU_KERNEL("MatrixSetDiag", MakeBand<MatrixSetDiag>);
GRAPNEL_CPU_KERNEL("MatrixSetDiagV2", MakeBand<MatrixSetDiag>);
GRAPNEL_CPU_KERNEL("MatrixSetDiagV3", MakeBand<MatrixSetDiag>);

}  // namespace
}  // namespace grapnel
