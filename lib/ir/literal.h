// The value of a constant: dtype, dimensions and elements, borrowed from the file where the file
// has them as they are.
#ifndef GRAPNEL_LIB_IR_LITERAL_H_
#define GRAPNEL_LIB_IR_LITERAL_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/ir/shape.h"
#include "lib/ir/types.h"
#include "lib/support/error.h"
#include "lib/support/public.h"

namespace grapnel {

class Node;  // lib/ir/node.h

// Immutable and cheap to copy. Elements are row-major, in the machine's byte order (little-endian).
// Either all elements are there, or one that stands for all (a splat): TensorFlow writes
// `zeros([1000, 1000])` as one number, and so do we.
class GRAPNEL_PUBLIC Literal {
 public:
  Literal() = default;
  // Borrows tensor_content when its size fits; `tensor_proto` must then outlive the literal. Checks
  // that the shape is sane and that the elements written match it: a claim of 4 GB in 100 bytes is
  // an error (or a splat when one element is written).
  static Expected<Literal> FromTensorProto(llvm::StringRef tensor_proto);
  // Of a Const (or HostConst) node. Errors name the node.
  static Expected<Literal> FromConst(const Node& node);
  // Owns a copy of `bytes`: NumElements * DataTypeSize of them, or one element for a splat.
  static Literal Make(DataType dtype, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes);
  // `owner` keeps `bytes` alive.
  static Literal Borrow(DataType dtype, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes,
                        std::shared_ptr<const void> owner);
  static Literal MakeStrings(llvm::ArrayRef<int64_t> dims, std::vector<std::string> strings);
  static Literal Scalar(DataType dtype, double value);  // any numeric dtype, or bool
  static Literal Vector32(llvm::ArrayRef<int32_t> values);
  // Integers of DT_INT32 or DT_INT64 with these dims.
  static Literal Integers(DataType dtype, llvm::ArrayRef<int64_t> dims,
                          llvm::ArrayRef<int64_t> values);

  DataType dtype() const { return dtype_; }
  llvm::ArrayRef<int64_t> dims() const { return dims_; }
  int64_t num_elements() const { return num_elements_; }
  bool is_splat() const { return splat_ && num_elements_ != 1; }
  size_t byte_size() const { return num_elements_ * DataTypeSize(dtype_); }  // in full
  // The elements; only one for a splat. Empty for strings. May be unaligned.
  llvm::StringRef bytes() const { return bytes_; }
  const std::vector<std::string>& strings() const {
    return *strings_;
  }  // DT_STRING only; one for a splat

  // Element `i` as a double / integer (real numeric dtypes and bool; complex gives the real part).
  double AsDouble(int64_t i) const;
  int64_t AsInt(int64_t i) const;
  std::vector<int64_t> AsInts() const;  // all, for shapes and axes
  // Whether every element is `value` (floating -0 is 0); false for an empty literal and non-numeric
  // dtypes.
  bool AllEqualTo(double value) const;

  // A serialized TensorProto: a splat as one element, other content as tensor_content, numbers
  // below 4 elements in their typed field as TensorFlow prints them. `compress` looks for splats
  // first, and writes zeros as no value at all.
  std::string ToTensorProto(bool compress = false) const;
  // The same without its last bytes, which are elements as they lie in memory: `content`, empty
  // when there are none.
  std::string TensorProtoHead(bool compress, llvm::StringRef* content) const;
  // The field of a TensorProto, tag included, that holds these elements (of a dtype with a size) as
  // numbers and not as content.
  static std::string TypedValues(DataType dtype, llvm::StringRef bytes);
  // The same elements under other dimensions, as many.
  Literal Reshaped(llvm::ArrayRef<int64_t> dims) const;

  // Same dtype, dims and bits (a splat equals its expansion).
  bool SameValue(const Literal& other) const;
  uint64_t Hash() const;  // equal for SameValue; reads all bytes

  // `[1,2,3]`, with at most `limit` elements and then "...".
  std::string ToString(int limit = 8) const;

 private:
  DataType dtype_ = proto::DT_INVALID;
  Dims dims_;
  int64_t num_elements_ = 0;
  bool splat_ = false;
  llvm::StringRef bytes_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const std::vector<std::string>> strings_;
};

// An attribute (int) of nodes whose values are not in the graph (lib/io/strip_constants.h): their
// tensors have dtype and shape, and no elements. The number is the same for the same value, within
// one graph.
inline constexpr const char* kValuesLeftOut = "_values_left_out";

// The dtype that a serialized TensorProto says first; the value is not read.
GRAPNEL_PUBLIC DataType DataTypeOfTensor(llvm::StringRef tensor_proto);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LITERAL_H_
