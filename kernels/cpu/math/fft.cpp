// FFT, IFFT, RFFT and IRFFT over the last one, two or three dimensions, of any length.
#include <algorithm>
#include <vector>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/cpu/math/line_fft.h"

namespace grapnel {
namespace {

// Transforms every line along dimension `axis` in place. Strided lines are gathered several at a
// time, so that whole cache lines are read.
template <typename T>
void TransformLines(KernelContext& ctx, std::complex<T>* data, llvm::ArrayRef<int64_t> dims,
                    int axis, bool inverse) {
  constexpr int64_t kLines = 8;
  int64_t n = dims[axis], stride = RowMajorStrides(dims)[axis];
  int64_t outer = *NumElements(dims.take_front(axis)), groups = (stride + kLines - 1) / kLines;
  if (n < 2) return;
  ctx.ParallelFor(outer * groups, 20.0 * n * std::min(stride, kLines),
                  [&](int64_t begin, int64_t end) {
                    LineFft<T> fft(n);
                    std::vector<std::complex<T>> lines(n * kLines), result(n);
                    for (int64_t i = begin; i < end; ++i) {
                      int64_t first = i % groups * kLines, count = std::min(kLines, stride - first);
                      std::complex<T>* at = data + i / groups * n * stride + first;
                      for (int64_t k = 0; k < n; ++k) {
                        for (int64_t j = 0; j < count; ++j) lines[j * n + k] = at[k * stride + j];
                      }
                      for (int64_t j = 0; j < count; ++j) {
                        std::complex<T>* line = lines.data() + j * n;
                        if (inverse)
                          fft.Inverse(result.data(), line);
                        else
                          fft.Forward(result.data(), line);
                        for (int64_t k = 0; k < n; ++k) at[k * stride + j] = result[k];
                      }
                    }
                  });
}

// Reads fft_length: the number of elements to use in each of the last `rank` dimensions. A
// dimension must have at least as many elements (half plus one for the last dimension of an inverse
// real transform), or no elements, which count as zeros.
Expected<Dims> ReadLengths(const Tensor& in, const Tensor& tensor, int rank, bool inverse) {
  if (tensor.rank() != 1 || tensor.dim(0) != rank)
    return MakeError("fft_length must be a vector of {0} elements, got shape {1}", rank,
                     DimsText(tensor.dims()));
  Dims lengths = IntsOf(tensor);
  for (int i = 0; i < rank; ++i) {
    int64_t length = lengths[i], have = in.dim(in.rank() - rank + i);
    if (length < 0) return MakeError("fft_length must not be negative: {0}", IntsText(lengths));
    int64_t least = inverse && i == rank - 1 ? length / 2 + 1 : length;
    if (have != 0 && have < least)
      return MakeError(
          "dimension {0} of the input has {1} elements, none or at least {2} were expected",
          in.rank() - rank + i, have, least);
  }
  return lengths;
}

Error CheckRank(const Tensor& in, int rank) {
  if (in.rank() >= rank) return Error::success();
  return MakeError("the input must have rank {0} or more, not shape {1}", rank,
                   DimsText(in.dims()));
}

// Calls f(row, row of `from`) for rows [begin, end) of `dims` (a row is the last dimension). The
// row of `from` is -1 where a dimension of `from` is too short.
template <typename F>
void ForRows(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> from, int64_t begin, int64_t end,
             F&& f) {
  for (int64_t row = begin; row < end; ++row) {
    int64_t rest = row, source = 0, scale = 1;
    for (int d = static_cast<int>(dims.size()) - 2; d >= 0; --d) {
      int64_t at = rest % dims[d];
      rest /= dims[d];
      if (at >= from[d]) source = -1;
      if (source >= 0) source += at * scale;
      scale *= from[d];
    }
    f(row, source);
  }
}

template <typename T>
Error ComplexFft(KernelContext& ctx, int rank, bool inverse) {
  const Tensor& in = ctx.input(0);
  RETURN_IF_ERROR(CheckRank(in, rank));
  Dims dims(in.dims().begin(), in.dims().end());
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, dims));
  if (out->num_elements() == 0) return Error::success();
  using Complex = std::complex<T>;
  if (out->raw() != ctx.input(0).raw())
    std::copy_n(ctx.input(0).data<Complex>(), out->num_elements(), out->data<Complex>());
  for (int i = 1; i <= rank; ++i)
    TransformLines<T>(ctx, out->data<Complex>(), dims, static_cast<int>(dims.size()) - i, inverse);
  return Error::success();
}

