// Elementwise string ops: AsString, StringJoin, StringLower, StringUpper.
#include <climits>
#include <cmath>
#include <cstdio>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/text/icu_loader.h"
#include "kernels/cpu/text/tensor_text.h"
#include "lib/exec/kernel.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// The maximum precision passed to printf. Further digits of a double are zeros, which are inserted
// without printf: it would take seconds to write billions of them.
constexpr int kMostDigits = 1100;

struct Format {
  int width = -1, precision = -1;
  std::string fill;
  char style = 'f';  // for floats: f, e or g

  // Returns a printf format around `type` with all options but the width.
  std::string For(llvm::StringRef type) const {
    return "%" + (fill == "-" || fill == "0" ? "" : fill) + type.str();
  }
};

// Returns `text`, or "" if it and `more` further bytes exceed INT_MAX, the limit of printf.
std::string OfAllowedSize(std::string text, int64_t more) {
  return static_cast<int64_t>(text.size()) + more > INT_MAX ? "" : std::move(text);
}

std::string Padded(std::string text, const Format& format) {
  size_t width = std::max(format.width, 0);
  if (text.size() >= width) return text;
  size_t missing = width - text.size();
  bool is_number = llvm::isDigit(text.back());  // not inf or nan
  if (format.fill == "-")
    text.append(missing, ' ');
  else if (format.fill == "0" && is_number)
    text.insert(!llvm::isDigit(text[0]), missing, '0');  // after the sign
  else
    text.insert(0, missing, ' ');
  return text;
}

template <typename T>
std::string Printed(const std::string& format, T value) {
  int size = std::snprintf(nullptr, 0, format.c_str(), value);
  std::string text(std::max(size, 0) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.resize(std::max(size, 0));
  return text;
}

// Formats the value without padding to the width.
std::string DigitsOf(double value, const Format& format) {
  std::string precision;
  if (format.precision > -1)
    precision = "." + std::to_string(std::min(format.precision, kMostDigits));
  std::string text = Printed(format.For(precision + format.style), value);
  int zeros = std::max(format.precision - kMostDigits, 0);
  if (zeros == 0 || format.style == 'g' || !std::isfinite(value)) return text;
  text = OfAllowedSize(std::move(text), zeros);
  if (!text.empty()) text.insert(std::min(text.find('e'), text.size()), zeros, '0');
  return text;
}

std::string RealAsString(double value, const Format& format) {
  std::string text = DigitsOf(value, format);
  return text.empty() ? text : Padded(std::move(text), format);
}

template <typename T>
std::string ComplexAsString(T value, const Format& format) {
  std::string real = RealAsString(value.real(), format), imag = RealAsString(value.imag(), format);
  if (real.empty() || imag.empty() || OfAllowedSize(real, imag.size() + 3).empty()) return "";
  return "(" + real + "," + imag + ")";
}

std::string ElementAsString(const Tensor& in, int64_t i, const Format& format) {
  switch (in.dtype()) {
    case proto::DT_FLOAT:
      return RealAsString(in.data<float>()[i], format);
    case proto::DT_DOUBLE:
      return RealAsString(in.data<double>()[i], format);
    case proto::DT_HALF:
      return RealAsString(static_cast<float>(in.data<Eigen::half>()[i]), format);
    case proto::DT_BFLOAT16:
      return RealAsString(static_cast<float>(in.data<Eigen::bfloat16>()[i]), format);
    case proto::DT_COMPLEX64:
      return ComplexAsString(in.data<Complex64>()[i], format);
    case proto::DT_COMPLEX128:
      return ComplexAsString(in.data<Complex128>()[i], format);
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
      return Padded(
          Printed(format.For("llu"), static_cast<unsigned long long>(in.data<uint64_t>()[i])),
          format);
    default:
      return Padded(Printed(format.For("lld"), static_cast<long long>(in.IntAt(i))), format);
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

// Scalars are repeated; all other inputs must have one shape.
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

bool IsAscii(llvm::StringRef text) {
  return llvm::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

template <bool kUpper>
Expected<std::string> WithUnicodeCase(llvm::StringRef text) {
  ASSIGN_OR_RETURN(const GrapnelIcuApi* icu, Icu());
  std::string changed;
  auto put = [](void* to, const char* part, size_t size) {
    static_cast<std::string*>(to)->assign(part, size);
  };
  if (!icu->change_case(text.data(), text.size(), kUpper, put, &changed))
    return MakeError("a text of {0} bytes is too long to change its case", text.size());
  return changed;
}

// Without an encoding, only ASCII letters change. With one, text ends at its first zero byte, as in
// TensorFlow.
template <bool kUpper>
Expected<KernelFn> MakeStringCase(const KernelSetup& setup) {
  std::string encoding = setup.node().GetString("encoding");
  if (!encoding.empty() && encoding != "utf-8")
    return MakeError("encoding '{0}' is neither utf-8 nor empty", encoding);
  bool utf8 = !encoding.empty();
  return KernelFn([utf8](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      std::string text = in.data<std::string>()[i];
      if (utf8) text.resize(std::min(text.find('\0'), text.size()));
      if (utf8 && !IsAscii(text)) {
        ASSIGN_OR_RETURN(text, WithUnicodeCase<kUpper>(text));
      } else {
        for (char& c : text)
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
