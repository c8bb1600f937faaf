// StringToHashBucketFast, _TensorToHashBucketFast (the same for integers), StringToHashBucketStrong
// and StringToHashBucket. Trained models depend on the buckets, so the hashes must be bitwise
// TensorFlow's: FarmHash's Fingerprint64, SipHash-2-4, MurmurHash64A.
#include "kernels/cpu/text/string_hash.h"

#include <farmhash.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

uint64_t Word(const char* s) {
  uint64_t value;
  std::memcpy(&value, s, sizeof value);
  return value;
}
uint64_t Fold(uint64_t x) { return x ^ x >> 47; }

}  // namespace

uint64_t FarmHash(llvm::StringRef text) { return util::Fingerprint64(text.data(), text.size()); }

// Implemented here because LLVM has SipHash only since version 19, and grapnel builds with 16 to
// 19.
uint64_t SipHash(llvm::StringRef text, uint64_t key0, uint64_t key1) {
  uint64_t v0 = key0 ^ 0x736f6d6570736575, v1 = key1 ^ 0x646f72616e646f6d;
  uint64_t v2 = key0 ^ 0x6c7967656e657261, v3 = key1 ^ 0x7465646279746573;
  auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1, v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0, v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1, v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2, v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
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

Expected<int64_t> BucketsOf(const KernelSetup& setup) {
  int64_t buckets = setup.node().GetInt("num_buckets");
  if (buckets < 1) return MakeError("num_buckets must be at least 1, got {0}", buckets);
  return buckets;
}

int64_t BucketOf(uint64_t hash, int64_t buckets) {
  return static_cast<int64_t>(hash % static_cast<uint64_t>(buckets));
}

template <typename Hash>
Expected<KernelFn> MakeBuckets(const KernelSetup& setup, Hash hash) {
  ASSIGN_OR_RETURN(int64_t buckets, BucketsOf(setup));
  return KernelFn([hash, buckets](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      out->data<int64_t>()[i] = BucketOf(hash(in.data<std::string>()[i]), buckets);
    }
    return Error::success();
  });
}

// Returns the buckets of the texts of integers, without storing the texts.
Expected<KernelFn> MakeOfNumbers(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(int64_t buckets, BucketsOf(setup));
  return KernelFn([buckets](KernelContext& ctx) -> Error {
    Literal in = ctx.input(0).ToLiteral();
    bool is_signed = in.dtype() != proto::DT_UINT64;
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      int64_t value = in.AsInt(i);
      out->data<int64_t>()[i] =
          BucketOf(FarmHash(is_signed ? std::to_string(value)
                                      : std::to_string(static_cast<uint64_t>(value))),
                   buckets);
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
GRAPNEL_CPU_KERNEL("_TensorToHashBucketFast", MakeOfNumbers);
GRAPNEL_CPU_KERNEL("StringToHashBucketStrong", MakeStrong);
GRAPNEL_CPU_KERNEL("StringToHashBucket", MakeLegacy);

}  // namespace
}  // namespace grapnel
