// Base64 as in RFC 4648: TensorFlow's ops use the URL-safe alphabet, JSON may use either alphabet.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_BASE64_H_
#define GRAPNEL_KERNELS_CPU_TEXT_BASE64_H_

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Encodes with '-' and '_' as the last two letters; pads with '=' if `pad`.
std::string EncodeBase64(llvm::StringRef bytes, bool pad);

enum class Base64Alphabet { kWeb, kEither };

// Accepts padded and unpadded text; nullopt if it is not valid base64.
std::optional<std::string> DecodeBase64(llvm::StringRef text, Base64Alphabet alphabet);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_BASE64_H_
