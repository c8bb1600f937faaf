// Opens grapnel_onednn.so and provides it with the threads of the pool.
#include "kernels/common/onednn_loader.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "lib/support/loadable_module.h"

namespace grapnel {
namespace {

std::atomic<int> switched_off{0};

void RunParts(void* pool, int32_t n, void (*body)(void*, int32_t), void* arg) {
  constexpr double kWorthSplitting = 1e9;
  static_cast<ThreadPool*>(pool)->ParallelFor(n, kWorthSplitting, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(arg, static_cast<int32_t>(i));
  });
}

constexpr GrapnelOnednnHost kHost = {GRAPNEL_ONEDNN_API_VERSION, RunParts};

std::atomic<bool> asked{false};

const OpenedModule<GrapnelOnednnApi>& TheModule() {
  static const auto opened = OpenModule<GrapnelOnednnApi, GrapnelOnednnEntryFn>(
      {"grapnel_onednn.so", GRAPNEL_ONEDNN_ENTRY, "GRAPNEL_ONEDNN"}, &kHost);
  asked.store(true, std::memory_order_release);
  return opened;
}

template <typename Call>
Error Checked(const char* what, Call&& call) {
  char error[256] = "";
  if (call(error, static_cast<int32_t>(sizeof error)) == 0) return Error::success();
  return MakeError("{0}: {1}", what, error);
}

}  // namespace

const GrapnelOnednnApi* Onednn() {
  return switched_off.load(std::memory_order_relaxed) > 0 ? nullptr : TheModule().api;
}

void PreloadOnednn() {
  struct Opening {
    Opening() : thread([] { TheModule(); }) {}
    ~Opening() { thread.join(); }
    std::thread thread;
  };
  if (switched_off.load(std::memory_order_relaxed) == 0) static Opening opening;
}

std::string WhyNoOnednn() {
  return asked.load(std::memory_order_acquire) ? TheModule().problem : "";
}

WithoutOnednn::WithoutOnednn() { ++switched_off; }
WithoutOnednn::~WithoutOnednn() { --switched_off; }

bool IsWorthATeam(double flops) {
  return flops >= 1e6;  // 10 to 20 microseconds on one core
}

int PartsFor(double flops) {
  constexpr int kMost = 16;
  constexpr double kEach = 1.6e7;  // smaller parts cost about 1 % on an idle machine
  if (!IsWorthATeam(flops)) return 1;
  int parts = 2;  // a power of two usually divides evenly among the cores
  while (parts < kMost && flops / parts > kEach) parts *= 2;
  return parts;
}

OnednnPrimitive::OnednnPrimitive(GrapnelPrimitive* made)
    : primitive_(made, TheModule().api->destroy),
      scratch_bytes_(TheModule().api->scratch_bytes(made)) {}

Expected<OnednnPrimitive> OnednnPrimitive::Make(const GrapnelConvSpec& spec) {
  GrapnelPrimitive* made = nullptr;
  RETURN_IF_ERROR(Checked("convolution", [&](char* error, int32_t size) {
    return Onednn()->make_conv(&spec, &made, error, size);
  }));
  return OnednnPrimitive(made);
}

Expected<OnednnPrimitive> OnednnPrimitive::Make(const GrapnelMatMulSpec& spec) {
  GrapnelPrimitive* made = nullptr;
  RETURN_IF_ERROR(Checked("matrix product", [&](char* error, int32_t size) {
    return Onednn()->make_matmul(&spec, &made, error, size);
  }));
  return OnednnPrimitive(made);
}

Error OnednnPrimitive::Run(KernelContext& ctx, const void* source, const void* weights,
                           const void* bias, void* destination) const {
  BufferRef scratch;
  if (scratch_bytes_ > 0) {
    ASSIGN_OR_RETURN(scratch, ctx.allocator().Allocate(scratch_bytes_));
  }
  GrapnelArgs args{source,      packed_ ? packed_->data() : weights, bias,
                   destination, scratch ? scratch->data() : nullptr, &ctx.pool()};
  return Checked("oneDNN", [&](char* error, int32_t size) {
    return TheModule().api->run(primitive_.get(), &args, error, size);
  });
}

