// Tensor values in files.
#ifndef GRAPNEL_LIB_IO_VALUE_H_
#define GRAPNEL_LIB_IO_VALUE_H_

#include <optional>

#include "lib/ir/literal.h"
#include "lib/support/error.h"
#include "lib/support/file.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Reads a .npy file as a literal, which points into the file if the bytes are the same. Fixed-width
// bytes (S) and text (U, as UTF-8) become strings without trailing NULs, as in NumPy. `expected`
// selects dtypes that NumPy lacks: bfloat16 (V2 or u2; V2 alone is bfloat16), 8-bit floats (V1,
// u1), quantized and narrow integers (the plain ones). Converts no value. Errors name the file, its
// dtype and what was expected.
GRAPNEL_PUBLIC Expected<Literal> LoadNpyLiteral(llvm::StringRef path,
                                                std::optional<DataType> expected = std::nullopt);

// The same for bytes in memory.
GRAPNEL_PUBLIC Expected<Literal> ReadNpyLiteral(std::shared_ptr<const FileBytes> file,
                                                std::optional<DataType> expected = std::nullopt);

// Writes strings as fixed-width bytes (S). Resources and variants are errors.
GRAPNEL_PUBLIC Error SaveNpyLiteral(llvm::StringRef path, const Literal& literal);
// Returns the contents of such a file. Errors name the literal as `name`.
GRAPNEL_PUBLIC Expected<std::string> NpyFileBytes(llvm::StringRef name, const Literal& literal);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VALUE_H_
