// DataFormatDimMap and DataFormatVecPermute: convert a dimension index, or one value per dimension,
// from one image layout to another. The layout optimizer inserts them.
#include <algorithm>

#include "kernels/common/indices.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

struct Formats {
  std::string from, to;
};

// Checks that both formats have the same 4 or 5 letters, each once.
Expected<Formats> ReadFormats(const KernelSetup& setup) {
  Formats formats{setup.node().GetString("src_format", "NHWC"),
                  setup.node().GetString("dst_format", "NCHW")};
  std::string a = formats.from, b = formats.to;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a != b || std::adjacent_find(a.begin(), a.end()) != a.end() ||
      (a.size() != 4 && a.size() != 5))
    return MakeError(
        "src_format and dst_format must have the same 4 or 5 letters, each once, got '{0}', '{1}'",
        formats.from, formats.to);
  return formats;
}

// Returns, for each position in `to`, its position in `from`.
std::vector<int64_t> SourceOf(llvm::StringRef from, llvm::StringRef to) {
  std::vector<int64_t> source;
  for (char letter : to) source.push_back(static_cast<int64_t>(from.find(letter)));
  return source;
}

Expected<KernelFn> MakeDimMap(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Formats formats, ReadFormats(setup));
  return KernelFn([map = SourceOf(formats.to, formats.from)](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    auto rank = static_cast<int32_t>(map.size());
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      // Values below -rank that are not multiples of the rank count as the last dimension, as in
      // TensorFlow.
      auto from = static_cast<int64_t>(static_cast<uint64_t>(in.IntAt(i)) + rank);
      if (in.dtype() == proto::DT_INT32) from = static_cast<int32_t>(from);
      from %= rank;
      PutIndex(*out, i, map[from < 0 ? rank - 1 : from]);
    }
    return Error::success();
  });
}

// The input has one value, or a pair of values (paddings), for each dimension or for each spatial
// dimension.
Expected<KernelFn> MakeVecPermute(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Formats formats, ReadFormats(setup));
  return KernelFn([formats](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    int64_t rank = static_cast<int64_t>(formats.from.size());
    if (in.rank() < 1 || in.rank() > 2 || (in.dim(0) != rank && in.dim(0) != rank - 2) ||
        (in.rank() == 2 && in.dim(1) != 2))
      return MakeError("expected {0} or {1} values or pairs of values, got shape {2}", rank,
                       rank - 2, DimsText(in.dims()));
    Formats of = formats;
    if (in.dim(0) != rank) {
      for (std::string* format : {&of.from, &of.to})
        std::erase_if(*format, [](char letter) { return letter == 'N' || letter == 'C'; });
    }
    if (static_cast<int64_t>(of.from.size()) != in.dim(0))
      return MakeError(
          "the input has {0} rows, none for N and C, but format '{1}' does not contain both",
          in.dim(0), formats.from);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    std::vector<int64_t> source = SourceOf(of.from, of.to);
    int64_t width = in.rank() == 2 ? 2 : 1;
    for (size_t i = 0; i < source.size(); ++i)
      CopyElements(in.dtype(), At(in, source[i] * width), At(*out, i * width), width);
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("DataFormatDimMap", MakeDimMap, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("DataFormatVecPermute", MakeVecPermute, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
