// StringToHashBucketFast, StringToHashBucketStrong and StringToHashBucket. Graphs keep what they
// learned by bucket, so the hashes are TensorFlow's, bit for bit: FarmHash's Fingerprint64,
// SipHash-2-4, MurmurHash64A.
#include "kernels/cpu/text/string_hash.h"

#include <cstring>
#include <utility>
#include <vector>

#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

uint64_t Word(const char* s) {
  uint64_t value;
  std::memcpy(&value, s, sizeof value);
  return value;
}
uint32_t HalfWord(const char* s) {
  uint32_t value;
  std::memcpy(&value, s, sizeof value);
  return value;
}
uint64_t TurnRight(uint64_t x, int bits) { return x >> bits | x << (64 - bits); }
uint64_t TurnLeft(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

// --- FarmHash

constexpr uint64_t kA = 0xc3a5c85c97cb3127, kB = 0xb492b66fbe98f273, kC = 0x9ae16a3b2f90404f;

uint64_t Fold(uint64_t x) { return x ^ x >> 47; }
uint64_t Mix(uint64_t u, uint64_t v, uint64_t factor) {
  uint64_t a = Fold((u ^ v) * factor);
  return Fold((v ^ a) * factor) * factor;
}

uint64_t FarmUpTo16(const char* s, uint64_t n) {
  uint64_t factor = kC + n * 2;
  if (n >= 8) {
    uint64_t a = Word(s) + kC, b = Word(s + n - 8);
    return Mix(TurnRight(b, 37) * factor + a, (TurnRight(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return Mix(n + (uint64_t{HalfWord(s)} << 3), HalfWord(s + n - 4), factor);
  if (n == 0) return kC;
  auto byte = [s](uint64_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
  uint32_t y = byte(0) + (byte(n >> 1) << 8);
  uint32_t z = static_cast<uint32_t>(n) + (byte(n - 1) << 2);
  return Fold(y * kC ^ z * kA) * kC;
}

uint64_t FarmUpTo32(const char* s, uint64_t n) {
  uint64_t factor = kC + n * 2, a = Word(s) * kB, b = Word(s + 8);
  uint64_t c = Word(s + n - 8) * factor, d = Word(s + n - 16) * kC;
  return Mix(TurnRight(a + b, 43) + TurnRight(c, 30) + d, a + TurnRight(b + kC, 18) + c, factor);
}

uint64_t FarmUpTo64(const char* s, uint64_t n) {
  uint64_t factor = kC + n * 2, a = Word(s) * kC, b = Word(s + 8);
  uint64_t c = Word(s + n - 8) * factor, d = Word(s + n - 16) * kC;
  uint64_t y = TurnRight(a + b, 43) + TurnRight(c, 30) + d;
  uint64_t z = Mix(y, a + TurnRight(b + kC, 18) + c, factor);
  uint64_t e = Word(s + 16) * factor, f = Word(s + 24);
  uint64_t g = (y + Word(s + n - 32)) * factor, h = (z + Word(s + n - 24)) * factor;
  return Mix(TurnRight(e + f, 43) + TurnRight(g, 30) + h, e + TurnRight(f + a, 18) + g, factor);
}

// What a block of 64 bytes does to the state.
struct FarmState {
  uint64_t x, y, z;
  std::pair<uint64_t, uint64_t> v{0, 0}, w{0, 0};

  static std::pair<uint64_t, uint64_t> Weak(const char* s, uint64_t a, uint64_t b) {
    a += Word(s);
    b = TurnRight(b + a + Word(s + 24), 21);
    uint64_t c = a;
    a += Word(s + 8) + Word(s + 16);
    b += TurnRight(a, 44);
    return {a + Word(s + 24), b + c};
  }
  void Take(const char* s, uint64_t factor, uint64_t weight) {
    x = TurnRight(x + y + v.first + Word(s + 8), 37) * factor;
    y = TurnRight(y + v.second + Word(s + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + Word(s + 40);
    z = TurnRight(z + w.first, 33) * factor;
    v = Weak(s, v.second * factor, x + w.first);
    w = Weak(s + 32, z + w.second, y + Word(s + 16));
    std::swap(z, x);
  }
};

}  // namespace

uint64_t FarmHash(llvm::StringRef text) {
  const char* s = text.data();
  uint64_t n = text.size();
  if (n <= 16) return FarmUpTo16(s, n);
  if (n <= 32) return FarmUpTo32(s, n);
  if (n <= 64) return FarmUpTo64(s, n);
  constexpr uint64_t kSeed = 81;
  FarmState state{kSeed * kC + Word(s), kSeed * kB + 113, 0};
  state.z = Fold(state.y * kC + 113) * kC;
  uint64_t last = (n - 1) & 63;
  const char *end = s + (n - 1) / 64 * 64, *tail = end + last - 63;
  for (; s != end; s += 64) state.Take(s, kB, 1);
  uint64_t factor = kB + ((state.z & 0xff) << 1);
  state.w.first += last;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.Take(tail, factor, 9);
  return Mix(Mix(state.v.first, state.w.first, factor) + Fold(state.y) * kA + state.z,
             Mix(state.v.second, state.w.second, factor) + state.x, factor);
}

// --- SipHash

uint64_t SipHash(llvm::StringRef text, uint64_t key0, uint64_t key1) {
  uint64_t v0 = key0 ^ 0x736f6d6570736575, v1 = key1 ^ 0x646f72616e646f6d;
  uint64_t v2 = key0 ^ 0x6c7967656e657261, v3 = key1 ^ 0x7465646279746573;
  auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1, v2 += v3;
      v1 = TurnLeft(v1, 13) ^ v0, v3 = TurnLeft(v3, 16) ^ v2;
      v0 = TurnLeft(v0, 32);
      v2 += v1, v0 += v3;
      v1 = TurnLeft(v1, 17) ^ v2, v3 = TurnLeft(v3, 21) ^ v0;
      v2 = TurnLeft(v2, 32);
    }
  };
  auto take = [&](uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) take(Word(text.data() + at));
  uint64_t last = static_cast<uint64_t>(text.size()) << 56;
  std::memcpy(&last, text.data() + at, text.size() - at);
  take(last);
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

// --- MurmurHash

namespace {

constexpr uint64_t kFactor = 0xc6a4a7935bd1e995;

uint64_t MurmurHash(llvm::StringRef text) {
  constexpr uint64_t kSeed = 0xdecafcaffe;
  uint64_t hash = kSeed ^ text.size() * kFactor;
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8)
    hash = (hash ^ Fold(Word(text.data() + at) * kFactor) * kFactor) * kFactor;
  if (at < text.size()) {
    uint64_t rest = 0;
    std::memcpy(&rest, text.data() + at, text.size() - at);
    hash = (hash ^ rest) * kFactor;
  }
  return Fold(Fold(hash) * kFactor);
}

}  // namespace

uint64_t JoinHashes(uint64_t first, uint64_t second) {
  uint64_t hash = (first ^ kFactor ^ Fold(second * kFactor) * kFactor) * kFactor;
  return Fold(Fold(hash) * kFactor);
}

namespace {

template <typename Hash>
Expected<KernelFn> MakeBuckets(const KernelSetup& setup, Hash hash) {
  int64_t buckets = setup.node().GetInt("num_buckets");
  if (buckets < 1) return MakeError("num_buckets must be at least 1, got {0}", buckets);
  return KernelFn([hash, buckets](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      out->data<int64_t>()[i] =
          static_cast<int64_t>(hash(in.data<std::string>()[i]) % static_cast<uint64_t>(buckets));
    }
    return Error::success();
  });
}

Expected<KernelFn> MakeFast(const KernelSetup& setup) { return MakeBuckets(setup, FarmHash); }
Expected<KernelFn> MakeLegacy(const KernelSetup& setup) { return MakeBuckets(setup, MurmurHash); }
Expected<KernelFn> MakeStrong(const KernelSetup& setup) {
  std::vector<int64_t> key = setup.node().GetInts("key");
  if (key.size() != 2) return MakeError("key must have 2 numbers, not {0}", key.size());
  return MakeBuckets(setup, [key](llvm::StringRef text) {
    return SipHash(text, static_cast<uint64_t>(key[0]), static_cast<uint64_t>(key[1]));
  });
}

GRAPNEL_CPU_KERNEL("StringToHashBucketFast", MakeFast);
GRAPNEL_CPU_KERNEL("StringToHashBucketStrong", MakeStrong);
GRAPNEL_CPU_KERNEL("StringToHashBucket", MakeLegacy);

}  // namespace
}  // namespace grapnel
