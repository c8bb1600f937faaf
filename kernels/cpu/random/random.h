// The generators of random ops, and the distributions that several of them start from.
#ifndef GRAPNEL_KERNELS_CPU_RANDOM_RANDOM_H_
#define GRAPNEL_KERNELS_CPU_RANDOM_RANDOM_H_

#include <memory>
#include <mutex>

#include "kernels/common/philox.h"
#include "kernels/cpu/state/variable.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// The number of groups (of four 32-bit numbers) that an op reserves in the stream for each value.
constexpr int kReserved = 256;

// Convert random bits to a number in [0, 1).
float ToFloat(uint32_t x);
double ToDouble(uint32_t x0, uint32_t x1);
// Store two independent normal values.
void NormalPair(const uint32_t* x, double* out);
void NormalFloats(uint32_t x0, uint32_t x1, float* out);

// Returns the generator of a stateful op. Without a seed, TensorFlow draws different numbers in
// each process; grapnel derives the seed from the node's name, so that a run can be repeated.
Philox FromAttrs(const KernelSetup& setup);

// The generator of FromAttrs() as the state of the op's kernel: each run continues where the
// previous run stopped, and overlapping runs take different numbers. Copies share one position.
// Thread-safe.
class SharedPhilox {
 public:
  explicit SharedPhilox(const KernelSetup& setup)
      : state_(std::make_shared<State>(FromAttrs(setup))) {}
  // Returns the current generator and advances it by `groups`.
  Philox Take(uint64_t groups) const;
  // Calls use(generator), for callers that know only afterward how far the generator advances.
  void Use(llvm::function_ref<void(Philox&)> use) const;

 private:
  struct State {
    explicit State(Philox start) : philox(start) {}
    std::mutex mutex;
    Philox philox;
  };
  std::shared_ptr<State> state_;
};

// Return the generator of a stateless op: from two seeds, or from a key, a counter and an algorithm
// number.
Expected<Philox> FromSeedInput(const Tensor& seed);
Expected<Philox> FromKeyAndCounter(const Tensor& key, const Tensor& counter,
                                   const Tensor& algorithm);

// Algorithm numbers: 1 Philox, 2 ThreeFry, 3 the device's default, which is Philox here.
constexpr int kPhiloxAlgorithm = 1;
Error CheckAlgorithm(int64_t algorithm);

// Accesses a tf.random.Generator: a variable with counter and key, int64[3] or longer. Advances it
// by `groups`; `use` gets the generator from before.
Error WithGenerator(KernelContext& ctx, StoredVariable& variable, uint64_t groups,
                    llvm::function_ref<Error(Philox)> use);

// Returns element `i` of an integer tensor as its bits.
inline uint64_t BitsAt(const Tensor& tensor, int64_t i) {
  return static_cast<uint64_t>(tensor.IntAt(i));
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_RANDOM_RANDOM_H_
