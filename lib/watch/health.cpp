#include "lib/watch/health.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>

#include "lib/ir/literal.h"
#include "lib/ir/types.h"
#include "lib/watch/float_counts.h"

namespace grapnel {
namespace {

// The number of elements in a block. A block is small enough for counters of 32 bits (16 for 16-bit
// types), so that vector instructions count more elements at once. A block without infinities and
// NaNs needs fewer counters.
constexpr int64_t kCountedAtOnce = 1 << 14;

template <typename T, typename Count>
void ForEachBlock(const T* data, int64_t size, Count count) {
  for (int64_t begin = 0; begin < size; begin += kCountedAtOnce)
    count(data + begin, std::min(kCountedAtOnce, size - begin));
}

// Counts a block that contains infinities or NaNs. CountFloats does not suffice here, since it
// counts NaNs with the sign bit as negative.
template <typename T>
void CountBad(const T* data, int64_t size, HealthDetail detail, ElementCounts* health) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  constexpr T kSmallest = std::numeric_limits<T>::min();
  int64_t neg_inf = 0, pos_inf = 0, nan = 0, negative = 0, positive = 0;
  for (int64_t i = 0; i < size; ++i) {
    neg_inf += data[i] == -kInfinity;
    pos_inf += data[i] == kInfinity;
    nan += data[i] != data[i];
    negative += data[i] <= -kSmallest;
    positive += data[i] >= kSmallest;
  }
  health->neg_inf += neg_inf;
  health->pos_inf += pos_inf;
  health->nan += nan;
  if (detail == HealthDetail::kBad) return;
  health->negative += negative - neg_inf;
  health->positive += positive - pos_inf;
  health->zero += size - negative - positive - nan;
}

template <typename T>
void CountNative(const T* data, int64_t size, HealthDetail detail, ElementCounts* health) {
  ForEachBlock(data, size, [=](const T* block, int64_t n) {
    if (detail == HealthDetail::kBad) {
      if (HasBadFloats(block, n)) CountBad(block, n, detail, health);
      return;
    }
    FloatCounts counts = CountFloats(block, n);
    if (counts.has_bad) return CountBad(block, n, detail, health);
    health->negative += counts.negative;
    health->zero += counts.zero;
    health->positive += n - counts.negative - counts.zero;
  });
}

// Counts 16-bit floats by their bits: magnitudes from `exponent` (all exponent bits set) are
// infinite or NaN, and magnitudes below `smallest` count as zero.
void Count16(const uint16_t* data, int64_t size, uint16_t exponent, uint16_t smallest,
             ElementCounts* health) {
  ForEachBlock(data, size, [=](const uint16_t* block, int64_t n) {
    uint16_t nan = 0, pos_inf = 0, neg_inf = 0, zero = 0, negative = 0;
    for (int64_t i = 0; i < n; ++i) {
      uint16_t bits = block[i], magnitude = bits & 0x7FFF;
      nan += magnitude > exponent;
      pos_inf += bits == exponent;
      neg_inf += bits == (exponent | 0x8000);
      zero += magnitude < smallest;
      negative += bits >= (smallest | 0x8000) && magnitude < exponent;
    }
    health->nan += nan;
    health->pos_inf += pos_inf;
    health->neg_inf += neg_inf;
    health->zero += zero;
    health->negative += negative;
    health->positive += n - nan - pos_inf - neg_inf - zero - negative;
  });
}

// Counts 8-bit and 4-bit floats: first how often each pattern of bits occurs, then the patterns.
void Count8(DataType type, const uint8_t* data, int64_t size, ElementCounts* health) {
  std::array<int64_t, 256> times = {};
  for (int64_t i = 0; i < size; ++i) ++times[data[i]];
  std::array<char, 256> patterns;
  std::iota(patterns.begin(), patterns.end(), '\0');
  Literal values =
      Literal::Make(type, {patterns.size()}, llvm::StringRef(patterns.data(), patterns.size()));
  for (size_t bits = 0; bits < times.size(); ++bits) {
    double value = values.AsDouble(static_cast<int64_t>(bits));
    int64_t& count = std::isnan(value)   ? health->nan
                     : std::isinf(value) ? (value < 0 ? health->neg_inf : health->pos_inf)
                     : value == 0        ? health->zero
                     : value < 0         ? health->negative
                                         : health->positive;
    count += times[bits];
  }
}

template <typename T>
void CountIntegers(const T* data, int64_t size, ElementCounts* health) {
  ForEachBlock(data, size, [health](const T* block, int64_t n) {
    int32_t zero = 0, negative = 0;
    for (int64_t i = 0; i < n; ++i) {
      zero += block[i] == 0;
      negative += block[i] < 0;
    }
    health->zero += zero;
    health->negative += negative;
    health->positive += n - zero - negative;
  });
}

template <typename T>
void CountComplex(const T* data, int64_t size, ElementCounts* health) {
  for (int64_t i = 0; i < size; ++i) {
    T re = data[2 * i], im = data[2 * i + 1];
    if (std::isnan(re) || std::isnan(im)) {
      ++health->nan;
    } else if (std::isinf(re) || std::isinf(im)) {
      bool negative = std::isinf(re) ? re < 0 : im < 0;
      ++(negative ? health->neg_inf : health->pos_inf);
    } else if (re == 0 && im == 0) {
      ++health->zero;
    } else {
      ++(re < 0 ? health->negative : health->positive);
    }
  }
}

void CountRange(const Tensor& tensor, int64_t begin, int64_t size, HealthDetail detail,
                ElementCounts* health) {
  if (detail == HealthDetail::kBad && !IsFloating(tensor.dtype()) && !IsComplex(tensor.dtype()))
    return;
  switch (tensor.dtype()) {
    case proto::DT_FLOAT:
      CountNative(tensor.data<float>() + begin, size, detail, health);
      break;
    case proto::DT_DOUBLE:
      CountNative(tensor.data<double>() + begin, size, detail, health);
      break;
    case proto::DT_HALF:
      Count16(tensor.data<uint16_t>() + begin, size, 0x7C00, 1, health);
      break;
    case proto::DT_BFLOAT16:
      Count16(tensor.data<uint16_t>() + begin, size, 0x7F80, 0x80, health);
      break;
    case proto::DT_FLOAT8_E5M2:
    case proto::DT_FLOAT8_E4M3FN:
    case proto::DT_FLOAT8_E4M3FNUZ:
    case proto::DT_FLOAT8_E4M3B11FNUZ:
    case proto::DT_FLOAT8_E5M2FNUZ:
    case proto::DT_FLOAT4_E2M1FN:
      Count8(tensor.dtype(), static_cast<const uint8_t*>(tensor.raw()) + begin, size, health);
      break;
    case proto::DT_COMPLEX64:
      CountComplex(static_cast<const float*>(tensor.raw()) + 2 * begin, size, health);
      break;
    case proto::DT_COMPLEX128:
      CountComplex(static_cast<const double*>(tensor.raw()) + 2 * begin, size, health);
      break;
    case proto::DT_BOOL:
    case proto::DT_UINT8:
    case proto::DT_QUINT8:
    case proto::DT_UINT4:
    case proto::DT_UINT2:
      CountIntegers(tensor.data<uint8_t>() + begin, size, health);
      break;
    case proto::DT_UINT16:
    case proto::DT_QUINT16:
      CountIntegers(tensor.data<uint16_t>() + begin, size, health);
      break;
    case proto::DT_UINT32:
      CountIntegers(tensor.data<uint32_t>() + begin, size, health);
      break;
    case proto::DT_UINT64:
      CountIntegers(tensor.data<uint64_t>() + begin, size, health);
      break;
    case proto::DT_INT8:
    case proto::DT_QINT8:
    case proto::DT_INT4:
    case proto::DT_INT2:
      CountIntegers(tensor.data<int8_t>() + begin, size, health);
      break;
    case proto::DT_INT16:
    case proto::DT_QINT16:
      CountIntegers(tensor.data<int16_t>() + begin, size, health);
      break;
    case proto::DT_INT32:
    case proto::DT_QINT32:
      CountIntegers(tensor.data<int32_t>() + begin, size, health);
      break;
    case proto::DT_INT64:
      CountIntegers(tensor.data<int64_t>() + begin, size, health);
      break;
    default:
      break;
  }
}

}  // namespace

