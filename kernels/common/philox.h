// TensorFlow's random numbers: the Philox 4x32 generator with 10 rounds (Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", 2011), and the mapping from its bits to values
// (tensorflow/core/lib/random/philox_random.h, random_distributions.h,
// random_distributions_utils.h).
#ifndef GRAPNEL_KERNELS_COMMON_PHILOX_H_
#define GRAPNEL_KERNELS_COMMON_PHILOX_H_

#include <array>
#include <bit>
#include <cstdint>

namespace grapnel {

// A stream of groups of four 32-bit numbers, with random access to each group.
class Philox {
 public:
  using Key = std::array<uint32_t, 2>;
  using Group = std::array<uint32_t, 4>;

  Philox() = default;
  Philox(Group counter, Key key) : counter_(counter), key_(key) {}
  // From the attributes seed and seed2 of a stateful op.
  static Philox FromSeeds(uint64_t seed, uint64_t seed2) {
    return Philox({0, 0, Low(seed2), High(seed2)}, {Low(seed), High(seed)});
  }
  // From the two seeds of a stateless op, scrambled.
  static Philox FromStatelessSeeds(uint64_t seed0, uint64_t seed1) {
    Philox scrambler({Low(seed0), High(seed0), Low(seed1), High(seed1)}, {0x3ec8f720, 0x02461e29});
    Group mix = scrambler.Next();
    return Philox({0, 0, mix[2], mix[3]}, {mix[0], mix[1]});
  }
  // From the state that tf.random.Generator and version 2 of the stateless ops use.
  static Philox FromState(uint64_t counter_low, uint64_t counter_high, uint64_t key) {
    return Philox({Low(counter_low), High(counter_low), Low(counter_high), High(counter_high)},
                  {Low(key), High(key)});
  }
  uint64_t counter_low() const { return Join(counter_[0], counter_[1]); }
  uint64_t counter_high() const { return Join(counter_[2], counter_[3]); }
  uint64_t key() const { return Join(key_[0], key_[1]); }

  void Skip(uint64_t groups) {
    uint64_t low = counter_low() + groups;
    uint64_t high = counter_high() + (low < groups ? 1 : 0);
    counter_ = {Low(low), High(low), Low(high), High(high)};
  }

  Group Next() {
    Group x = counter_;
    Key key = key_;
    for (int round = 0; round < 10; ++round) {
      uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
      x = {High(b) ^ x[1] ^ key[0], Low(b), High(a) ^ x[3] ^ key[1], Low(a)};
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
    Skip(1);
    return x;
  }

 private:
  static uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
  static uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
  static uint64_t Join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

  Group counter_{};
  Key key_{};
};

// Yields one number at a time.
class PhiloxNumbers {
 public:
  explicit PhiloxNumbers(Philox philox) : philox_(philox) {}
  uint32_t Next() {
    if (used_ == 4) {
      group_ = philox_.Next();
      used_ = 0;
    }
    return group_[used_++];
  }
  uint64_t Next64() {
    uint64_t low = Next();
    return uint64_t{Next()} << 32 | low;
  }
  // Uniform in [0, 1).
  float NextFloat() { return std::bit_cast<float>(uint32_t{127} << 23 | (Next() & 0x7fffff)) - 1; }
  // Uniform in [0, n): rejects the numbers that would favor small results. n must be at least 1.
  uint32_t Below(uint32_t n) {
    if ((n & (n - 1)) == 0) return Next() & (n - 1);
    uint32_t rest = ~uint32_t{0} % n + 1, number = Next();
    while (number < rest) number = Next();
    return number % n;
  }
  uint64_t Below64(uint64_t n) {
    if ((n & (n - 1)) == 0) return Next64() & (n - 1);
    uint64_t rest = ~uint64_t{0} % n + 1, number = Next64();
    while (number < rest) number = Next64();
    return number % n;
  }

 private:
  Philox philox_;
  Philox::Group group_{};
  int used_ = 4;
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_PHILOX_H_
