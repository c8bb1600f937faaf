// A hash of two hashes, for tables in memory. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_PAIR_HASH_H_
#define GRAPNEL_LIB_RENDER_PAIR_HASH_H_

#include <cstdint>

namespace grapnel {

inline uint64_t HashOfPair(uint64_t a, uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15 + (a << 12) + (a >> 4);
  a *= 0xff51afd7ed558ccd;
  return a ^ (a >> 33);
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAIR_HASH_H_
