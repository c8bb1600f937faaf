// Hashes for tables in memory: fast, the same in each run, of no use against an enemy.
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

// Eight bytes at a time: most of what is hashed is short.
inline uint64_t HashBytes(llvm::StringRef bytes) {
  uint64_t hash = 0x9E3779B97F4A7C15ull ^ bytes.size();
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = MixHash(hash, word);
  }
  if (left) {
    uint64_t word = 0;
    std::memcpy(&word, at, left);
    hash = MixHash(hash, word);
  }
  return hash * 0xC4CEB9FE1A85EC53ull;
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_HASH_H_
