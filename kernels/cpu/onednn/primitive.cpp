// Running a primitive: handles are set, nothing is made.
#include "kernels/cpu/onednn/primitive.h"

#include "kernels/cpu/onednn/team.h"

namespace grapnel::onednn {

dnnl::engine& Engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& Stream() {
  static dnnl::stream stream(Engine());
  return stream;
}

dnnl::primitive_attr Attributes(const GrapnelEpilogue& epilogue) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops post;
  if (epilogue.accumulate) post.append_sum(1.0f);
  auto activation = [&post](dnnl::algorithm algorithm, float alpha, float beta = 0) {
    post.append_eltwise(1.0f, algorithm, alpha, beta);
  };
  switch (epilogue.activation) {
    case kGrapnelLinear:
      break;
    case kGrapnelRelu:
      activation(dnnl::algorithm::eltwise_relu, 0);
      break;
    case kGrapnelRelu6:
      activation(dnnl::algorithm::eltwise_clip, 0, 6);
      break;
    case kGrapnelElu:
      activation(dnnl::algorithm::eltwise_elu, 1);
      break;
    case kGrapnelLeakyRelu:
      activation(dnnl::algorithm::eltwise_relu, epilogue.alpha);
      break;
    case kGrapnelTanh:
      activation(dnnl::algorithm::eltwise_tanh, 0);
      break;
    case kGrapnelSigmoid:
      activation(dnnl::algorithm::eltwise_logistic, 0);
      break;
    case kGrapnelGeluExact:
      activation(dnnl::algorithm::eltwise_gelu_erf, 0);
      break;
    case kGrapnelGeluApproximate:
      activation(dnnl::algorithm::eltwise_gelu_tanh, 0);
      break;
  }
  attributes.set_post_ops(post);
  return attributes;
}

}  // namespace grapnel::onednn

void GrapnelPrimitive::SetWeights(const void* from, void* pool) {
  grapnel::onednn::TeamScope team(threads, pool);
  if (reorder) {
    user_weights.set_data_handle(const_cast<void*>(from));
    reorder.execute(grapnel::onednn::Stream(), user_weights, weights);
  } else {
    // A private copy: the caller's may be a temporary.
    weights = dnnl::memory(weights.get_desc(), grapnel::onednn::Engine());
    std::copy_n(static_cast<const char*>(from), weights.get_desc().get_size(),
                static_cast<char*>(weights.get_data_handle()));
    args[1].memory = weights.get();
  }
  has_weights = true;
}

void GrapnelPrimitive::Run(const GrapnelArgs& from) {
  grapnel::onednn::TeamScope team(threads, from.pool);
  source.set_data_handle(const_cast<void*>(from.source));
  destination.set_data_handle(from.destination);
  if (bias) bias.set_data_handle(const_cast<void*>(from.bias));
  if (!has_weights) {
    if (reorder) {
      user_weights.set_data_handle(const_cast<void*>(from.weights));
      reorder.execute(grapnel::onednn::Stream(), user_weights, weights);
    } else {
      weights.set_data_handle(const_cast<void*>(from.weights));
    }
  }
  // The C call: the C++ one builds a map and a vector for every run.
  dnnl_status_t status = dnnl_primitive_execute(primitive.get(), grapnel::onednn::Stream().get(),
                                                static_cast<int>(args.size()), args.data());
  dnnl::error::wrap_c_api(status, "oneDNN could not run a primitive");
}
