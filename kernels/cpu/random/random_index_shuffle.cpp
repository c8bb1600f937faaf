// RandomIndexShuffle: the position of one index in the permutation of a seed, without computing the
// whole permutation. A Simon block cipher with the smallest sufficient block size permutes; a
// result out of range is encrypted again (Beaulieu et al., "The Simon and Speck families of
// lightweight block ciphers", 2013; Black and Rogaway, "Ciphers with arbitrary finite domains",
// 2002).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/cpu/random/random.h"

namespace grapnel {
namespace {

using Seed = std::array<uint32_t, 3>;

// A cipher on words of `bits` bits, 8 to 32.
class Cipher {
 public:
  Cipher(int bits, const Seed& seed, int64_t rounds)
      : bits_(bits), mask_((uint64_t{1} << bits) - 1), keys_(seed.begin(), seed.end()) {
    for (uint64_t& key : keys_) key &= mask_;
    uint64_t constants = 0x7369f885192c0ef5 & mask_;
    for (int64_t i = 3; i < rounds; ++i) {
      uint64_t last = keys_[i - 1];
      keys_.push_back(((0xfffffffc ^ (constants & 1)) & mask_) ^ keys_[i - 3] ^ Right(last, 3) ^
                      Right(last, 4));
      constants >>= 1;
    }
  }

  uint64_t operator()(uint64_t value) const {
    uint64_t left = value >> bits_ & mask_, right = value & mask_;
    for (size_t i = 0; i + 1 < keys_.size(); i += 2) {
      left ^= Mixed(right) ^ keys_[i];
      right ^= Mixed(left) ^ keys_[i + 1];
    }
    return left << bits_ | right;
  }

 private:
  uint64_t Left(uint64_t x, int n) const { return (x << n | x >> (bits_ - n)) & mask_; }
  uint64_t Right(uint64_t x, int n) const { return Left(x, bits_ - n); }
  uint64_t Mixed(uint64_t x) const { return (Left(x, 1) & Left(x, 8)) ^ Left(x, 2); }

  int bits_;
  uint64_t mask_;
  std::vector<uint64_t> keys_;
};

uint64_t PlaceOf(uint64_t index, const Seed& seed, uint64_t last, int64_t rounds) {
  if (last == 0) return 0;
  int block = static_cast<int>(std::ceil(std::log2(static_cast<double>(last))));
  block = std::clamp(block + block % 2, 16, 64);
  // If `last` is a power of 2, it may not fit the block size computed from it; no index maps to
  // `last` then.
  if (block < 64 && last >> block != 0) last = (uint64_t{1} << block) - 1;
  Cipher cipher(block / 2, seed, rounds);
  uint64_t place = cipher(index);
  while (place > last) place = cipher(place);
  return place;
}

struct Rows {
  int64_t count = 1;
  bool is_scalar = true;
};

// Checks indices, seeds and maximum indices: one for all, or one each.
Expected<Rows> RowsOf(const Tensor& index, const Tensor& seed, const Tensor& last) {
  Rows rows;
  rows.is_scalar = index.rank() == 0 && seed.rank() == 1 && last.rank() == 0;
  rows.count = std::max({index.num_elements(), last.num_elements(), seed.num_elements() / 3});
  for (const Tensor* tensor : {&index, &last}) {
    if (tensor->rank() != 0 && (tensor->rank() != 1 || tensor->dim(0) != rows.count))
      return MakeError(
          "index and max_index must be scalars or vectors of {0} elements, got shape {1}",
          rows.count, DimsText(tensor->dims()));
  }
  bool fits = seed.rank() == 1 ? seed.dim(0) == 3
                               : seed.rank() == 2 && seed.dim(0) == rows.count && seed.dim(1) == 3;
  if (fits) return rows;
  return MakeError("seed must have shape [3] or [{0},3], got shape {1}", rows.count,
                   DimsText(seed.dims()));
}

void PutBits(Tensor& out, int64_t i, uint64_t value) {
  if (DataTypeSize(out.dtype()) == 8)
    out.data<uint64_t>()[i] = value;
  else
    out.data<uint32_t>()[i] = static_cast<uint32_t>(value);
}

Error ShuffleIndices(KernelContext& ctx, int64_t rounds) {
  const Tensor &index = ctx.input(0), &seed = ctx.input(1), &last = ctx.input(2);
  ASSIGN_OR_RETURN(Rows rows, RowsOf(index, seed, last));
  Dims dims;
  if (!rows.is_scalar) dims.push_back(rows.count);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  for (int64_t i = 0; i < rows.count; ++i) {
    uint64_t at = BitsAt(index, index.rank() ? i : 0), end = BitsAt(last, last.rank() ? i : 0);
    bool is_signed = last.dtype() == proto::DT_INT32 || last.dtype() == proto::DT_INT64;
    if (is_signed && last.IntAt(last.rank() ? i : 0) < 0)
      return MakeError("max_index must not be negative, got {0}", last.IntAt(last.rank() ? i : 0));
    if (at > end)
      return MakeError(
          "index {0} is not in [0, {1}], the range up to max_index",
          is_signed ? std::to_string(index.IntAt(index.rank() ? i : 0)) : std::to_string(at), end);
    Seed key;
    for (int k = 0; k < 3; ++k)
      key[k] = static_cast<uint32_t>(BitsAt(seed, (seed.rank() == 2 ? 3 * i : 0) + k));
    PutBits(*out, i, PlaceOf(at, key, end, rounds));
  }
  return Error::success();
}

Expected<KernelFn> MakeShuffleIndices(const KernelSetup& setup) {
  int64_t rounds = setup.node().GetInt("rounds", 4);
  constexpr int64_t kMost = 1024;
  if (rounds < 4 || rounds % 2 != 0 || rounds > kMost)
    return MakeError("rounds must be even and in [4, {0}], got {1}", kMost, rounds);
  return KernelFn([rounds](KernelContext& ctx) { return ShuffleIndices(ctx, rounds); });
}

GRAPNEL_CPU_KERNEL("RandomIndexShuffle", MakeShuffleIndices);

}  // namespace
}  // namespace grapnel
