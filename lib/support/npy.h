// NumPy's .npy files, the format in which grapnel reads and writes tensor values.
#ifndef GRAPNEL_LIB_SUPPORT_NPY_H_
#define GRAPNEL_LIB_SUPPORT_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "lib/support/file.h"

namespace grapnel {

// An array from a .npy file. Reads versions 1 to 3 of
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, in both byte orders and
// in C or Fortran order. Swaps the bytes of big-endian elements and transposes Fortran order; other
// arrays point into the file's bytes. Errors name the file.
struct NpyArray {
  // NumPy's type without the byte order, such as "f4", "i8", "b1", "c8", "S12" (fixed-width bytes),
  // "U5" (text), "V2" (the type as which NumPy saves bfloat16).
  std::string type;
  std::vector<int64_t> dims;
  llvm::StringRef bytes;  // row-major elements, within `file`
  std::shared_ptr<const FileBytes> file;
};

Expected<NpyArray> ReadNpy(llvm::StringRef path);
Expected<NpyArray> ParseNpy(std::shared_ptr<const FileBytes> file);
// Returns the header of a .npy file, version 1.0, for an array in C order. `type` is as in
// NpyArray. Errors name the file as `name`.
Expected<std::string> NpyHeader(llvm::StringRef name, llvm::StringRef type,
                                llvm::ArrayRef<int64_t> dims);
Error WriteNpy(llvm::StringRef path, llvm::StringRef type, llvm::ArrayRef<int64_t> dims,
               llvm::StringRef bytes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_NPY_H_
