// Hashes for tables in memory: fast, the same in every run, but not safe against inputs that are
// chosen to collide.
#ifndef GRAPNEL_LIB_SUPPORT_HASH_H_
#define GRAPNEL_LIB_SUPPORT_HASH_H_

#include <cstdint>
#include <cstring>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

inline uint64_t MixHash(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0xFF51AFD7ED558CCDull;
  return hash ^ hash >> 32;
}

// Packs 1 to 7 bytes into a number without a loop. For most counts, some bytes are in it more than
// once.
inline uint64_t LastBytes(const char* at, size_t count) {
  if (count >= 4) {
    uint32_t first, last;
    std::memcpy(&first, at, 4);
    std::memcpy(&last, at + count - 4, 4);
    return first | uint64_t{last} << 32;
  }
  auto byte = [at](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(at[i])); };
  return byte(0) | byte(count / 2) << 8 | byte(count - 1) << 16;
}

// Hashes eight bytes per iteration, then the remaining bytes, fewer than eight. Simple, because
// most inputs are short.
inline uint64_t HashBytes(llvm::StringRef bytes) {
  uint64_t hash = 0x9E3779B97F4A7C15ull ^ bytes.size();
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = MixHash(hash, word);
  }
  if (left) hash = MixHash(hash, LastBytes(at, left));
  return hash * 0xC4CEB9FE1A85EC53ull;
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_HASH_H_
