// The oneDNN module as the kernels see it: there or not, and primitives that are kept for the
// shapes seen.
#ifndef GRAPNEL_KERNELS_CPU_NN_ONEDNN_LOADER_H_
#define GRAPNEL_KERNELS_CPU_NN_ONEDNN_LOADER_H_

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/nn/onednn_api.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// The module, opened at the first call: the file that GRAPNEL_ONEDNN names, else grapnel_onednn.so
// in the folder of the executable. Null when it is not to be had, or GRAPNEL_ONEDNN is "off", or a
// WithoutOnednn lives. Thread-safe.
const GrapnelOnednnApi* Onednn();

// Begins to open it on another thread: it is read while a plan is made.
void PreloadOnednn();

// Why the last Onednn() was null, for the tool to say once; empty when the module is loaded or
// nobody asked for it.
std::string WhyNoOnednn();

// For tests and comparisons: while one lives, the kernels of every thread take their plain path.
class WithoutOnednn {
 public:
  WithoutOnednn();
  ~WithoutOnednn();
};

// Into how many parts so many floating-point operations are worth cutting, which threads take as
// they are free: to hand them out costs some microseconds.
int PartsFor(double flops);
bool IsWorthATeam(double flops);  // or done by one thread, however many there are

class OnednnPrimitive {
 public:
  OnednnPrimitive() = default;
  static Expected<OnednnPrimitive> Make(const GrapnelConvSpec& spec);
  static Expected<OnednnPrimitive> Make(const GrapnelMatMulSpec& spec);
  explicit operator bool() const { return primitive_ != nullptr; }
  // Several threads may run it at once. `weights` are not read where it has packed ones.
  Error Run(KernelContext& ctx, const void* source, const void* weights, const void* bias,
            void* destination) const;
  llvm::StringRef implementation() const;

 private:
  friend class KeptWeights;
  explicit OnednnPrimitive(GrapnelPrimitive* made);
  std::shared_ptr<GrapnelPrimitive> primitive_;
  BufferRef packed_;  // weights in its layout; null: they are given to each run
  size_t scratch_bytes_ = 0;
};
using PrimitiveRef = std::shared_ptr<const OnednnPrimitive>;

// Constant weights of a kernel (KernelDef::keeps): in the program's layout until a primitive has
// packed them, then in that one's alone. Float; thread-safe.
class KeptWeights {
 public:
  // `lets_go` false: the program's layout stays too.
  explicit KeptWeights(Tensor weights, bool lets_go = true)
      : lets_go_(lets_go), weights_(std::move(weights)) {}
  // Gives them to a primitive that was made for constant ones. `change` may make others of them
  // first, into memory that is as large: then they stay as they are here.
  using Change = llvm::function_ref<void(const void* from, float* to)>;
  Error PackInto(OnednnPrimitive& made, KernelContext& ctx, Change change = nullptr);
  // As the program has them, aligned: unpacked where they are packed.
  Expected<Tensor> Get(KernelContext& ctx);

 private:
  Expected<Tensor> Unpacked(KernelContext& ctx) const;
  bool MayBeOverwritten(size_t packed_bytes) const;
  Error PackInPlace(const GrapnelPrimitive* primitive, KernelContext& ctx);

  const bool lets_go_;
  std::mutex mutex_;
  Tensor weights_;  // without elements once they are packed and let go
  // That holds them; the primitive itself may have been forgotten by its cache.
  std::shared_ptr<GrapnelPrimitive> packer_;
  BufferRef packed_;
};

// The primitives of one kernel, by spec: a model that sees few shapes makes each once. Thread-safe:
// a primitive that somebody holds outlives its place in the cache.
template <typename Spec>
class OnednnCache {
 public:
  // The primitive for `spec`, which must have been zeroed before it was filled in: it is compared
  // as bytes. `prepare` is called once on a new one. Null when oneDNN cannot do it (the caller then
  // takes the plain path).
  template <typename Prepare>
  Expected<PrimitiveRef> Get(const Spec& spec, Prepare&& prepare) const {
    std::lock_guard lock(kept_->mutex);
    auto& entries = kept_->entries;
    for (const auto& [known, primitive] : entries) {
      // As bytes: zeroed before, and a padding that differs still costs no more than a primitive.
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
    std::vector<std::pair<Spec, PrimitiveRef>> entries;  // null: oneDNN has no code for it
  };
  std::unique_ptr<Kept> kept_ = std::make_unique<Kept>();
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_NN_ONEDNN_LOADER_H_
