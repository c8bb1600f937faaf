// SerializeTensor, ParseTensor and DecodeCompressed.
#include "kernels/cpu/array/tensor_message.h"

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "lib/ir/wire.h"
#include "lib/support/gzip.h"

namespace grapnel {
namespace {

// The size limit for expanding a single value to all elements: a few bytes can claim any shape.
constexpr int64_t kLargestSplat = int64_t{1} << 31;

}  // namespace

std::string TensorMessage(const Tensor& tensor, bool packed) {
  std::string shape, bytes;
  for (int64_t size : tensor.dims()) {
    std::string dim;
    if (size != 0) AppendVarintField(&dim, 1, static_cast<uint64_t>(size));
    AppendBytesField(&shape, 2, dim);
  }
  AppendVarintField(&bytes, 1, static_cast<uint64_t>(tensor.dtype()));
  AppendBytesField(&bytes, 2, shape);
  if (tensor.dtype() == proto::DT_STRING && packed) {
    std::string sizes, all;
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      AppendVarint(&sizes, tensor.data<std::string>()[i].size());
      all += tensor.data<std::string>()[i];
    }
    if (!sizes.empty()) AppendBytesField(&bytes, 4, sizes + all);
  } else if (tensor.dtype() == proto::DT_STRING) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      AppendBytesField(&bytes, 8, tensor.data<std::string>()[i]);
  } else if (tensor.byte_size() > 0) {
    AppendBytesField(&bytes, 4, {static_cast<const char*>(tensor.raw()), tensor.byte_size()});
  }
  return bytes;
}

Expected<Tensor> TensorOfMessage(llvm::StringRef bytes, Allocator& allocator) {
  auto literal = Literal::FromTensorProto(bytes);
  if (!literal) return Annotate("serialized is not a tensor", literal.takeError());
  if (Tensor::IsObject(literal->dtype()))
    return MakeError("tensors of dtype {0} cannot be parsed", DataTypeName(literal->dtype()));
  int64_t unit = static_cast<int64_t>(ElementSize(literal->dtype()));
  if (literal->is_splat() && literal->num_elements() > kLargestSplat / unit)
    return MakeError("serialized has one value for {0} elements, which would take more than 2 GiB",
                     literal->num_elements());
  ASSIGN_OR_RETURN(Tensor shared, Tensor::FromLiteral(*literal, allocator));
  // `shared` may point into `bytes`, which live no longer than this call.
  ASSIGN_OR_RETURN(Tensor copy, Tensor::Allocate(shared.dtype(), shared.dims(), allocator));
  CopyElements(shared.dtype(), shared.raw(), copy.raw(), shared.num_elements());
  return copy;
}

namespace {

Error ParseTensor(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.num_elements() != 1)
    return MakeError("serialized must have one element, got shape {0}", DimsText(in.dims()));
  ASSIGN_OR_RETURN(Tensor out, TensorOfMessage(*in.data<std::string>(), ctx.allocator()));
  if (out.dtype() != ctx.output_type(0))
    return MakeError("type mismatch between parsed tensor ({0}) and dtype ({1})",
                     DataTypeName(out.dtype()), DataTypeName(ctx.output_type(0)));
  ctx.SetOutput(0, std::move(out));
  return Error::success();
}

Error SerializeTensor(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.HoldsObjects())
    return MakeError("{0} cannot be serialized: its elements are objects, not values",
                     in.ToString(0));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<std::string>() = TensorMessage(in);
  return Error::success();
}

Expected<KernelFn> MakeDecodeCompressed(const KernelSetup& setup) {
  std::string kind = setup.node().GetString("compression_type");
  if (!kind.empty() && kind != "GZIP" && kind != "ZLIB")
    return MakeError("compression_type '{0}': only '', 'GZIP' and 'ZLIB' are supported", kind);
  return KernelFn([kind](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (kind.empty()) {
      ctx.SetOutput(0, in);
      return Error::success();
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      ASSIGN_OR_RETURN(Inflated inflated,
                       Inflate(in.data<std::string>()[i], ~size_t{0},
                               kind == "GZIP" ? Framing::kGzip : Framing::kZlib));
      if (!inflated.problem.empty()) return MakeError("element {0}: {1}", i, inflated.problem);
      out->data<std::string>()[i] = std::move(inflated.bytes);
    }
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("ParseTensor", KernelOf<ParseTensor>);
GRAPNEL_CPU_KERNEL("SerializeTensor", KernelOf<SerializeTensor>);
GRAPNEL_CPU_KERNEL("DecodeCompressed", MakeDecodeCompressed);

}  // namespace
}  // namespace grapnel
