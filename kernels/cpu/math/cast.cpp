// Cast between any two of the number types, bool and the quantized types, with the rounding and
// overflow of TensorFlow's CPU kernel.
#include <cstring>

#include "kernels/common/dispatch.h"
#include "kernels/common/to_integer.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

using CoreTypes = Join<Join<IntegerTypes, TypeList<float, double, bool>>, ComplexTypes>;
using CastLoop = void (*)(const void* in, void* out, int64_t n);

template <typename To, typename From>
To CastOne(From x) {
  if constexpr (kIsComplex<From> && kIsComplex<To>) {
    return To(x);
  } else if constexpr (kIsComplex<From>) {
    return CastOne<To>(x.real());
  } else if constexpr (kIsComplex<To>) {
    return To(CastOne<typename To::value_type>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return ToInteger<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename To>
void CastRow(const void* pin, void* pout, int64_t n) {
  const From* in = static_cast<const From*>(pin);
  To* out = static_cast<To*>(pout);
  for (int64_t i = 0; i < n; ++i) out[i] = CastOne<To>(in[i]);
}

CastLoop CoreLoop(DataType from, DataType to) {
  return ForType(from, CoreTypes(), [to](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    return ForType(to, CoreTypes(), [](auto to_tag) -> CastLoop {
      return &CastRow<From, typename decltype(to_tag)::type>;
    });
  });
}

bool IsSmall(DataType type) { return type == proto::DT_HALF || type == proto::DT_BFLOAT16; }

// The dtype in which the conversion is computed.
DataType CoreOf(DataType type) { return IsSmall(type) ? proto::DT_FLOAT : UnquantizedType(type); }

void WidenAs(DataType type, const void* in, float* out, int64_t n) {
  if (type == proto::DT_HALF)
    Widen(static_cast<const Eigen::half*>(in), out, n);
  else
    Widen(static_cast<const Eigen::bfloat16*>(in), out, n);
}
void NarrowAs(DataType type, const float* in, void* out, int64_t n) {
  if (type == proto::DT_HALF)
    Narrow(in, static_cast<Eigen::half*>(out), n);
  else
    Narrow(in, static_cast<Eigen::bfloat16*>(out), n);
}

// Returns the number of mantissa bits that Truncate clears before the cast, so that the cast does
// not round, except to subnormal numbers.
int BitsToClear(DataType from, DataType to) {
  auto bits = [](DataType type) {
    return type == proto::DT_DOUBLE  ? 52
           : type == proto::DT_FLOAT ? 23
           : type == proto::DT_HALF  ? 10
                                     : 7;
  };
  auto part = [](DataType type) {
    return type == proto::DT_COMPLEX64    ? proto::DT_FLOAT
           : type == proto::DT_COMPLEX128 ? proto::DT_DOUBLE
                                          : type;
  };
  // TensorFlow truncates to bfloat16 only from float.
  if (to == proto::DT_BFLOAT16 && from != proto::DT_FLOAT) return 0;
  if (to == proto::DT_COMPLEX64 && from != proto::DT_COMPLEX128) return 0;
  from = part(from);
  to = part(to);
  bool both = (from == proto::DT_FLOAT || from == proto::DT_DOUBLE) &&
              (IsSmall(to) || to == proto::DT_FLOAT || to == proto::DT_DOUBLE);
  return both ? std::max(bits(from) - bits(to), 0) : 0;
}

struct CastPlan {
  DataType from, to;
  CastLoop core;
  int clear;
};

// n must be at most kFloatBlock.
void CastBlock(const CastPlan& plan, const void* in, void* out, int64_t n) {
  alignas(16) char cleared[kFloatBlock * 16];
  int64_t bytes = n * static_cast<int64_t>(DataTypeSize(plan.from));
  if (plan.clear > 0) {
    std::memcpy(cleared, in, bytes);
    in = cleared;
  }
  if (plan.clear > 0 && (plan.from == proto::DT_FLOAT || plan.from == proto::DT_COMPLEX64)) {
    for (int64_t i = 0; i < bytes / 4; ++i)
      reinterpret_cast<uint32_t*>(cleared)[i] &= ~uint32_t{0} << plan.clear;
  } else if (plan.clear > 0) {
    for (int64_t i = 0; i < bytes / 8; ++i)
      reinterpret_cast<uint64_t*>(cleared)[i] &= ~uint64_t{0} << plan.clear;
  }
  float wide[kFloatBlock], narrow[kFloatBlock];
  if (IsSmall(plan.from)) {
    WidenAs(plan.from, in, wide, n);
    in = wide;
  }
  plan.core(in, IsSmall(plan.to) ? narrow : out, n);
  if (IsSmall(plan.to)) NarrowAs(plan.to, narrow, out, n);
}

Expected<KernelFn> MakeCast(const KernelSetup& setup) {
  CastPlan plan{setup.input_type(0), setup.output_type(0), nullptr, 0};
  if (plan.from == plan.to) {
    return KernelFn([](KernelContext& ctx) {
      ctx.SetOutput(0, ctx.input(0));
      return Error::success();
    });
  }
  plan.core = CoreLoop(CoreOf(plan.from), CoreOf(plan.to));
  if (!plan.core)
    return MakeError("cannot cast {0} to {1}", DataTypeName(plan.from), DataTypeName(plan.to));
  if (setup.node().GetBool("Truncate")) plan.clear = BitsToClear(plan.from, plan.to);
  return KernelFn([plan](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    int64_t from_size = DataTypeSize(plan.from), to_size = DataTypeSize(plan.to);
    ctx.ParallelFor(in.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; at += kFloatBlock) {
        CastBlock(plan, static_cast<const char*>(in.raw()) + at * from_size,
                  static_cast<char*>(out->raw()) + at * to_size, std::min(kFloatBlock, end - at));
      }
    });
    return Error::success();
  });
}

std::vector<DataType> CastTypes() {
  std::vector<DataType> types =
      DataTypesOf(Join<CoreTypes, TypeList<Eigen::half, Eigen::bfloat16>>());
  types.insert(types.end(), {proto::DT_QINT8, proto::DT_QUINT8, proto::DT_QINT16, proto::DT_QUINT16,
                             proto::DT_QINT32});
  return types;
}
GRAPNEL_CPU_KERNEL("Cast", MakeCast, OfTypes("SrcT", CastTypes()));

}  // namespace
}  // namespace grapnel
