// Random numbers for tests that generate their inputs.
#ifndef GRAPNEL_TESTS_FUZZ_RANDOM_H_
#define GRAPNEL_TESTS_FUZZ_RANDOM_H_

#include <cstdint>
#include <iterator>

namespace grapnel {

// SplitMix64: the same numbers on every platform, from any seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t Below(int64_t n) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(n)); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename List>
  const auto& Of(const List& list) {
    return list[Below(static_cast<int64_t>(std::size(list)))];
  }

 private:
  uint64_t state_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_RANDOM_H_
