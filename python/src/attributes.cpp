// Converts attributes, shapes and constants of nodes to Python values, and back.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lib/exec/tensor.h"
#include "lib/ir/node_types.h"
#include "python/src/values.h"
#include "python/src/visit.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

nb::object TextOrBytes(llvm::StringRef bytes) {
  PyObject* text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), nullptr);
  if (text) return nb::steal(text);
  PyErr_Clear();
  return nb::bytes(bytes.data(), bytes.size());
}

template <typename List, typename Convert>
nb::list ListOf(const List& values, Convert convert) {
  nb::list list;
  for (const auto& value : values) list.append(convert(value));
  return list;
}

nb::object ListFrom(const proto::AttrValue::ListValue& list) {
  auto as_it_is = [](auto value) { return nb::cast(value); };
  auto type = [](int value) { return TextOfName(DataTypeName(static_cast<DataType>(value))); };
  if (list.i_size()) return ListOf(list.i(), [](int64_t value) { return nb::cast(value); });
  if (list.f_size()) return ListOf(list.f(), as_it_is);
  if (list.b_size()) return ListOf(list.b(), as_it_is);
  if (list.type_size()) return ListOf(list.type(), type);
  if (list.s_size()) return ListOf(list.s(), TextOrBytes);
  if (list.shape_size())
    return ListOf(list.shape(),
                  [](const auto& shape) { return ShapeAsTuple(Shape::FromProto(shape)); });
  if (list.func_size())
    return ListOf(list.func(), [](const auto& func) { return TextOrBytes(func.name()); });
  return nb::list();
}

// Converts a Python value to an attribute of a type such as "int" or "list(shape)".
class Writer {
 public:
  explicit Writer(std::string what) : what_(std::move(what)) {}

  std::string Write(llvm::StringRef type, nb::handle value) {
    if (type == "tensor") return attr::Tensor(LiteralOf(value, nb::none()).ToTensorProto());
    proto::AttrValue made;
    if (type.consume_front("list(")) {
      type.consume_back(")");
      if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) Expected("a list");
      for (nb::handle element : nb::borrow<nb::sequence>(value))
        Add(type, element, *made.mutable_list());
      made.mutable_list();
    } else {
      Set(type, value, made);
    }
    return made.SerializeAsString();
  }

 private:
  [[noreturn]] void Expected(const char* kind) const {
    BadValue(what_ + ": " + kind + " was expected");
  }

  bool Bool(nb::handle value) const {
    if (!nb::isinstance<nb::bool_>(value)) Expected("True or False");
    return nb::cast<bool>(value);
  }
  int64_t Int(nb::handle value) const {
    if (!nb::isinstance<nb::int_>(value) || nb::isinstance<nb::bool_>(value))
      Expected("an integer");
    int64_t number = 0;
    if (!nb::try_cast(value, number)) Expected("an integer from -2**63 to 2**63 - 1");
    return number;
  }
  float Float(nb::handle value) const {
    double number = 0;
    if (!nb::try_cast(value, number)) Expected("a number");
    return static_cast<float>(number);
  }
  std::string String(nb::handle value) const {
    if (nb::isinstance<nb::bytes>(value)) {
      auto bytes = nb::borrow<nb::bytes>(value);
      return std::string(bytes.c_str(), bytes.size());
    }
    if (!nb::isinstance<nb::str>(value)) Expected("a string");
    std::string text;
    if (!nb::try_cast(value, text)) Expected("a string without lone surrogates, or bytes,");
    return text;
  }
  DataType Type(nb::handle value) const {
    std::optional<DataType> type;
    if (std::string name; nb::try_cast(value, name)) type = ParseDataType(name);
    if (!type) Expected("the name of a dtype, such as \"float\",");
    return *type;
  }
  Shape ShapeFrom(nb::handle value) const {
    if (value.is_none()) return Shape::Unknown();
    if (!nb::isinstance<nb::tuple>(value) && !nb::isinstance<nb::list>(value))
      Expected("a shape, such as (2, None),");
    Shape shape = Shape::Scalar();
    for (nb::handle dim : nb::borrow<nb::sequence>(value))
      shape.Append(dim.is_none() ? kUnknownDim : Int(dim));
    return shape;
  }

  void Set(llvm::StringRef type, nb::handle value, proto::AttrValue& made) const {
    if (type == "bool") {
      made.set_b(Bool(value));
    } else if (type == "int") {
      made.set_i(Int(value));
    } else if (type == "float") {
      made.set_f(Float(value));
    } else if (type == "type") {
      made.set_type(Type(value));
    } else if (type == "shape") {
      *made.mutable_shape() = ShapeFrom(value).ToProto();
    } else if (type == "func") {
      made.mutable_func()->set_name(String(value));
    } else {
      made.set_s(String(value));
    }
  }

  void Add(llvm::StringRef type, nb::handle value, proto::AttrValue::ListValue& list) const {
    if (type == "bool") {
      list.add_b(Bool(value));
    } else if (type == "int") {
      list.add_i(Int(value));
    } else if (type == "float") {
      list.add_f(Float(value));
    } else if (type == "type") {
      list.add_type(Type(value));
    } else if (type == "shape") {
      *list.add_shape() = ShapeFrom(value).ToProto();
    } else if (type == "func") {
      list.add_func()->set_name(String(value));
    } else {
      list.add_s(String(value));
    }
  }

  std::string what_;
};

