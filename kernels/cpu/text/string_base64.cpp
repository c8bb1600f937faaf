// EncodeBase64 and DecodeBase64.
#include <array>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/text/base64.h"

namespace grapnel {
namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::array<int, 256> MakeValues() {
  std::array<int, 256> values;
  values.fill(-1);
  for (int i = 0; i < 64; ++i) values[static_cast<unsigned char>(kDigits[i])] = i;
  return values;
}

}  // namespace

std::string EncodeBase64(llvm::StringRef bytes, bool pad) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  auto byte = [&](size_t i) {
    return i < bytes.size() ? static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) : 0u;
  };
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t word = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    size_t digits = std::min<size_t>(bytes.size() - at, 3) + 1;
    for (size_t i = 0; i < 4; ++i) {
      if (i < digits)
        text += kDigits[word >> (18 - 6 * i) & 63];
      else if (pad)
        text += '=';
    }
  }
  return text;
}

std::optional<std::string> DecodeBase64(llvm::StringRef text, Base64Alphabet alphabet) {
  static const std::array<int, 256> values = MakeValues();
  if (text.size() % 4 == 0) {
    for (int i = 0; i < 2 && text.ends_with("="); ++i) text = text.drop_back();
  }
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t word = 0;
  int bits = 0;
  for (char c : text) {
    if (alphabet == Base64Alphabet::kEither && c == '+') c = '-';
    if (alphabet == Base64Alphabet::kEither && c == '/') c = '_';
    int value = values[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    word = word << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(word >> bits & 0xff);
    }
  }
  return bytes;
}

namespace {

Expected<KernelFn> MakeEncode(const KernelSetup& setup) {
  bool pad = setup.node().GetBool("pad");
  return KernelFn([pad](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    for (int64_t i = 0; i < in.num_elements(); ++i)
      out->data<std::string>()[i] = EncodeBase64(in.data<std::string>()[i], pad);
    return Error::success();
  });
}

Error Decode(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    auto bytes = DecodeBase64(in.data<std::string>()[i], Base64Alphabet::kWeb);
    if (!bytes) return MakeError("element {0} is not valid URL-safe base64", i);
    out->data<std::string>()[i] = std::move(*bytes);
  }
  return Error::success();
}

GRAPNEL_CPU_KERNEL("EncodeBase64", MakeEncode);
GRAPNEL_CPU_KERNEL("DecodeBase64", KernelOf<Decode>);

}  // namespace
}  // namespace grapnel
