// StringToNumber: parses floats as strtod does, integers as decimal; surrounding whitespace is
// ignored.
#include "kernels/common/dispatch.h"
#include "kernels/cpu/text/number_text.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

using ParsedTypes = TypeList<float, double, int32_t, int64_t, uint32_t, uint64_t>;

template <typename T>
Error StringToNumber(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    const std::string& text = in.data<std::string>()[i];
    if (!ParseNumber(text, out->data<T>()[i]))
      return MakeError("element {0}, '{1}', is not a valid {2}", i, text,
                       DataTypeName(out->dtype()));
  }
  return Error::success();
}

Expected<KernelFn> MakeStringToNumber(const KernelSetup& setup) {
  KernelFn fn;
  ForType(setup.output_type(0), ParsedTypes(), [&](auto tag) {
    fn = [](KernelContext& ctx) { return StringToNumber<typename decltype(tag)::type>(ctx); };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("StringToNumber", MakeStringToNumber,
                   OfTypes("out_type", DataTypesOf(ParsedTypes())));

}  // namespace
}  // namespace grapnel
