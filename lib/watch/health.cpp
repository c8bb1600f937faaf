#include "lib/watch/health.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace grapnel {
namespace {

// Blocks keep the counters in 32 bits, which is what lets the compiler count several elements at
// once.
constexpr int64_t kBlock = 1 << 15;

template <typename T, typename Count>
void CountFloats(const T* data, int64_t size, Count count) {
  for (int64_t begin = 0; begin < size; begin += kBlock)
    count(data + begin, std::min(kBlock, size - begin));
}

template <typename T>
void CountNative(const T* data, int64_t size, Health* health) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  CountFloats(data, size, [health](const T* block, int64_t n) {
    int32_t neg_inf = 0, pos_inf = 0, below = 0, zero = 0, above = 0;
    for (int64_t i = 0; i < n; ++i) {
      T value = block[i];
      neg_inf += value == -kInfinity;
      pos_inf += value == kInfinity;
      below += value < 0;
      zero += value == 0;
      above += value > 0;
    }
    health->neg_inf += neg_inf;
    health->pos_inf += pos_inf;
    health->negative += below - neg_inf;
    health->zero += zero;
    health->positive += above - pos_inf;
    health->nan += n - below - zero - above;  // what compares with nothing
  });
}

// 16-bit floats by their bits: exponent all ones is infinite or no number.
void Count16(const uint16_t* data, int64_t size, uint16_t exponent, Health* health) {
  CountFloats(data, size, [=](const uint16_t* block, int64_t n) {
    int32_t nan = 0, pos_inf = 0, neg_inf = 0, zero = 0, sign = 0;
    for (int64_t i = 0; i < n; ++i) {
      uint16_t bits = block[i], magnitude = bits & 0x7FFF;
      nan += magnitude > exponent;
      pos_inf += bits == exponent;
      neg_inf += bits == (exponent | 0x8000);
      zero += magnitude == 0;
      sign += bits > 0x8000 && magnitude <= exponent;
    }
    health->nan += nan;
    health->pos_inf += pos_inf;
    health->neg_inf += neg_inf;
    health->zero += zero;
    health->negative += sign - neg_inf;
    health->positive += n - nan - pos_inf - zero - sign;
  });
}

template <typename T>
void CountIntegers(const T* data, int64_t size, Health* health) {
  CountFloats(data, size, [health](const T* block, int64_t n) {
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
void CountComplex(const T* data, int64_t size, Health* health) {
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

}  // namespace

Health HealthOf(const Tensor& tensor) {
  Health health;
  if (!tensor) return health;
  int64_t size = tensor.num_elements();
  health.elements = size;
  switch (tensor.dtype()) {
    case proto::DT_FLOAT:
      CountNative(tensor.data<float>(), size, &health);
      break;
    case proto::DT_DOUBLE:
      CountNative(tensor.data<double>(), size, &health);
      break;
    case proto::DT_HALF:
      Count16(tensor.data<uint16_t>(), size, 0x7C00, &health);
      break;
    case proto::DT_BFLOAT16:
      Count16(tensor.data<uint16_t>(), size, 0x7F80, &health);
      break;
    case proto::DT_COMPLEX64:
      CountComplex(static_cast<const float*>(tensor.raw()), size, &health);
      break;
    case proto::DT_COMPLEX128:
      CountComplex(static_cast<const double*>(tensor.raw()), size, &health);
      break;
    case proto::DT_BOOL:
    case proto::DT_UINT8:
    case proto::DT_QUINT8:
    case proto::DT_UINT4:
    case proto::DT_UINT2:
      CountIntegers(tensor.data<uint8_t>(), size, &health);
      break;
    case proto::DT_UINT16:
    case proto::DT_QUINT16:
      CountIntegers(tensor.data<uint16_t>(), size, &health);
      break;
    case proto::DT_UINT32:
      CountIntegers(tensor.data<uint32_t>(), size, &health);
      break;
    case proto::DT_UINT64:
      CountIntegers(tensor.data<uint64_t>(), size, &health);
      break;
    case proto::DT_INT8:
    case proto::DT_QINT8:
    case proto::DT_INT4:
    case proto::DT_INT2:
      CountIntegers(tensor.data<int8_t>(), size, &health);
      break;
    case proto::DT_INT16:
    case proto::DT_QINT16:
      CountIntegers(tensor.data<int16_t>(), size, &health);
      break;
    case proto::DT_INT32:
    case proto::DT_QINT32:
      CountIntegers(tensor.data<int32_t>(), size, &health);
      break;
    case proto::DT_INT64:
      CountIntegers(tensor.data<int64_t>(), size, &health);
      break;
    default:
      break;
  }
  return health;
}

Expected<Health> HealthOn(const Tensor& tensor, Stream* stream) {
  Device* device = tensor.device();
  if (!device) return HealthOf(tensor);
  ElementCounts counts;
  ASSIGN_OR_RETURN(bool counted, device->Count(tensor, *stream, &counts));
  if (!counted) {
    ASSIGN_OR_RETURN(Tensor copy, CopyTensor(tensor, nullptr, *stream, HeapAllocator()));
    RETURN_IF_ERROR(stream->Wait());
    return HealthOf(copy);
  }
  Health health;
  health.elements = tensor.num_elements();
  health.neg_inf = counts.neg_inf;
  health.pos_inf = counts.pos_inf;
  health.nan = counts.nan;
  health.negative = counts.negative;
  health.zero = counts.zero;
  health.positive = counts.positive;
  return health;
}

}  // namespace grapnel
