// The value of a constant: dtype, dimensions and elements. Points into the file if the file stores
// the elements in memory layout.
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

// Immutable and cheap to copy. Elements are row-major, little-endian (the machine's byte order). A
// literal stores either all elements or a single one that stands for all (a splat): TensorFlow
// writes `zeros([1000, 1000])` as one number, and so does grapnel.
class GRAPNEL_PUBLIC Literal {
 public:
  Literal() = default;
  // Parses a TensorProto. Numbers in tensor_content are not copied: the literal points into
  // `tensor_proto`, which must outlive it. tensor_content must have the size of the shape. In the
  // repeated field of a dtype, fewer elements than the shape has may be written: the last one is
  // repeated, or 0 if there are none. If at most one is written, the literal is a splat; otherwise
  // it is an error if the shape needs far more memory than the message has.
  static Expected<Literal> FromTensorProto(llvm::StringRef tensor_proto);
  // Reads a Const (or HostConst) node. Errors name the node.
  static Expected<Literal> FromConst(const Node& node);
  // Copies `bytes`, which hold NumElements * DataTypeSize bytes, or one element for a splat.
  static Literal Make(DataType dtype, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes);
  // Like Make, but without a copy: `owner` keeps `bytes` alive.
  static Literal Borrow(DataType dtype, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes,
                        std::shared_ptr<const void> owner);
  static Literal MakeStrings(llvm::ArrayRef<int64_t> dims, std::vector<std::string> strings);
  // `dtype` is bool, quantized or any numeric dtype.
  static Literal Scalar(DataType dtype, double value);
  static Literal Vector32(llvm::ArrayRef<int32_t> values);
  // `dtype` is an integer dtype; the values of uint64 are given by their bits.
  static Literal Integers(DataType dtype, llvm::ArrayRef<int64_t> dims,
                          llvm::ArrayRef<int64_t> values);

  DataType dtype() const { return dtype_; }
  llvm::ArrayRef<int64_t> dims() const { return dims_; }
  int64_t num_elements() const { return num_elements_; }
  bool is_splat() const { return splat_ && num_elements_ != 1; }
  size_t byte_size() const { return num_elements_ * DataTypeSize(dtype_); }  // expanded
  // The bytes of the elements; those of a single element for a splat. Empty for strings. May be
  // unaligned.
  llvm::StringRef bytes() const { return bytes_; }
  const std::vector<std::string>& strings() const {
    return *strings_;
  }  // only for DT_STRING; one string for a splat

  // Returns element `i` as a double (AsInt: as an integer). For bool and numeric dtypes; of a
  // complex number, returns the real part.
  double AsDouble(int64_t i) const;
  // Returns the imaginary part of element `i`: 0 for all but complex dtypes.
  double ImaginaryPart(int64_t i) const;
  int64_t AsInt(int64_t i) const;
  std::vector<int64_t> AsInts() const;  // all elements, for shapes and axes
  // True if every element equals `value` (-0.0 equals 0). False for an empty literal, and for
  // dtypes other than numbers and bool. Also false for 8-bit and 4-bit floats, which Grappler does
  // not compare.
  bool AllEqualTo(double value) const;

  // Returns a serialized TensorProto: a splat as one element, up to 16 numbers in the repeated
  // field of their dtype, more numbers as tensor_content, and strings in string_val. `compress`:
  // also writes numbers that are all equal as a splat, and zeros without any element.
  std::string ToTensorProto(bool compress = false) const;
  // Like ToTensorProto, but stops before the bytes of the elements and returns these in `content`,
  // in memory layout; `content` is empty if the message has no such bytes at its end.
  std::string TensorProtoHead(bool compress, llvm::StringRef* content) const;
  // Returns the elements in `bytes` as the repeated field for `dtype` in a TensorProto, with its
  // tag, as an alternative to tensor_content. `dtype` must have a fixed size.
  static std::string TypedValues(DataType dtype, llvm::StringRef bytes);
  // Returns a literal with the same elements and other dimensions, which must have the same number
  // of elements.
  Literal Reshaped(llvm::ArrayRef<int64_t> dims) const;

  // True if dtype, dims and bits are equal (a splat equals its expansion).
  bool SameValue(const Literal& other) const;
  // Equal for literals with SameValue. Reads all bytes of numbers, but at most 16 strings.
  uint64_t Hash() const;

  // Returns the elements as text such as `[1,2,3]` (a scalar without brackets, other shapes as one
  // list), with at most `limit` elements and "..." if there are more.
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

// The name of an int attribute of nodes from which lib/io/strip_constants.h removed values: their
// tensors have a dtype and a shape but no elements. Within one module, nodes whose values were
// equal have the same number.
inline constexpr const char* kValuesLeftOut = "_values_left_out";

// Returns the dtype that the serialized TensorProto states, without reading the elements.
GRAPNEL_PUBLIC DataType DataTypeOfTensor(llvm::StringRef tensor_proto);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LITERAL_H_
