// Values of tensors in files.
#ifndef GRAPNEL_LIB_IO_VALUE_H_
#define GRAPNEL_LIB_IO_VALUE_H_

#include <optional>

#include "lib/ir/literal.h"
#include "lib/support/error.h"
#include "lib/support/file.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// A .npy file as a literal that borrows from it where the bytes are the same. Fixed-width bytes (S)
// and text (U, as UTF-8) become strings, with NULs at the end taken away, as NumPy does. `expected`
// decides where NumPy has no dtype of its own: bfloat16 (V2 or u2; V2 alone is bfloat16), 8-bit
// floats (V1, u1), quantized and narrow integers (the plain ones). Errors name the file, its dtype
// and what was expected; no value is converted.
GRAPNEL_PUBLIC Expected<Literal> LoadNpyLiteral(llvm::StringRef path,
                                                std::optional<DataType> expected = std::nullopt);

// The same of bytes that are at hand.
GRAPNEL_PUBLIC Expected<Literal> ReadNpyLiteral(std::shared_ptr<const FileBytes> file,
                                                std::optional<DataType> expected = std::nullopt);

// Strings are written as fixed-width bytes (S). Resources and variants are errors.
GRAPNEL_PUBLIC Error SaveNpyLiteral(llvm::StringRef path, const Literal& literal);
// What such a file holds. Errors call the literal `name`.
GRAPNEL_PUBLIC Expected<std::string> NpyFileBytes(llvm::StringRef name, const Literal& literal);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VALUE_H_
