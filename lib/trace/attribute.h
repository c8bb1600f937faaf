// Attributes that a user passes to an op.
#ifndef GRAPNEL_LIB_TRACE_ATTRIBUTE_H_
#define GRAPNEL_LIB_TRACE_ATTRIBUTE_H_

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/ir/attr.h"
#include "lib/ir/literal.h"
#include "lib/support/public.h"

namespace grapnel {

// An attribute that the user passes. Integers become floats where the op expects a float.
struct GRAPNEL_PUBLIC OpAttribute {
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  OpAttribute(llvm::StringRef key, T number) : key(key.str()), value(OfNumber(number)) {}
  OpAttribute(llvm::StringRef key, DataType type) : key(key.str()), value(attr::Type(type)) {}
  OpAttribute(llvm::StringRef key, const char* text) : key(key.str()), value(attr::String(text)) {}
  OpAttribute(llvm::StringRef key, llvm::StringRef text)
      : key(key.str()), value(attr::String(text)) {}
  OpAttribute(llvm::StringRef key, const Shape& shape)
      : key(key.str()), value(attr::ShapeOf(shape)) {}
  OpAttribute(llvm::StringRef key, const std::vector<int64_t>& numbers)
      : key(key.str()), value(attr::Ints(numbers)) {}
  OpAttribute(llvm::StringRef key, const std::vector<float>& numbers)
      : key(key.str()), value(attr::Floats(numbers)) {}
  OpAttribute(llvm::StringRef key, const std::vector<bool>& flags)
      : key(key.str()), value(attr::Bools(flags)) {}
  OpAttribute(llvm::StringRef key, const std::vector<std::string>& texts)
      : key(key.str()),
        value(attr::Strings(llvm::SmallVector<llvm::StringRef>(texts.begin(), texts.end()))) {}
  OpAttribute(llvm::StringRef key, const Literal& tensor)
      : key(key.str()), value(attr::Tensor(tensor.ToTensorProto())) {}
  OpAttribute(llvm::StringRef key, const std::vector<Literal>& tensors) : key(key.str()) {
    proto::AttrValue list;
    list.mutable_list();
    for (const Literal& tensor : tensors)
      list.mutable_list()->add_tensor()->ParseFromString(tensor.ToTensorProto());
    value = list.SerializeAsString();
  }
  OpAttribute(llvm::StringRef key, const std::vector<DataType>& types)
      : key(key.str()), value(attr::Types(types)) {}
  OpAttribute(llvm::StringRef key, const std::vector<Shape>& shapes)
      : key(key.str()), value(attr::Shapes(shapes)) {}
  // Any other attribute, as a serialized AttrValue (lib/ir/attr.h).
  static OpAttribute Serialized(llvm::StringRef key, std::string value) {
    OpAttribute attribute(key, false);
    attribute.value = std::move(value);
    return attribute;
  }

  std::string key, value;

 private:
  template <typename T>
  static std::string OfNumber(T number) {
    if constexpr (std::is_same_v<T, bool>) return attr::Bool(number);
    if constexpr (std::is_floating_point_v<T>) return attr::Float(static_cast<float>(number));
    return attr::Int(static_cast<int64_t>(number));
  }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_ATTRIBUTE_H_
