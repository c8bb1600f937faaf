// HDF5, as far as Keras writes its weights in it: groups, plain arrays, names.
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

// Format: "HDF5 File Format Specification Version 3.0" (hdfgroup.org). Read of it: superblocks 0 to
// 3, groups by symbol tables or links in their headers, arrays of numbers in one piece, attributes
// of text. A reader of our own, and not the library: that one ends the program on files that are
// damaged. Move-only. Not thread-safe.
class Hdf5File {
 public:
  // `bytes`, which `file` keeps, is the file, or a part of it. Reads all groups. Errors say what is
  // damaged, or written in a way that is not read.
  static Expected<Hdf5File> Open(llvm::StringRef bytes, std::shared_ptr<const FileBytes> file);

  struct Array {
    DataType dtype = proto::DT_INVALID;  // invalid: of none that graphs have
    Dims dims;
    bool is_in_one_piece = false;
    llvm::StringRef data;  // little-endian
  };
  struct Group {
    std::map<std::string, std::string> attributes;  // those of text
  };
  // By path, "layers/dense/vars/0".
  const std::map<std::string, Array>& arrays() const { return arrays_; }
  const std::map<std::string, Group>& groups() const { return groups_; }  // the root is ""

  // The value, borrowed from the file. Errors name the array.
  Expected<Literal> Read(const std::string& path) const;

 private:
  class Reader;
  std::shared_ptr<const FileBytes> file_;
  std::map<std::string, Array> arrays_;
  std::map<std::string, Group> groups_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_HDF5_H_
