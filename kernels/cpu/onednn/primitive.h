// A oneDNN primitive with all it needs to run again without allocation, also on several threads at
// once.
#ifndef GRAPNEL_KERNELS_CPU_ONEDNN_PRIMITIVE_H_
#define GRAPNEL_KERNELS_CPU_ONEDNN_PRIMITIVE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/onednn_api.h"
#include "oneapi/dnnl/dnnl.hpp"

struct GrapnelPrimitive {
  // `user_weights` is the layout in which the program stores the weights.
  template <typename Desc>
  GrapnelPrimitive(const Desc& desc, const dnnl::memory::desc& user_weights, bool has_bias,
                   bool has_packed_weights, int part_count);

  uint64_t packed_bytes() const { return weights_desc.get_size(); }
  uint64_t scratch_bytes() const { return scratch_end; }
  void Pack(const void* from, void* to, void* pool) const;
  void Unpack(const void* from, void* to, void* pool) const;
  void Run(const GrapnelArgs& args);

  // Must be called for a primitive with its own layouts for activations. `accumulates`: the
  // primitive also reads its destination.
  void CopyActivations(const dnnl::memory::desc& users_source,
                       const dnnl::memory::desc& users_destination, bool accumulates);

  // An activation that each run copies to its scratch, or back, in the primitive's layout.
  struct Copied {
    dnnl::memory::desc user;
    uint64_t at;                    // offset in the scratch memory
    dnnl::reorder to_own, to_user;  // empty if not needed
  };

  // The memory objects of one run. oneDNN reads pointers from memory objects, which each run sets.
  struct Arguments {
    dnnl::memory source, weights, bias, destination, scratchpad;
    dnnl::memory user_source, user_weights, user_destination;  // set if the layouts differ
    std::vector<dnnl_exec_arg_t> list;
  };
  void TakeActivations(const GrapnelArgs& from, Arguments& own) const;
  void GiveDestination(Arguments& own) const;
  std::unique_ptr<Arguments> TakeArguments();
  void GiveBack(std::unique_ptr<Arguments> arguments);

  dnnl::primitive primitive;
  dnnl::memory::desc source_desc, weights_desc, bias_desc, destination_desc, scratchpad_desc,
      user_weights_desc;
  bool has_bias, has_packed_weights;
  uint64_t scratch_end;
  std::optional<Copied> copied_source, copied_destination;
  dnnl::reorder reorder;  // user weights -> weights; empty if the layouts are equal
  std::string implementation;
  int parts;
  std::mutex mutex;
  std::vector<std::unique_ptr<Arguments>> idle;  // of finished runs
};

namespace grapnel::onednn {

dnnl::engine& Engine();
dnnl::stream& Stream();
dnnl::primitive_attr Attributes(const GrapnelEpilogue& epilogue);

GrapnelPrimitive* MakeConv(const GrapnelConvSpec& spec);
GrapnelPrimitive* MakeMatMul(const GrapnelMatMulSpec& spec);

}  // namespace grapnel::onednn

template <typename Desc>
GrapnelPrimitive::GrapnelPrimitive(const Desc& desc, const dnnl::memory::desc& user, bool bias,
                                   bool packed, int part_count)
    : primitive(desc),
      source_desc(desc.src_desc()),
      weights_desc(desc.weights_desc()),
      destination_desc(desc.dst_desc()),
      scratchpad_desc(desc.scratchpad_desc()),
      user_weights_desc(user),
      has_bias(bias),
      has_packed_weights(packed),
      scratch_end(scratchpad_desc.get_size()),
      implementation(desc.impl_info_str()),
      parts(part_count) {
  using grapnel::onednn::Engine;
  if (implementation.compare(0, 3, "ref") == 0)
    throw dnnl::error(dnnl_unimplemented,
                      "only oneDNN's reference code, which is slower than ours");
  if (has_bias) bias_desc = desc.bias_desc();
  if (weights_desc == user) return;
  reorder = dnnl::reorder(dnnl::memory(user, Engine(), nullptr),
                          dnnl::memory(weights_desc, Engine(), nullptr));
}

#endif  // GRAPNEL_KERNELS_CPU_ONEDNN_PRIMITIVE_H_
