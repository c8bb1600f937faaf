// Strings as elements: AsString, StringJoin, StringLower, StringUpper.
#include <cstdio>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/text/tensor_text.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

struct Format {
  int width = -1, precision = -1;
  std::string fill;
  char style = 'f';  // of floats: f, e, g

  // A printf format around `type`, with what was asked for.
  std::string For(const char* type, bool with_precision) const {
    std::string text = "%";
    text += fill;
    if (width > -1) text += std::to_string(width);
    if (with_precision && precision > -1) text += "." + std::to_string(precision);
    return text + type;
  }
};

template <typename... Args>
std::string Printed(const std::string& format, Args... args) {
  int size = std::snprintf(nullptr, 0, format.c_str(), args...);
  std::string text(std::max(size, 0) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), args...);
  text.resize(std::max(size, 0));
  return text;
}

std::string ElementAsString(const Tensor& in, int64_t i, const Format& format) {
  std::string real = format.For(std::string(1, format.style).c_str(), true);
  switch (in.dtype()) {
    case proto::DT_FLOAT:
      return Printed(real, static_cast<double>(in.data<float>()[i]));
    case proto::DT_DOUBLE:
      return Printed(real, in.data<double>()[i]);
    case proto::DT_HALF:
      return Printed(real, static_cast<double>(static_cast<float>(in.data<Eigen::half>()[i])));
    case proto::DT_BFLOAT16:
      return Printed(real, static_cast<double>(static_cast<float>(in.data<Eigen::bfloat16>()[i])));
    case proto::DT_COMPLEX64: {
      Complex64 x = in.data<Complex64>()[i];
      return Printed("(" + real + "," + real + ")", static_cast<double>(x.real()),
                     static_cast<double>(x.imag()));
    }
    case proto::DT_COMPLEX128: {
      Complex128 x = in.data<Complex128>()[i];
      return Printed("(" + real + "," + real + ")", x.real(), x.imag());
    }
    case proto::DT_BOOL:
      return in.data<bool>()[i] ? "true" : "false";
    case proto::DT_STRING: {
      std::string text = in.data<std::string>()[i];
      size_t width = std::max(format.width, 0);
      if (text.size() >= width) return text;
      std::string space(width - text.size(), ' ');
      return format.fill == "-" ? text + space : space + text;
    }
    case proto::DT_UINT64:
      return Printed(format.For("llu", false),
                     static_cast<unsigned long long>(in.data<uint64_t>()[i]));
    default:
      return Printed(format.For("lld", false), static_cast<long long>(in.IntAt(i)));
  }
}

Expected<KernelFn> MakeAsString(const KernelSetup& setup) {
  const Node& node = setup.node();
  DataType type = setup.input_type(0);
  Format format;
  format.width = static_cast<int>(node.GetInt("width", -1));
  format.precision = static_cast<int>(node.GetInt("precision", -1));
  format.fill = node.GetString("fill");
  bool scientific = node.GetBool("scientific"), shortest = node.GetBool("shortest");
  bool real = IsFloating(type) || IsComplex(type);
  if (scientific && shortest)
    return MakeError("cannot select both scientific and shortest notation");
  if (!real && (scientific || shortest)) {
    return MakeError("scientific and shortest format not supported for datatype {0}",
                     DataTypeName(type));
  }
  if (!real && format.precision > -1)
    return MakeError("precision not supported for datatype {0}", DataTypeName(type));
  if (format.fill != "" && format.fill != " " && format.fill != "0" && format.fill != "+" &&
      format.fill != "-") {
    return MakeError("fill argument not supported: \"{0}\"", format.fill);
  }
  if (!real && !IsInteger(type) && type != proto::DT_BOOL && type != proto::DT_STRING) {
    return MakeError("no kernel for dtype {0}", DataTypeName(type));
  }
  format.style = scientific ? 'e' : shortest ? 'g' : 'f';
  return KernelFn([format](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    for (int64_t i = 0; i < in.num_elements(); ++i)
      out->data<std::string>()[i] = ElementAsString(in, i, format);
    return Error::success();
  });
}

// Scalars are repeated; all others have one shape.
Expected<KernelFn> MakeStringJoin(const KernelSetup& setup) {
  std::string separator = setup.node().GetString("separator");
  return KernelFn([separator](KernelContext& ctx) -> Error {
    Dims dims;
    bool scalar = true;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      llvm::ArrayRef<int64_t> own = ctx.input(i).dims();
      if (own.empty()) continue;
      if (scalar)
        dims.assign(own.begin(), own.end());
      else if (own != llvm::ArrayRef<int64_t>(dims)) {
        return MakeError("input shapes do not match: {0} vs. {1}", DimsText(dims), DimsText(own));
      }
      scalar = false;
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    for (int64_t i = 0; i < out->num_elements(); ++i) {
      std::string& text = out->data<std::string>()[i];
      for (int k = 0; k < ctx.num_inputs(); ++k) {
        if (k > 0) text += separator;
        text += ctx.input(k).data<std::string>()[ctx.input(k).rank() == 0 ? 0 : i];
      }
    }
    return Error::success();
  });
}

// Letters beyond ASCII are left alone without an encoding, and refused with one: their case needs
// Unicode's tables.
template <bool kUpper>
Expected<KernelFn> MakeStringCase(const KernelSetup& setup) {
  bool utf8 = !setup.node().GetString("encoding").empty();
  return KernelFn([utf8](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      std::string text = in.data<std::string>()[i];
      for (char& c : text) {
        if (utf8 && static_cast<unsigned char>(c) >= 0x80) {
          return MakeError("the case of letters beyond ASCII is not supported: element {0}", i);
        }
        if (kUpper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') c ^= 0x20;
      }
      out->data<std::string>()[i] = std::move(text);
    }
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("AsString", MakeAsString);
GRAPNEL_CPU_KERNEL("StringJoin", MakeStringJoin);
GRAPNEL_CPU_KERNEL("StringLower", MakeStringCase<false>);
GRAPNEL_CPU_KERNEL("StringUpper", MakeStringCase<true>);

}  // namespace
}  // namespace grapnel
