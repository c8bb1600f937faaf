// A reader for the subset of HDF5 that Keras uses for weights: groups, contiguous arrays, names.
#ifndef GRAPNEL_LIB_IO_HDF5_H_
#define GRAPNEL_LIB_IO_HDF5_H_

#include <map>
#include <memory>
#include <string>

#include "lib/ir/literal.h"
#include "lib/support/error.h"
#include "lib/support/file.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

bool IsHdf5(llvm::StringRef head);

// A file in the format of the "HDF5 File Format Specification Version 3.0" (hdfgroup.org). Supports
// superblocks 0 to 3, groups with symbol tables or with links in their headers, contiguous arrays
// of numbers, and text attributes. Does not use the HDF5 library, because that crashes on damaged
// files. Not thread-safe.
class Hdf5File {
 public:
  // `bytes`, which `file` owns, is the whole file or a part of it. Reads all groups. Errors name
  // the damage or the unsupported feature.
  static Expected<Hdf5File> Open(llvm::StringRef bytes, std::shared_ptr<const FileBytes> file);

  struct Array {
    DataType dtype = proto::DT_INVALID;  // DT_INVALID: not supported
    Dims dims;
    bool is_in_one_piece = false;
    llvm::StringRef data;  // little-endian; only if is_in_one_piece
  };
  struct Group {
    std::map<std::string, std::string> attributes;  // text attributes
  };
  // The arrays by path, such as "layers/dense/vars/0".
  const std::map<std::string, Array>& arrays() const { return arrays_; }
  const std::map<std::string, Group>& groups() const { return groups_; }  // "" is the root

  // Returns the value of an array, which points into the file. Errors name the array.
  Expected<Literal> Read(const std::string& path) const;

 private:
  class Reader;
  std::shared_ptr<const FileBytes> file_;
  std::map<std::string, Array> arrays_;
  std::map<std::string, Group> groups_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_HDF5_H_
