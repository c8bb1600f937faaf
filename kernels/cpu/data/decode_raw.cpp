// DecodeRaw and DecodePaddedRaw: interpret the bytes of strings as numbers.
#include <algorithm>
#include <cstring>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

using RawTypes = Join<NumberTypes, TypeList<bool>>;

// Reverses the byte order of each number; a complex number consists of two numbers.
void Reverse(Tensor& tensor) {
  int64_t size = static_cast<int64_t>(DataTypeSize(tensor.dtype()));
  if (IsComplex(tensor.dtype())) size /= 2;
  if (size < 2) return;
  char* bytes = static_cast<char*>(tensor.raw());
  for (char* end = bytes + tensor.byte_size(); bytes < end; bytes += size)
    std::reverse(bytes, bytes + size);
}

// Stores one row of `length` bytes per string: truncated, or padded with zeros.
Error StoreRows(KernelContext& ctx, int64_t length, bool little_endian) {
  const Tensor& in = ctx.input(0);
  Dims dims(in.dims().begin(), in.dims().end());
  dims.push_back(length / static_cast<int64_t>(DataTypeSize(ctx.output_type(0))));
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  char* to = static_cast<char*>(out->raw());
  ctx.ParallelFor(in.num_elements(), 20 + 0.1 * static_cast<double>(length),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      const std::string& text = in.data<std::string>()[i];
                      int64_t n = std::min<int64_t>(length, static_cast<int64_t>(text.size()));
                      std::memcpy(to + i * length, text.data(), n);
                      std::memset(to + i * length + n, 0, length - n);
                    }
                  });
  if (out->dtype() == proto::DT_BOOL) {
    // Any nonzero byte becomes true, because a bool must not hold another value.
    for (int64_t i = 0; i < out->num_elements(); ++i) to[i] = to[i] != 0;
  }
  if (!little_endian) Reverse(*out);
  return Error::success();
}

Expected<KernelFn> MakeDecodeRaw(const KernelSetup& setup) {
  bool little_endian = setup.node().GetBool("little_endian", true);
  return KernelFn([little_endian](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    DataType dtype = ctx.output_type(0);
    size_t length = in.num_elements() > 0 ? in.data<std::string>()[0].size() : 0;
    for (int64_t i = 1; i < in.num_elements(); ++i) {
      size_t size = in.data<std::string>()[i].size();
      if (size != length)
        return MakeError(
            "DecodeRaw requires input strings to all be the same size, but element {0} has size "
            "{1} != {2}",
            i, size, length);
    }
    if (length % DataTypeSize(dtype) != 0)
      return MakeError(
          "input to DecodeRaw has length {0} that is not a multiple of {1}, the size of {2}",
          length, DataTypeSize(dtype), DataTypeName(dtype));
    return StoreRows(ctx, static_cast<int64_t>(length), little_endian);
  });
}

Expected<KernelFn> MakeDecodePaddedRaw(const KernelSetup& setup) {
  bool little_endian = setup.node().GetBool("little_endian", true);
  return KernelFn([little_endian](KernelContext& ctx) -> Error {
    const Tensor& size = ctx.input(1);
    if (size.num_elements() != 1)
      return MakeError("fixed_length must have one element, got shape {0}", DimsText(size.dims()));
    int64_t length = size.IntAt(0);
    int64_t unit = static_cast<int64_t>(DataTypeSize(ctx.output_type(0)));
    if (length <= 0) return MakeError("fixed_length ({0}) must be greater than zero", length);
    if (length % unit != 0)
      return MakeError("fixed_length ({0}) must be a multiple of the size of out_type ({1})",
                       length, unit);
    return StoreRows(ctx, length, little_endian);
  });
}

GRAPNEL_CPU_KERNEL("DecodeRaw", MakeDecodeRaw, OfTypes("out_type", DataTypesOf(RawTypes())));
GRAPNEL_CPU_KERNEL("DecodePaddedRaw", MakeDecodePaddedRaw,
                   OfTypes("out_type", DataTypesOf(RawTypes())));

}  // namespace
}  // namespace grapnel
