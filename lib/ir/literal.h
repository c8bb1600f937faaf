// A constant's value: dtype, dimensions and elements. Points into the file if the file stores the
// elements in memory layout.
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

// Immutable and cheap to copy. Elements are row-major, little-endian (the machine's byte order). It
// stores either all elements or a single one that stands for all (a splat): TensorFlow writes
// `zeros([1000, 1000])` as one number, and so does grapnel.
class GRAPNEL_PUBLIC Literal {
 public:
  Literal() = default;
  // Points into tensor_content if its size fits; `tensor_proto` must then outlive the literal.
  // Checks that the shape is plausible and that the elements match it: a claim of 4 GB in 100 bytes
  // is an error (or a splat if one element is written).
  static Expected<Literal> FromTensorProto(llvm::StringRef tensor_proto);
  // Reads a Const (or HostConst) node. Errors name the node.
  static Expected<Literal> FromConst(const Node& node);
  // Copies `bytes`: NumElements * DataTypeSize of them, or one element for a splat.
  static Literal Make(DataType dtype, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes);
  // `owner` keeps `bytes` alive.
  static Literal Borrow(DataType dtype, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes,
                        std::shared_ptr<const void> owner);
  static Literal MakeStrings(llvm::ArrayRef<int64_t> dims, std::vector<std::string> strings);
  static Literal Scalar(DataType dtype, double value);  // any numeric dtype, or bool
  static Literal Vector32(llvm::ArrayRef<int32_t> values);
  // A literal of DT_INT32 or DT_INT64.
  static Literal Integers(DataType dtype, llvm::ArrayRef<int64_t> dims,
                          llvm::ArrayRef<int64_t> values);

  DataType dtype() const { return dtype_; }
  llvm::ArrayRef<int64_t> dims() const { return dims_; }
  int64_t num_elements() const { return num_elements_; }
  bool is_splat() const { return splat_ && num_elements_ != 1; }
  size_t byte_size() const { return num_elements_ * DataTypeSize(dtype_); }  // expanded
  // The elements; a single one for a splat. Empty for strings. May be unaligned.
  llvm::StringRef bytes() const { return bytes_; }
  const std::vector<std::string>& strings() const {
    return *strings_;
  }  // DT_STRING only; one for a splat

  // Element `i` as a double or an integer (real numeric dtypes and bool; for complex, the real
  // part).
  double AsDouble(int64_t i) const;
  int64_t AsInt(int64_t i) const;
  std::vector<int64_t> AsInts() const;  // all elements, for shapes and axes
  // True if every element is `value` (-0.0 equals 0); false for an empty literal and non-numeric
  // dtypes.
  bool AllEqualTo(double value) const;

  // Returns a serialized TensorProto, as TensorFlow writes it: a splat as one element, fewer than 4
  // numbers in their typed field, other content as tensor_content. `compress` first detects splats,
  // and writes zeros as no value at all.
  std::string ToTensorProto(bool compress = false) const;
  // The same without the trailing element bytes, which it returns in `content` (empty if there are
  // none), in memory layout.
  std::string TensorProtoHead(bool compress, llvm::StringRef* content) const;
  // Returns the typed field of a TensorProto, tag included, for these elements (of a dtype with a
  // size), instead of tensor_content.
  static std::string TypedValues(DataType dtype, llvm::StringRef bytes);
  // The same elements with other dimensions, for the same number of elements.
  Literal Reshaped(llvm::ArrayRef<int64_t> dims) const;

  // True if dtype, dims and bits are equal (a splat equals its expansion).
  bool SameValue(const Literal& other) const;
  uint64_t Hash() const;  // equal for SameValue; reads all bytes

  // `[1,2,3]`, with at most `limit` elements followed by "...".
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

// An int attribute that marks nodes whose values were stripped (lib/io/strip_constants.h): their
// tensors have a dtype and a shape but no elements. Within one graph, equal values have the same
// number.
inline constexpr const char* kValuesLeftOut = "_values_left_out";

// The first dtype in a serialized TensorProto; does not read the value.
GRAPNEL_PUBLIC DataType DataTypeOfTensor(llvm::StringRef tensor_proto);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LITERAL_H_
