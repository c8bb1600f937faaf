// Reads fused_ops and the arguments that belong to it; converts 16-bit floats to floats and back.
#include "kernels/common/fused_ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {

Expected<Tensor> Widened(KernelContext& ctx, const Tensor& tensor) {
  ASSIGN_OR_RETURN(Tensor wide, ctx.Scratch(proto::DT_FLOAT, tensor.dims()));
  float* out = wide.data<float>();
  ctx.ParallelFor(tensor.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
    if (tensor.dtype() == proto::DT_HALF) {
      Widen(tensor.data<Eigen::half>() + begin, out + begin, end - begin);
    } else {
      Widen(tensor.data<Eigen::bfloat16>() + begin, out + begin, end - begin);
    }
  });
  return wide;
}

void NarrowInto(KernelContext& ctx, const float* in, Tensor& out) {
  ctx.ParallelFor(out.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
    if (out.dtype() == proto::DT_HALF) {
      Narrow(in + begin, out.data<Eigen::half>() + begin, end - begin);
    } else {
      Narrow(in + begin, out.data<Eigen::bfloat16>() + begin, end - begin);
    }
  });
}

Expected<FusedOps> ReadFusedOps(const KernelSetup& setup) {
  FusedOps fused;
  std::vector<llvm::StringRef> names;
  if (auto attr = setup.node().Attr("fused_ops")) {
    if (auto list = attr->AsStrings()) names = *list;
  }
  for (llvm::StringRef name : names) {
    GrapnelActivation activation = llvm::StringSwitch<GrapnelActivation>(name)
                                       .Case("Relu", kGrapnelRelu)
                                       .Case("Relu6", kGrapnelRelu6)
                                       .Case("Elu", kGrapnelElu)
                                       .Case("LeakyRelu", kGrapnelLeakyRelu)
                                       .Case("Tanh", kGrapnelTanh)
                                       .Case("Sigmoid", kGrapnelSigmoid)
                                       .Case("GeluExact", kGrapnelGeluExact)
                                       .Case("GeluApproximate", kGrapnelGeluApproximate)
                                       .Case("_MklSwish", kGrapnelSwish)
                                       .Case("Mish", kGrapnelMish)
                                       .Default(kGrapnelLinear);
    bool first = name == names.front();
    if (name == "BiasAdd" && first) {
      fused.bias = true;
    } else if (name == "FusedBatchNorm" && first) {
      fused.batch_norm = true;
    } else if (name == "Add" && fused.bias && !fused.add && fused.activation == kGrapnelLinear) {
      fused.add = true;
    } else if (activation != kGrapnelLinear && fused.activation == kGrapnelLinear) {
      fused.activation = activation;
    } else {
      return MakeError("there is no kernel for the combination of fused_ops [{0}]",
                       llvm::join(names, ", "));
    }
  }
  fused.alpha = setup.node().GetFloat("leakyrelu_alpha", 0.2f);
  fused.epsilon = setup.node().GetFloat("epsilon", 1e-4f);
  // _FusedConv2D also stores the number of its fused arguments in num_args, next to their dtypes.
  int64_t said = setup.node().GetInt("num_args", fused.num_args());
  if (said != fused.num_args())
    return MakeError("fused_ops [{0}] needs {1} arguments, num_args is {2}",
                     llvm::join(names, ", "), fused.num_args(), said);
  if (setup.num_inputs() != 2 + fused.num_args()) {
    return MakeError("fused_ops [{0}] needs {1} arguments, the node has {2}",
                     llvm::join(names, ", "), fused.num_args(), setup.num_inputs() - 2);
  }
  return fused;
}

bool IsVectorOf(const Tensor& tensor, int64_t channels) {
  return tensor.rank() > 0 && tensor.dim(tensor.rank() - 1) == channels &&
         tensor.num_elements() == channels &&
         llvm::all_of(tensor.dims().drop_back(), [](int64_t size) { return size == 1; });
}

namespace {

// Returns a vector argument in the compute type.
template <typename T>
Expected<const T*> VectorArg(KernelContext& ctx, int i, const char* what, int64_t channels,
                             llvm::SmallVectorImpl<Tensor>& storage) {
  Tensor tensor = ctx.input(i);
  if (!IsVectorOf(tensor, channels)) {
    return MakeError("{0} must be a vector of {1} elements, got shape {2}", what, channels,
                     DimsText(tensor.dims()));
  }
  if (tensor.dtype() != DataTypeOf<T>()) {
    if (!std::is_same_v<T, float> || DataTypeSize(tensor.dtype()) != 2) {
      return MakeError("{0} has dtype {1}, which this kernel does not support", what,
                       DataTypeName(tensor.dtype()));
    }
    ASSIGN_OR_RETURN(tensor, Widened(ctx, tensor));
  }
  storage.push_back(tensor);
  return storage.back().data<T>();
}

}  // namespace

template <typename T>
Expected<Epilogue<T>> MakeEpilogue(KernelContext& ctx, const FusedOps& fused, int64_t channels,
                                   llvm::ArrayRef<int64_t> output_dims,
                                   llvm::SmallVectorImpl<Tensor>& storage) {
  Epilogue<T> epilogue;
  epilogue.activation = fused.activation;
  epilogue.alpha = static_cast<T>(fused.alpha);
  if (fused.bias) {
    ASSIGN_OR_RETURN(epilogue.bias, VectorArg<T>(ctx, 2, "the bias", channels, storage));
  }
  if (fused.add) {
    Tensor add = ctx.input(3);
    if (add.dims() != output_dims) {
      return MakeError("the fused addend has shape {0}, but the result has shape {1}",
                       DimsText(add.dims()), DimsText(output_dims));
    }
    if (add.dtype() != DataTypeOf<T>()) {
      ASSIGN_OR_RETURN(add, Widened(ctx, add));
    }
    storage.push_back(add);
    epilogue.add = storage.back().data<T>();
  }
  if (fused.batch_norm) {
    ASSIGN_OR_RETURN(const T* scale, VectorArg<T>(ctx, 2, "the scale", channels, storage));
    ASSIGN_OR_RETURN(const T* offset, VectorArg<T>(ctx, 3, "the offset", channels, storage));
    ASSIGN_OR_RETURN(const T* mean, VectorArg<T>(ctx, 4, "the mean", channels, storage));
    ASSIGN_OR_RETURN(const T* variance, VectorArg<T>(ctx, 5, "the variance", channels, storage));
    ASSIGN_OR_RETURN(Tensor factors, ctx.Scratch(DataTypeOf<T>(), {2, channels}));
    T* factor = factors.data<T>();
    T* bias = factor + channels;
    for (int64_t i = 0; i < channels; ++i) {
      factor[i] = scale[i] / std::sqrt(variance[i] + static_cast<T>(fused.epsilon));
      bias[i] = offset[i] - mean[i] * factor[i];
    }
    storage.push_back(factors);
    epilogue.scale = factor;
    epilogue.bias = bias;
  }
  return epilogue;
}

template Expected<Epilogue<float>> MakeEpilogue(KernelContext&, const FusedOps&, int64_t,
                                                llvm::ArrayRef<int64_t>,
                                                llvm::SmallVectorImpl<Tensor>&);
template Expected<Epilogue<double>> MakeEpilogue(KernelContext&, const FusedOps&, int64_t,
                                                 llvm::ArrayRef<int64_t>,
                                                 llvm::SmallVectorImpl<Tensor>&);

}  // namespace grapnel