// Half of a real transform determines the rest: the last dimension has n / 2 + 1 results.
template <typename T>
Error RealFft(KernelContext& ctx, int rank) {
  const Tensor& in = ctx.input(0);
  RETURN_IF_ERROR(CheckRank(in, rank));
  ASSIGN_OR_RETURN(Dims lengths, ReadLengths(in, ctx.input(1), rank, false));
  Dims dims(in.dims().begin(), in.dims().end() - rank);
  dims.append(lengths.begin(), lengths.end());
  int64_t n = lengths.back(), half = n == 0 ? 0 : n / 2 + 1;
  dims.back() = half;
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  using Complex = std::complex<T>;
  const T* from = in.data<T>();
  int64_t width = in.dim(in.rank() - 1), used = std::min(width, n);
  ctx.ParallelFor(out->num_elements() / half, 20.0 * n, [&](int64_t begin, int64_t end) {
    LineFft<T> fft(n);
    std::vector<T> line(n);
    ForRows(dims, in.dims(), begin, end, [&](int64_t row, int64_t source) {
      Complex* to = out->data<Complex>() + row * half;
      if (source < 0) {
        std::fill_n(to, half, Complex(0));
        return;
      }
      std::copy_n(from + source * width, used, line.begin());
      if (n == 1)
        to[0] = Complex(line[0]);
      else
        fft.ForwardReal(to, line.data());
    });
  });
  for (int i = 2; i <= rank; ++i)
    TransformLines<T>(ctx, out->data<Complex>(), dims, static_cast<int>(dims.size()) - i, false);
  return Error::success();
}

template <typename T>
Error InverseRealFft(KernelContext& ctx, int rank) {
  const Tensor& in = ctx.input(0);
  RETURN_IF_ERROR(CheckRank(in, rank));
  ASSIGN_OR_RETURN(Dims lengths, ReadLengths(in, ctx.input(1), rank, true));
  Dims dims(in.dims().begin(), in.dims().end() - rank);
  dims.append(lengths.begin(), lengths.end());
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  using Complex = std::complex<T>;
  int64_t n = lengths.back(), half = n / 2 + 1;
  int64_t width = in.dim(in.rank() - 1), used = std::min(width, half);
  Dims halves = dims;
  halves.back() = half;
  ASSIGN_OR_RETURN(Tensor work, ctx.Scratch(in.dtype(), halves));
  Complex* lines = work.data<Complex>();
  int64_t rows = work.num_elements() / half;
  ctx.ParallelFor(rows, half, [&](int64_t begin, int64_t end) {
    ForRows(halves, in.dims(), begin, end, [&](int64_t row, int64_t source) {
      Complex* to = lines + row * half;
      std::fill_n(to, half, Complex(0));
      if (source >= 0) std::copy_n(in.data<Complex>() + source * width, used, to);
    });
  });
  for (int i = 2; i <= rank; ++i)
    TransformLines<T>(ctx, lines, halves, static_cast<int>(dims.size()) - i, true);
  ctx.ParallelFor(rows, 20.0 * n, [&](int64_t begin, int64_t end) {
    LineFft<T> fft(n);
    for (int64_t row = begin; row < end; ++row) {
      T* to = out->data<T>() + row * n;
      if (n == 1)
        *to = lines[row * half].real();
      else
        fft.InverseReal(to, lines + row * half);
    }
  });
  return Error::success();
}

enum class Kind { kForward, kInverse, kReal, kInverseReal };

template <Kind kind, int rank>
Expected<KernelFn> MakeFft(const KernelSetup& setup) {
  bool is_double =
      setup.input_type(0) == proto::DT_DOUBLE || setup.input_type(0) == proto::DT_COMPLEX128;
  bool wide_out =
      setup.output_type(0) == proto::DT_DOUBLE || setup.output_type(0) == proto::DT_COMPLEX128;
  if (is_double != wide_out)
    return MakeError("cannot transform {0} to {1}: both must have the same precision",
                     DataTypeName(setup.input_type(0)), DataTypeName(setup.output_type(0)));
  return KernelFn([is_double](KernelContext& ctx) {
    if constexpr (kind == Kind::kReal)
      return is_double ? RealFft<double>(ctx, rank) : RealFft<float>(ctx, rank);
    else if constexpr (kind == Kind::kInverseReal)
      return is_double ? InverseRealFft<double>(ctx, rank) : InverseRealFft<float>(ctx, rank);
    else
      return is_double ? ComplexFft<double>(ctx, rank, kind == Kind::kInverse)
                       : ComplexFft<float>(ctx, rank, kind == Kind::kInverse);
  });
}

#define GRAPNEL_FFT(suffix, rank)                                     \
  GRAPNEL_CPU_KERNEL("FFT" suffix, (MakeFft<Kind::kForward, rank>));  \
  GRAPNEL_CPU_KERNEL("IFFT" suffix, (MakeFft<Kind::kInverse, rank>)); \
  GRAPNEL_CPU_KERNEL("RFFT" suffix, (MakeFft<Kind::kReal, rank>));    \
  GRAPNEL_CPU_KERNEL("IRFFT" suffix, (MakeFft<Kind::kInverseReal, rank>))
GRAPNEL_FFT("", 1);
GRAPNEL_FFT("2D", 2);
GRAPNEL_FFT("3D", 3);

}  // namespace
}  // namespace grapnel