llvm::StringRef OnednnPrimitive::implementation() const {
  return TheModule().api->implementation(primitive_.get());
}

namespace {

Error Pack(const GrapnelPrimitive* primitive, const void* from, void* to, ThreadPool& pool) {
  return Checked("weights", [&](char* error, int32_t size) {
    return TheModule().api->pack(primitive, from, to, &pool, error, size);
  });
}

}  // namespace

Error KeptWeights::PackInto(OnednnPrimitive& made, KernelContext& ctx, Change change) {
  const GrapnelOnednnApi& api = *TheModule().api;
  std::lock_guard lock(mutex_);
  GrapnelPrimitive* primitive = made.primitive_.get();
  if (packed_ && !change && api.packs_alike(packer_.get(), primitive)) {
    made.packed_ = packed_;
    return Error::success();
  }
  size_t bytes = api.packed_bytes(primitive);
  bool is_first = !change && !packed_;
  if (is_first && lets_go_ && MayBeOverwritten(bytes)) {
    RETURN_IF_ERROR(PackInPlace(primitive, ctx));
    made.packed_ = weights_.buffer();
  } else {
    Tensor from = weights_;
    if (!from.buffer()) {
      ASSIGN_OR_RETURN(from, Unpacked(ctx));
    }
    if (change) {
      ASSIGN_OR_RETURN(Tensor changed, ctx.Scratch(proto::DT_FLOAT, from.dims()));
      change(from.raw(), changed.data<float>());
      from = std::move(changed);
    }
    ASSIGN_OR_RETURN(made.packed_, WeightAllocator().Allocate(bytes));
    RETURN_IF_ERROR(Pack(primitive, from.raw(), made.packed_->data(), ctx.pool()));
  }
  if (!is_first) return Error::success();
  packer_ = made.primitive_;
  packed_ = made.packed_;
  if (lets_go_) weights_ = weights_.WithoutElements();
  return Error::success();
}

bool KeptWeights::MayBeOverwritten(size_t packed_bytes) const {
  constexpr uintptr_t kAlignment = 64;
  return weights_.OwnsAlone() && packed_bytes <= weights_.byte_size() &&
         reinterpret_cast<uintptr_t>(weights_.raw()) % kAlignment == 0;
}

// Packs from a copy into the weights' own memory: new memory would be slower, because the system
// zeroes it first.
Error KeptWeights::PackInPlace(const GrapnelPrimitive* primitive, KernelContext& ctx) {
  ASSIGN_OR_RETURN(Tensor copied, ctx.Scratch(proto::DT_FLOAT, weights_.dims()));
  auto copy = [&](const float* from, float* to) {
    ctx.ParallelFor(weights_.num_elements(), 0.2, [&](int64_t begin, int64_t end) {
      std::copy(from + begin, from + end, to + begin);
    });
  };
  float *own = weights_.data<float>(), *copied_to = copied.data<float>();
  copy(own, copied_to);
  Error error = Pack(primitive, copied_to, own, ctx.pool());
  if (error) copy(copied_to, own);
  return error;
}

Expected<Tensor> KeptWeights::Unpacked(KernelContext& ctx) const {
  ASSIGN_OR_RETURN(Tensor unpacked, ctx.Scratch(proto::DT_FLOAT, weights_.dims()));
  RETURN_IF_ERROR(Checked("weights", [&](char* error, int32_t size) {
    return TheModule().api->unpack(packer_.get(), packed_->data(), unpacked.raw(), &ctx.pool(),
                                   error, size);
  }));
  return unpacked;
}

Expected<Tensor> KeptWeights::Get(KernelContext& ctx) {
  std::lock_guard lock(mutex_);
  if (!weights_.buffer()) return Unpacked(ctx);
  ASSIGN_OR_RETURN(weights_, Tensor::Aligned(weights_));
  return weights_;
}

}  // namespace grapnel
