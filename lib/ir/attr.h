// Attribute values: the bytes of an AttrValue message, parsed on access.
#ifndef GRAPNEL_LIB_IR_ATTR_H_
#define GRAPNEL_LIB_IR_ATTR_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/shape.h"
#include "lib/ir/types.h"
#include "lib/proto/attr_value.pb.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

enum class AttrKind {
  kNone,
  kList,
  kString,
  kInt,
  kFloat,
  kBool,
  kType,
  kShape,
  kTensor,
  kPlaceholder,
  kFunc
};

// A view of one serialized AttrValue, whose bytes belong to another object, such as the file, the
// module or the op table. Each As...() returns nullopt if the value has another type, except that
// those for lists return an empty list for a list of other elements. Reads lists of numbers in
// packed or unpacked form.
class GRAPNEL_PUBLIC AttrView {
 public:
  AttrView() = default;
  explicit AttrView(llvm::StringRef bytes) : bytes_(bytes) {}
  llvm::StringRef bytes() const { return bytes_; }

  AttrKind kind() const;
  std::optional<llvm::StringRef> AsString() const;
  std::optional<int64_t> AsInt() const;
  std::optional<float> AsFloat() const;
  std::optional<bool> AsBool() const;
  std::optional<DataType> AsType() const;
  std::optional<Shape> AsShape() const;
  std::optional<llvm::StringRef> AsTensor()
      const;  // a serialized TensorProto: see lib/ir/literal.h
  std::optional<llvm::StringRef> AsFuncName() const;
  std::optional<std::vector<int64_t>> AsInts() const;
  std::optional<std::vector<float>> AsFloats() const;
  std::optional<std::vector<DataType>> AsTypes() const;
  std::optional<std::vector<llvm::StringRef>> AsStrings() const;
  std::optional<std::vector<Shape>> AsShapes() const;
  // Returns the names of the functions in a func or a list(func); empty for other values. Does not
  // look into the attributes of those functions.
  std::vector<llvm::StringRef> FuncNames() const;

  // Returns the value as text for users: `float`, `[1,2,2,1]`, `"SAME"`, `dense<float[3,3]>`.
  // Shortens long strings and lists.
  std::string ToString() const;

 private:
  std::optional<llvm::StringRef> Field(
      uint32_t field) const;                             // the last bytes field of that number
  std::optional<uint64_t> Number(uint32_t field) const;  // the last varint or fixed field
  llvm::StringRef bytes_;
};

// Builders of serialized AttrValues.
namespace attr {
GRAPNEL_PUBLIC std::string String(llvm::StringRef value);
GRAPNEL_PUBLIC std::string Int(int64_t value);
GRAPNEL_PUBLIC std::string Float(float value);
GRAPNEL_PUBLIC std::string Bool(bool value);
GRAPNEL_PUBLIC std::string Type(DataType value);
GRAPNEL_PUBLIC std::string ShapeOf(const Shape& value);
GRAPNEL_PUBLIC std::string Tensor(llvm::StringRef tensor_proto);
GRAPNEL_PUBLIC std::string TensorHead(
    size_t tensor_proto_size);  // the bytes before the TensorProto
GRAPNEL_PUBLIC std::string Ints(llvm::ArrayRef<int64_t> values);
GRAPNEL_PUBLIC std::string Floats(llvm::ArrayRef<float> values);
GRAPNEL_PUBLIC std::string Bools(const std::vector<bool>& values);
GRAPNEL_PUBLIC std::string Types(llvm::ArrayRef<DataType> values);
GRAPNEL_PUBLIC std::string Strings(llvm::ArrayRef<llvm::StringRef> values);
GRAPNEL_PUBLIC std::string Shapes(llvm::ArrayRef<Shape> values);
GRAPNEL_PUBLIC std::string Func(llvm::StringRef name);
GRAPNEL_PUBLIC std::string Funcs(llvm::ArrayRef<std::string> names);
}  // namespace attr

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_ATTR_H_
