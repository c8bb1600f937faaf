// Where random ops get their generator from, and the values in double that several of them start
// with.
#ifndef GRAPNEL_KERNELS_CPU_RANDOM_RANDOM_H_
#define GRAPNEL_KERNELS_CPU_RANDOM_RANDOM_H_

#include <memory>
#include <mutex>

#include "kernels/cpu/random/philox.h"
#include "kernels/cpu/state/variable.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// Groups of numbers that the stream keeps for each value.
constexpr int kReserved = 256;

// [0, 1)
float ToFloat(uint32_t x);
double ToDouble(uint32_t x0, uint32_t x1);
// Two independent normal values out of four numbers.
void NormalPair(const uint32_t* x, double* out);
void NormalFloats(uint32_t x0, uint32_t x1, float* out);

// Of an op with state. TensorFlow takes other numbers in each process if no seed is given; here
// they follow from the node's name, so that a run can be repeated.
Philox FromAttrs(const KernelSetup& setup);

// That generator as the op's kernel keeps it: each run goes on where the one before stopped, and
// runs that overlap take different numbers. Copies share one position. Thread-safe.
class SharedPhilox {
 public:
  explicit SharedPhilox(const KernelSetup& setup)
      : state_(std::make_shared<State>(FromAttrs(setup))) {}
  // The generator as it stands; it moves on by `groups`.
  Philox Take(uint64_t groups) const;
  // Calls use(generator) where how far it moves is known only afterwards.
  void Use(llvm::function_ref<void(Philox&)> use) const;

 private:
  struct State {
    explicit State(Philox start) : philox(start) {}
    std::mutex mutex;
    Philox philox;
  };
  std::shared_ptr<State> state_;
};

// Of a stateless op: two seeds, or a key, a counter and the number of an algorithm.
Expected<Philox> FromSeedInput(const Tensor& seed);
Expected<Philox> FromKeyAndCounter(const Tensor& key, const Tensor& counter,
                                   const Tensor& algorithm);

// Algorithms as numbers: 1 Philox, 2 ThreeFry, 3 whatever suits the device, which is Philox here.
constexpr int kPhiloxAlgorithm = 1;
Error CheckAlgorithm(int64_t algorithm);

// tf.random.Generator: a variable of counter and key, int64[3] or more. `use` gets the generator as
// it is, and the variable moves on by `groups`.
Error WithGenerator(KernelContext& ctx, StoredVariable& variable, uint64_t groups,
                    llvm::function_ref<Error(Philox)> use);

// Element `i` of an integer tensor, as its bits.
inline uint64_t BitsAt(const Tensor& tensor, int64_t i) {
  return static_cast<uint64_t>(tensor.IntAt(i));
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_RANDOM_RANDOM_H_
