// Reads and writes tensor values as .npy files.
#ifndef GRAPNEL_LIB_IO_VALUE_H_
#define GRAPNEL_LIB_IO_VALUE_H_

#include <optional>

#include "lib/ir/literal.h"
#include "lib/support/error.h"
#include "lib/support/file.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Reads a .npy file as a literal, which points into the file if its elements need no conversion.
// Fixed-width bytes (S) and text (U, as UTF-8) become strings without trailing NULs, as in NumPy.
// `expected` selects a dtype that NumPy does not have: bfloat16 (stored as V2 or u2; V2 is also
// read as bfloat16 without `expected`), 8-bit floats (V1, u1), or quantized and narrow integers
// (stored as plain integers). Values are not cast to other dtypes. Errors name the file; one about
// the dtype also names the dtype of the file and, if given, `expected`.
GRAPNEL_PUBLIC Expected<Literal> LoadNpyLiteral(llvm::StringRef path,
                                                std::optional<DataType> expected = std::nullopt);

// Like LoadNpyLiteral, for bytes in memory.
GRAPNEL_PUBLIC Expected<Literal> ReadNpyLiteral(std::shared_ptr<const FileBytes> file,
                                                std::optional<DataType> expected = std::nullopt);

// Writes a .npy file; strings are written as fixed-width bytes (S). Fails for a dtype without a
// form in a .npy file, such as resource.
GRAPNEL_PUBLIC Error SaveNpyLiteral(llvm::StringRef path, const Literal& literal);
// Returns the bytes that SaveNpyLiteral writes. Errors name the literal as `name`.
GRAPNEL_PUBLIC Expected<std::string> NpyFileBytes(llvm::StringRef name, const Literal& literal);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VALUE_H_
