// Base 64 as RFC 4648 has it: in TensorFlow's ops with the alphabet for addresses, in JSON with
// either.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_BASE64_H_
#define GRAPNEL_KERNELS_CPU_TEXT_BASE64_H_

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// With '-' and '_'; padded with '=' when `pad`.
std::string EncodeBase64(llvm::StringRef bytes, bool pad);

enum class Base64Alphabet { kWeb, kEither };

// Padded or not; nothing when it is no base 64.
std::optional<std::string> DecodeBase64(llvm::StringRef text, Base64Alphabet alphabet);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_BASE64_H_
