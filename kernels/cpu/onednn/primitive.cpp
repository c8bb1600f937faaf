// Runs a primitive: sets the memory handles of a run, and reuses the arguments of earlier runs, so
// that it allocates only when more runs overlap than before.
#include "kernels/cpu/onednn/primitive.h"

#include <cstring>

#include "kernels/cpu/onednn/thread_pool_adapter.h"

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
    case kGrapnelSwish:
      activation(dnnl::algorithm::eltwise_swish, 1);
      break;
    case kGrapnelMish:
      activation(dnnl::algorithm::eltwise_mish, 0);
      break;
  }
  attributes.set_post_ops(post);
  return attributes;
}

}  // namespace grapnel::onednn

std::unique_ptr<GrapnelPrimitive::Arguments> GrapnelPrimitive::TakeArguments() {
  using grapnel::onednn::Engine;
  {
    std::lock_guard lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<Arguments> taken = std::move(idle.back());
      idle.pop_back();
      return taken;
    }
  }
  auto made = std::make_unique<Arguments>();
  made->source = dnnl::memory(source_desc, Engine(), nullptr);
  made->destination = dnnl::memory(destination_desc, Engine(), nullptr);
  made->scratchpad = dnnl::memory(scratchpad_desc, Engine(), nullptr);
  if (copied_source) made->user_source = dnnl::memory(copied_source->user, Engine(), nullptr);
  if (copied_destination)
    made->user_destination = dnnl::memory(copied_destination->user, Engine(), nullptr);
  if (reorder && !has_packed_weights) {
    made->user_weights = dnnl::memory(user_weights_desc, Engine(), nullptr);
    made->weights = dnnl::memory(weights_desc, Engine());
  } else {
    made->weights = dnnl::memory(weights_desc, Engine(), nullptr);
  }
  made->list = {{DNNL_ARG_SRC, made->source.get()},
                {DNNL_ARG_WEIGHTS, made->weights.get()},
                {DNNL_ARG_DST, made->destination.get()},
                {DNNL_ARG_SCRATCHPAD, made->scratchpad.get()}};
  if (has_bias) {
    made->bias = dnnl::memory(bias_desc, Engine(), nullptr);
    made->list.push_back({DNNL_ARG_BIAS, made->bias.get()});
  }
  return made;
}

void GrapnelPrimitive::GiveBack(std::unique_ptr<Arguments> arguments) {
  std::lock_guard lock(mutex);
  idle.push_back(std::move(arguments));
}

void GrapnelPrimitive::Pack(const void* from, void* to, void* pool) const {
  using grapnel::onednn::Engine;
  if (!reorder) {
    std::memcpy(to, from, packed_bytes());
    return;
  }
  grapnel::onednn::TeamScope team(parts, pool);
  dnnl::memory given(user_weights_desc, Engine(), const_cast<void*>(from));
  dnnl::memory packed(weights_desc, Engine(), to);
  dnnl::reorder(reorder).execute(grapnel::onednn::Stream(), given, packed);
}

void GrapnelPrimitive::Unpack(const void* from, void* to, void* pool) const {
  using grapnel::onednn::Engine;
  if (!reorder) {
    std::memcpy(to, from, packed_bytes());
    return;
  }
  grapnel::onednn::TeamScope team(parts, pool);
  dnnl::memory packed(weights_desc, Engine(), const_cast<void*>(from));
  dnnl::memory given(user_weights_desc, Engine(), to);
  dnnl::reorder(packed, given).execute(grapnel::onednn::Stream(), packed, given);
}

void GrapnelPrimitive::CopyActivations(const dnnl::memory::desc& users_source,
                                       const dnnl::memory::desc& users_destination,
                                       bool accumulates) {
  using grapnel::onednn::Engine;
  auto copy = [this](const dnnl::memory::desc& user, const dnnl::memory::desc& own, bool in,
                     bool out) -> std::optional<Copied> {
    if (user == own) return std::nullopt;
    constexpr uint64_t kAlignment = 64;
    Copied copied{user, (scratch_end + kAlignment - 1) / kAlignment * kAlignment, {}, {}};
    scratch_end = copied.at + own.get_size();
    dnnl::memory users(user, Engine(), nullptr), owns(own, Engine(), nullptr);
    if (in) copied.to_own = dnnl::reorder(users, owns);
    if (out) copied.to_user = dnnl::reorder(owns, users);
    return copied;
  };
  copied_source = copy(users_source, source_desc, true, false);
  copied_destination = copy(users_destination, destination_desc, accumulates, true);
}

void GrapnelPrimitive::TakeActivations(const GrapnelArgs& from, Arguments& own) const {
  auto take = [&](const std::optional<Copied>& copied, void* given, dnnl::memory& user,
                  dnnl::memory& memory) {
    if (!copied) return memory.set_data_handle(given);
    user.set_data_handle(given);
    memory.set_data_handle(static_cast<char*>(from.scratch) + copied->at);
    if (copied->to_own) copied->to_own.execute(grapnel::onednn::Stream(), user, memory);
  };
  take(copied_source, const_cast<void*>(from.source), own.user_source, own.source);
  take(copied_destination, from.destination, own.user_destination, own.destination);
}

void GrapnelPrimitive::GiveDestination(Arguments& own) const {
  if (!copied_destination) return;
  copied_destination->to_user.execute(grapnel::onednn::Stream(), own.destination,
                                      own.user_destination);
}

void GrapnelPrimitive::Run(const GrapnelArgs& from) {
  grapnel::onednn::TeamScope team(parts, from.pool);
  std::unique_ptr<Arguments> own = TakeArguments();
  own->scratchpad.set_data_handle(from.scratch);
  TakeActivations(from, *own);
  if (has_bias) own->bias.set_data_handle(const_cast<void*>(from.bias));
  if (reorder && !has_packed_weights) {
    own->user_weights.set_data_handle(const_cast<void*>(from.weights));
    reorder.execute(grapnel::onednn::Stream(), own->user_weights, own->weights);
  } else if (own->weights.get_data_handle() != from.weights) {
    // Setting the handle writes zeros into the padding of a layout. Packed weights already have
    // these zeros and do not move.
    own->weights.set_data_handle(const_cast<void*>(from.weights));
  }
  // The C call, because the C++ wrapper builds a map and a vector for every run.
  dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), grapnel::onednn::Stream().get(),
                             static_cast<int>(own->list.size()), own->list.data());
  if (status == dnnl_success) GiveDestination(*own);
  GiveBack(std::move(own));
  dnnl::error::wrap_c_api(status, "oneDNN could not run a primitive");
}