Health& Health::operator+=(const Health& other) {
  elements += other.elements;
  ElementCounts::operator+=(other);
  return *this;
}

Health HealthOf(const Tensor& tensor, ThreadPool* pool, HealthDetail detail) {
  Health health;
  if (!tensor) return health;
  int64_t size = tensor.num_elements();
  // Split the tensor into one part for each thread, like a kernel that computed it with
  // ParallelFor: most of a part is still in the caches of the core that computed it. Counting fewer
  // than kWorthSharing elements takes less time than waking a thread.
  constexpr int64_t kWorthSharing = 1 << 15;
  int64_t parts = pool ? std::min<int64_t>(pool->num_threads(), size / kWorthSharing) : 1;
  if (parts > 1) {
    std::mutex mutex;
    constexpr double kCost = 1e6;  // large enough for the pool to use its threads
    pool->ParallelFor(parts, kCost, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        int64_t begin = size * i / parts, end = size * (i + 1) / parts;
        ElementCounts part;
        CountRange(tensor, begin, end - begin, detail, &part);
        std::lock_guard lock(mutex);
        health.ElementCounts::operator+=(part);
      }
    });
  } else {
    CountRange(tensor, 0, size, detail, &health);
  }
  health.elements = size;
  return health;
}

void CountElements(const Tensor& tensor, int64_t begin, int64_t end, HealthDetail detail,
                   ElementCounts& sum) {
  CountRange(tensor, begin, end - begin, detail, &sum);
}

Expected<Health> HealthOn(const Tensor& tensor, Stream* stream, ThreadPool* pool,
                          HealthDetail detail) {
  Device* device = tensor.device();
  if (!device) return HealthOf(tensor, pool, detail);
  Health health;
  ASSIGN_OR_RETURN(bool counted, device->Count(tensor, *stream, &health));
  if (!counted) {
    ASSIGN_OR_RETURN(Tensor copy, CopyTensor(tensor, nullptr, *stream, HeapAllocator()));
    RETURN_IF_ERROR(stream->Wait());
    return HealthOf(copy, nullptr, detail);
  }
  health.elements = tensor.num_elements();
  return health;
}

}  // namespace grapnel
