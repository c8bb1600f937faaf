// Access to the oneDNN module for kernels: whether it is available, and a cache of primitives by
// shape.
#ifndef GRAPNEL_KERNELS_COMMON_ONEDNN_LOADER_H_
#define GRAPNEL_KERNELS_COMMON_ONEDNN_LOADER_H_

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/onednn_api.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// Returns the module, which the first call opens: the file in GRAPNEL_ONEDNN, else
// grapnel_onednn.so (ModulePath). Null when it cannot be loaded, when GRAPNEL_ONEDNN is "off", or
// while a WithoutOnednn exists. Thread-safe.
const GrapnelOnednnApi* Onednn();

// Starts opening the module on another thread, so that it loads while a plan is made.
void PreloadOnednn();

// Returns why the module is not available, for the tool to print once; empty when it is loaded or
// was never requested.
std::string WhyNoOnednn();

// For tests and comparisons: while a WithoutOnednn exists, the kernels of all threads run their own
// code instead of oneDNN's.
class WithoutOnednn {
 public:
  WithoutOnednn();
  ~WithoutOnednn();
};

// Returns into how many parts a computation of `flops` floating-point operations should be split.
// Free threads take the parts; distributing them costs a few microseconds.
int PartsFor(double flops);
// True if a computation is large enough to be split over several threads.
bool IsWorthATeam(double flops);

class OnednnPrimitive {
 public:
  OnednnPrimitive() = default;
  static Expected<OnednnPrimitive> Make(const GrapnelConvSpec& spec);
  static Expected<OnednnPrimitive> Make(const GrapnelMatMulSpec& spec);
  explicit operator bool() const { return primitive_ != nullptr; }
  // Several threads may run one primitive at once. `weights` is ignored if the primitive has packed
  // weights.
  Error Run(KernelContext& ctx, const void* source, const void* weights, const void* bias,
            void* destination) const;
  llvm::StringRef implementation() const;

 private:
  friend class KeptWeights;
  explicit OnednnPrimitive(GrapnelPrimitive* made);
  std::shared_ptr<GrapnelPrimitive> primitive_;
  BufferRef packed_;  // weights in the primitive's layout; null: each run passes them
  size_t scratch_bytes_ = 0;
};
using PrimitiveRef = std::shared_ptr<const OnednnPrimitive>;

// The constant weights of a kernel (KernelDef::keeps): in the program's layout until a primitive
// has packed them, then only in the primitive's layout. Float; thread-safe.
class KeptWeights {
 public:
  // If `lets_go` is false, the program's layout is kept too.
  explicit KeptWeights(Tensor weights, bool lets_go = true)
      : lets_go_(lets_go), weights_(std::move(weights)) {}
  // Packs the weights into a primitive that was made for constant weights. `change` may first
  // transform a copy of the weights, of the same size; in that case this object stays as it is.
  using Change = llvm::function_ref<void(const void* from, float* to)>;
  Error PackInto(OnednnPrimitive& made, KernelContext& ctx, Change change = nullptr);
  // Returns the weights in the program's layout, aligned; unpacks them if only the packed form is
  // kept.
  Expected<Tensor> Get(KernelContext& ctx);

 private:
  Expected<Tensor> Unpacked(KernelContext& ctx) const;
  bool MayBeOverwritten(size_t packed_bytes) const;
  Error PackInPlace(const GrapnelPrimitive* primitive, KernelContext& ctx);

  const bool lets_go_;
  std::mutex mutex_;
  Tensor weights_;  // without elements once they are packed and released
  // The primitive that packed the weights. Kept here because the cache may have evicted it.
  std::shared_ptr<GrapnelPrimitive> packer_;
  BufferRef packed_;
};

// The primitives of one kernel, by spec, 16 at most: a kernel that sees few shapes makes each
// primitive once. Thread-safe: a primitive in use outlives its eviction from the cache.
template <typename Spec>
class OnednnCache {
 public:
  // Returns the primitive for `spec`, which must have been zeroed before it was filled in because
  // specs are compared as bytes. Calls `prepare` once on a new primitive. Null when oneDNN cannot
  // make one; the caller then runs its own code.
  template <typename Prepare>
  Expected<PrimitiveRef> Get(const Spec& spec, Prepare&& prepare) const {
    std::lock_guard lock(kept_->mutex);
    auto& entries = kept_->entries;
    for (const auto& [known, primitive] : entries) {
      // Comparing bytes is safe: specs are zeroed first, and if their padding differed, the only
      // cost would be an extra primitive.
      // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
      if (std::memcmp(&known, &spec, sizeof spec) == 0) return primitive;
    }
    if (entries.size() == kMost) entries.erase(entries.begin());
    Expected<OnednnPrimitive> made = OnednnPrimitive::Make(spec);
    if (!made) {
      llvm::consumeError(made.takeError());
      entries.emplace_back(spec, nullptr);
      return nullptr;
    }
    if (Error error = prepare(*made)) return error;
    entries.emplace_back(spec, std::make_shared<const OnednnPrimitive>(std::move(*made)));
    return entries.back().second;
  }

 private:
  static constexpr size_t kMost = 16;
  struct Kept {
    std::mutex mutex;
    std::vector<std::pair<Spec, PrimitiveRef>> entries;  // a null primitive: oneDNN cannot make one
  };
  std::unique_ptr<Kept> kept_ = std::make_unique<Kept>();
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_ONEDNN_LOADER_H_
