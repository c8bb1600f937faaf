// StringToNumber: what strtod reads, or a decimal integer; space around it does not count.
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "kernels/cpu/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

using ParsedTypes = TypeList<float, double, int32_t, int64_t, uint32_t, uint64_t>;

bool Parse(const char* text, char** end, float& value) {
  value = std::strtof(text, end);
  return true;
}
bool Parse(const char* text, char** end, double& value) {
  value = std::strtod(text, end);
  return true;
}

template <typename T>
bool ParseNumber(llvm::StringRef whole, T& value) {
  llvm::StringRef text = whole.trim(" \t\n\v\f\r");
  if (text.empty()) return false;
  if constexpr (std::is_floating_point_v<T>) {
    std::string copy = text.str();
    char* end = nullptr;
    return Parse(copy.c_str(), &end, value) && end == copy.c_str() + copy.size();
  } else {
    if (text.front() == '+' && text.take_front(2) != "+-") text = text.drop_front();
    auto [end, error] = std::from_chars(text.begin(), text.end(), value);
    return error == std::errc() && end == text.end();
  }
}

template <typename T>
Error StringToNumber(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    const std::string& text = in.data<std::string>()[i];
    if (!ParseNumber(text, out->data<T>()[i]))
      return MakeError("element {0}, '{1}', is no {2}", i, text, DataTypeName(out->dtype()));
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

GRAPNEL_CPU_KERNEL("StringToNumber", "out_type", DataTypesOf(ParsedTypes()), KernelCost::kElements,
                   MakeStringToNumber);

}  // namespace
}  // namespace grapnel
