// A oneDNN primitive with everything it needs to run again without an allocation.
#ifndef GRAPNEL_KERNELS_CPU_ONEDNN_PRIMITIVE_H_
#define GRAPNEL_KERNELS_CPU_ONEDNN_PRIMITIVE_H_

#include <string>
#include <vector>

#include "kernels/cpu/nn/onednn_api.h"
#include "oneapi/dnnl/dnnl.hpp"

struct GrapnelPrimitive {
  // `user_weights` is the layout in which the program holds the weights.
  template <typename Desc>
  GrapnelPrimitive(const Desc& desc, const dnnl::memory::desc& user_weights, bool has_bias,
                   int thread_count);

  void SetWeights(const void* weights, void* pool);
  void Run(const GrapnelArgs& args);

  dnnl::primitive primitive;
  dnnl::memory source, weights, bias, destination, scratchpad;
  dnnl::memory user_weights;
  dnnl::reorder reorder;  // user_weights -> weights; empty when they are the same
  std::vector<dnnl_exec_arg_t> args;
  std::string implementation;
  bool has_weights = false;
  int threads;
};

namespace grapnel::onednn {

dnnl::engine& Engine();
dnnl::stream& Stream();
dnnl::primitive_attr Attributes(const GrapnelEpilogue& epilogue);

GrapnelPrimitive* MakeConv(const GrapnelConvSpec& spec);
GrapnelPrimitive* MakeMatMul(const GrapnelMatMulSpec& spec);

}  // namespace grapnel::onednn

template <typename Desc>
GrapnelPrimitive::GrapnelPrimitive(const Desc& desc, const dnnl::memory::desc& user, bool has_bias,
                                   int thread_count)
    : primitive(desc), implementation(desc.impl_info_str()), threads(thread_count) {
  using grapnel::onednn::Engine;
  source = dnnl::memory(desc.src_desc(), Engine(), nullptr);
  destination = dnnl::memory(desc.dst_desc(), Engine(), nullptr);
  user_weights = dnnl::memory(user, Engine(), nullptr);
  if (desc.weights_desc() == user) {
    weights = dnnl::memory(user, Engine(), nullptr);
  } else {
    weights = dnnl::memory(desc.weights_desc(), Engine());
    reorder = dnnl::reorder(user_weights, weights);
  }
  scratchpad = dnnl::memory(desc.scratchpad_desc(), Engine());
  args = {{DNNL_ARG_SRC, source.get()},
          {DNNL_ARG_WEIGHTS, weights.get()},
          {DNNL_ARG_DST, destination.get()},
          {DNNL_ARG_SCRATCHPAD, scratchpad.get()}};
  if (has_bias) {
    bias = dnnl::memory(desc.bias_desc(), Engine(), nullptr);
    args.push_back({DNNL_ARG_BIAS, bias.get()});
  }
}

#endif  // GRAPNEL_KERNELS_CPU_ONEDNN_PRIMITIVE_H_