// Returns the type of an attribute that the op does not define, from the attribute's value.
std::string TypeOfValue(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return "bool";
  if (nb::isinstance<nb::int_>(value)) return "int";
  if (nb::isinstance<nb::float_>(value)) return "float";
  if (nb::isinstance<nb::str>(value) || nb::isinstance<nb::bytes>(value)) return "string";
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    auto elements = nb::borrow<nb::sequence>(value);
    return nb::len(elements) == 0 ? "list(int)" : "list(" + TypeOfValue(elements[0]) + ")";
  }
  return "tensor";
}

}  // namespace

nb::str TextOfName(llvm::StringRef name) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "replace"));
}

nb::object ShapeAsTuple(const Shape& shape) {
  if (!shape.known_rank()) return nb::none();
  nb::list dims;
  for (int i = 0; i < shape.rank(); ++i)
    dims.append(shape.IsKnown(i) ? nb::cast(shape.dim(i)) : nb::none());
  return nb::tuple(dims);
}

nb::object ArrayOf(const Literal& literal) {
  // The elements are copied, because Python may keep the array longer than the graph exists.
  bool is_text = literal.dtype() == proto::DT_STRING;
  Literal own = is_text ? literal : Literal::Make(literal.dtype(), literal.dims(), literal.bytes());
  auto tensor = Tensor::FromLiteral(own);
  if (!tensor) BadValue(TextOf(tensor.takeError()));
  return nb::module_::import_("tfgrapnel._values").attr("to_array")(ValueOf(std::move(*tensor)));
}

Literal LiteralOf(nb::handle value, nb::handle dtype) {
  nb::object given = nb::module_::import_("tfgrapnel._passes").attr("to_literal")(value, dtype);
  Tensor tensor = TensorOf(nb::cast<nb::tuple>(given));
  if (tensor.dtype() == proto::DT_STRING) {
    const auto* strings = tensor.data<std::string>();
    return Literal::MakeStrings(tensor.dims(),
                                std::vector<std::string>(strings, strings + tensor.num_elements()));
  }
  size_t size = tensor.num_elements() * DataTypeSize(tensor.dtype());
  return Literal::Make(tensor.dtype(), tensor.dims(),
                       {static_cast<const char*>(tensor.raw()), size});
}

nb::object AttributeOf(AttrView value) {
  if (std::optional<llvm::StringRef> tensor = value.AsTensor()) {
    auto literal = Literal::FromTensorProto(*tensor);
    if (!literal) BadValue(TextOf(literal.takeError()));
    return ArrayOf(*literal);
  }
  proto::AttrValue made;
  if (!made.ParseFromArray(value.bytes().data(), static_cast<int>(value.bytes().size())))
    return nb::none();
  switch (made.value_case()) {
    case proto::AttrValue::kS:
      return TextOrBytes(made.s());
    case proto::AttrValue::kI:
      return nb::cast(static_cast<int64_t>(made.i()));
    case proto::AttrValue::kF:
      return nb::cast(made.f());
    case proto::AttrValue::kB:
      return nb::cast(made.b());
    case proto::AttrValue::kType:
      return TextOfName(DataTypeName(made.type()));
    case proto::AttrValue::kShape:
      return ShapeAsTuple(Shape::FromProto(made.shape()));
    case proto::AttrValue::kFunc:
      return TextOrBytes(made.func().name());
    case proto::AttrValue::kList:
      return ListFrom(made.list());
    default:
      return nb::none();
  }
}

std::string AttributeFrom(const Node& node, const std::string& key, nb::handle value) {
  const OpInfo* info = DefinitionOf(node);
  const OpAttr* defined = info ? info->FindAttr(key) : nullptr;
  std::string type = defined ? defined->type : TypeOfValue(value);
  std::string what = "attribute '" + key + "' of " + node.op().str();
  return Writer(defined ? what + " (" + type + ")" : what).Write(type, value);
}

}  // namespace grapnel::python
