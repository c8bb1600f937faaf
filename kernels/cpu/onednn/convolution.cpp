// Convolutions: activations keep TensorFlow's layout (Winograd code works on copies in its own),
// the filter gets the layout that oneDNN prefers.
#include "kernels/cpu/onednn/primitive.h"
#include "kernels/cpu/onednn/thread_pool_adapter.h"

namespace grapnel::onednn {
namespace {

using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

Tag ActivationTag(const GrapnelConvSpec& spec) {
  constexpr Tag kLast[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  constexpr Tag kFirst[] = {Tag::ncw, Tag::nchw, Tag::ncdhw};
  return (spec.channels_last ? kLast : kFirst)[spec.spatial_rank - 1];
}

// Describes [spatial..., i, o] as oneDNN's (g,) o, i, spatial...: the group is the slowest part of
// the output channel.
dnnl::memory::desc FilterDesc(const GrapnelConvSpec& spec) {
  int64_t inputs = spec.in_channels / spec.groups, outputs = spec.out_channels / spec.groups;
  Dims dims, strides;
  if (spec.groups > 1) {
    dims.push_back(spec.groups);
    strides.push_back(outputs);
  }
  dims.insert(dims.end(), {outputs, inputs});
  strides.insert(strides.end(), {1, spec.out_channels});
  Dims spatial_strides(spec.spatial_rank);
  int64_t stride = inputs * spec.out_channels;
  for (int i = spec.spatial_rank - 1; i >= 0; --i) {
    spatial_strides[i] = stride;
    stride *= spec.kernel[i];
  }
  dims.insert(dims.end(), spec.kernel, spec.kernel + spec.spatial_rank);
  strides.insert(strides.end(), spatial_strides.begin(), spatial_strides.end());
  return {dims, dnnl::memory::data_type::f32, strides};
}

using Conv = dnnl::convolution_forward;

// Asks oneDNN for code with this algorithm; oneDNN chooses the filter's layout.
Conv::primitive_desc Describe(const GrapnelConvSpec& spec, dnnl::algorithm algorithm,
                              Tag activations) {
  constexpr auto kFloat = dnnl::memory::data_type::f32;
  auto spatial = [&](const int64_t* values) { return Dims(values, values + spec.spatial_rank); };
  Dims in{spec.batch, spec.in_channels}, out{spec.batch, spec.out_channels};
  Dims in_size = spatial(spec.in), out_size = spatial(spec.out), dilations = spatial(spec.dilation);
  in.insert(in.end(), in_size.begin(), in_size.end());
  out.insert(out.end(), out_size.begin(), out_size.end());
  for (auto& dilation : dilations) --dilation;  // oneDNN counts the gaps

  dnnl::memory::desc source(in, kFloat, activations), destination(out, kFloat, activations);
  dnnl::memory::desc filter(FilterDesc(spec).dims(), kFloat, Tag::any);
  dnnl::memory::desc bias({spec.out_channels}, kFloat, Tag::x);
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  Dims strides = spatial(spec.stride), before = spatial(spec.pad_before),
       after = spatial(spec.pad_after);
  Conv::desc desc = spec.epilogue.bias ? Conv::desc(kKind, algorithm, source, filter, bias,
                                                    destination, strides, dilations, before, after)
                                       : Conv::desc(kKind, algorithm, source, filter, destination,
                                                    strides, dilations, before, after);
  return {desc, Attributes(spec.epilogue), Engine(), /*allow_empty=*/true};
}

// oneDNN implements Winograd only for its own layout of activations; copying the activations takes
// a twentieth of the time. Returns null if oneDNN has no Winograd code for this convolution.
GrapnelPrimitive* MakeWinograd(const GrapnelConvSpec& spec, const Conv::primitive_desc& direct) {
  Conv::primitive_desc found = Describe(spec, dnnl::algorithm::convolution_winograd, Tag::any);
  if (!found) return nullptr;
  auto made = std::make_unique<GrapnelPrimitive>(found, FilterDesc(spec), spec.epilogue.bias,
                                                 spec.constant_filter, spec.parts);
  made->CopyActivations(direct.src_desc(), direct.dst_desc(), spec.epilogue.accumulate);
  return made.release();
}

}  // namespace

GrapnelPrimitive* MakeConv(const GrapnelConvSpec& spec) {
  Conv::primitive_desc direct =
      Describe(spec, dnnl::algorithm::convolution_direct, ActivationTag(spec));
  if (!direct) throw dnnl::error(dnnl_unimplemented, "no code for this convolution");
  if (spec.winograd) {
    if (GrapnelPrimitive* made = MakeWinograd(spec, direct)) return made;
  }
  return new GrapnelPrimitive(direct, FilterDesc(spec), spec.epilogue.bias, spec.constant_filter,
                              spec.parts);
}

}  // namespace grapnel::onednn
