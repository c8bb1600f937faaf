// NumPy's .npy files: how values travel.
#ifndef GRAPNEL_LIB_SUPPORT_NPY_H_
#define GRAPNEL_LIB_SUPPORT_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "lib/support/file.h"

namespace grapnel {

// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1 to 3,
// little-endian or byte-order-free (big-endian ones are swapped), C or Fortran order (the latter is
// transposed while read). What needs neither borrows from the mapped file. Errors name the file: no
// .npy, cut off, pickled objects, structured dtypes.
struct NpyArray {
  std::string type;  // NumPy's: "f4", "i8", "b1", "c8", "S12" (fixed-width bytes), "U5", "V2"
                     // (bfloat16 as NumPy saves it)
  std::vector<int64_t> dims;
  llvm::StringRef bytes;  // row-major elements, within `file` or `owned`
  std::shared_ptr<const FileBytes> file;
};

Expected<NpyArray> ReadNpy(llvm::StringRef path);
Expected<NpyArray> ParseNpy(std::shared_ptr<const FileBytes> file);
// What such a file begins with, before its elements: version 1.0, C order. `type` as above. Errors
// call the file `name`.
Expected<std::string> NpyHeader(llvm::StringRef name, llvm::StringRef type,
                                llvm::ArrayRef<int64_t> dims);
Error WriteNpy(llvm::StringRef path, llvm::StringRef type, llvm::ArrayRef<int64_t> dims,
               llvm::StringRef bytes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_NPY_H_
