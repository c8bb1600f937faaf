#include "lib/io/python_structure.h"

#include <algorithm>

#include "lib/ir/text_number.h"
#include "lib/proto/struct.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using Structure = proto::StructuredValue;
using Spec = proto::TypeSpecProto;

std::string Quoted(llvm::StringRef text) {
  std::string escaped;
  for (char c : text) {
    if (c == '\'' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return "'" + escaped + "'";
}

// Returns the entries of a dict sorted by key, as tf.nest visits them. The keys are UTF-8, whose
// bytes sort like the code points that Python compares.
std::vector<std::pair<llvm::StringRef, const Structure*>> Entries(const proto::DictValue& dict) {
  std::vector<std::pair<llvm::StringRef, const Structure*>> entries;
  for (const auto& [key, value] : dict.fields()) entries.emplace_back(key, &value);
  llvm::sort(entries, llvm::less_first());
  return entries;
}

// The state of a type spec: what its Python method _serialize() returns, a tuple.
class SpecState {
 public:
  explicit SpecState(const Spec& spec) : values_(spec.type_state().tuple_value().values()) {}

  const Structure& at(int i) const {
    return i < values_.size() ? values_[i] : Structure::default_instance();
  }
  DataType dtype(int i) const { return at(i).tensor_dtype_value(); }
  Shape shape(int i) const {
    const Structure& value = at(i);
    return value.has_tensor_shape_value() ? Shape::FromProto(value.tensor_shape_value()) : Shape();
  }

 private:
  const google::protobuf::RepeatedPtrField<Structure>& values_;
};

// Returns what a spec stands for and the position of dtype and shape in its state; -1: it has none.
struct SpecKind {
  const char* word;
  int dtype, shape;
};
SpecKind KindOf(const Spec& spec) {
  switch (spec.type_spec_class()) {
    case Spec::SPARSE_TENSOR_SPEC:
      return {"sparse", 1, 0};
    case Spec::INDEXED_SLICES_SPEC:
      return {"slices", 1, 0};
    case Spec::RAGGED_TENSOR_SPEC:
      return {"ragged", 1, 0};
    case Spec::TENSOR_ARRAY_SPEC:
      return {"array of", 0, 1};
    case Spec::DATA_DATASET_SPEC:
      return {"dataset", -1, -1};
    case Spec::DATA_ITERATOR_SPEC:
      return {"iterator", -1, -1};
    case Spec::OPTIONAL_SPEC:
      return {"optional", -1, -1};
    case Spec::VARIABLE_SPEC:
      return {"variable", 1, 0};
    default:
      return {nullptr, -1, -1};
  }
}

std::string SpecText(const Spec& spec) {
  SpecKind kind = KindOf(spec);
  if (!kind.word)
    return spec.type_spec_class_name().empty() ? "value" : spec.type_spec_class_name();
  if (kind.dtype < 0) return kind.word;
  SpecState state(spec);
  return std::string(kind.word) + " " + TypeText(state.dtype(kind.dtype), state.shape(kind.shape));
}

template <typename Values>
std::string StructuresText(const Values& values) {
  std::vector<std::string> texts;
  for (const Structure& value : values) texts.push_back(StructureText(value));
  return llvm::join(texts, ", ");
}

class Flattening {
 public:
  explicit Flattening(FlatStructure* flat) : flat_(*flat) {}

  void Visit(const Structure& structure, const std::string& key) {
    switch (structure.kind_case()) {
      case Structure::kListValue:
        return VisitList(structure.list_value().values(), key + ".");
      case Structure::kTupleValue:
        return VisitList(structure.tuple_value().values(), key + ".");
      case Structure::kDictValue:
        for (const auto& [name, value] : Entries(structure.dict_value()))
          Visit(*value, key + "." + name.str());
        return;
      case Structure::kNamedTupleValue:
        for (const proto::PairValue& pair : structure.named_tuple_value().values())
          Visit(pair.value(), key + "." + pair.key());
        return;
      case Structure::kTensorSpecValue:
        return Add(key, structure.tensor_spec_value().dtype(),
                   Shape::FromProto(structure.tensor_spec_value().shape()));
      case Structure::kBoundedTensorSpecValue:
        return Add(key, structure.bounded_tensor_spec_value().dtype(),
                   Shape::FromProto(structure.bounded_tensor_spec_value().shape()));
      case Structure::kTypeSpecValue:
        return VisitSpec(structure.type_spec_value(), key);
      default:
        flat_.values.push_back({key, StructureText(structure)});
    }
  }

  template <typename Values>
  void VisitList(const Values& values, const std::string& before) {
    for (int i = 0; i < values.size(); ++i) Visit(values[i], before + std::to_string(i));
  }

 private:
  void Add(std::string key, DataType dtype, Shape shape) {
    flat_.tensors.push_back({std::move(key), "", dtype, std::move(shape)});
  }

  void VisitSpec(const Spec& spec, const std::string& key) {
    SpecState state(spec);
    switch (spec.type_spec_class()) {
      case Spec::SPARSE_TENSOR_SPEC: {
        Shape shape = state.shape(0);
        int64_t rank = shape.known_rank() ? shape.rank() : kUnknownDim;
        Add(key + ":indices", proto::DT_INT64, Shape({kUnknownDim, rank}));
        Add(key + ":values", state.dtype(1), Shape::UnknownOfRank(1));
        return Add(key + ":dense_shape", proto::DT_INT64, Shape(rank));
      }
      case Spec::INDEXED_SLICES_SPEC:
        Add(key + ":values", state.dtype(1), state.shape(0));
        Add(key + ":indices", state.dtype(2), state.shape(4));
        if (state.at(3).has_tensor_dtype_value())
          Add(key + ":dense_shape", state.dtype(3), Shape::UnknownOfRank(1));
        return;
      case Spec::RAGGED_TENSOR_SPEC:
        return AddRagged(state, key);
      default:
        AddComponents(spec, key);
    }
  }

  // Adds the values of a ragged tensor, and for each ragged dimension, the outermost first, where
  // its rows begin.
  void AddRagged(const SpecState& state, const std::string& key) {
    // A file may claim any rank; TensorFlow's tensors have at most 254 dimensions.
    constexpr int64_t kHighest = 254;
    int64_t ragged = std::min(state.at(2).int64_value(), kHighest);
    if (ragged <= 0) return Add(key, state.dtype(1), state.shape(0));
    Shape shape = state.shape(0), values;
    if (shape.known_rank() && shape.rank() > ragged) {
      values = Shape::UnknownOfRank(1);
      for (int i = static_cast<int>(ragged) + 1; i < shape.rank(); ++i) values.Append(shape.dim(i));
    }
    Add(key + (ragged == 1 ? ":values" : ":flat_values"), state.dtype(1), values);
    for (int64_t i = 0; i < ragged; ++i)
      Add(key + ":row_splits" + (ragged == 1 ? "" : "_" + std::to_string(i)), state.dtype(3),
          Shape::UnknownOfRank(1));
  }

  // Adds the tensors of a type whose components only Python knows. Old files do not say how many
  // there are; datasets, iterators and variables have one.
  void AddComponents(const Spec& spec, const std::string& key) {
    constexpr int kMost = 1000;
    int count = std::clamp(spec.num_flat_components(), 1, kMost);
    for (int i = 0; i < count; ++i)
      Add(count == 1 ? key : key + ":" + std::to_string(i), proto::DT_INVALID, Shape());
  }

  FlatStructure& flat_;
};

}  // namespace

std::string TypeText(DataType dtype, const Shape& shape) {
  return DataTypeName(dtype).str() + (shape.known_rank() ? shape.ToString() : "");
}

std::string StructureText(const Structure& structure) {
  switch (structure.kind_case()) {
    case Structure::kFloat64Value:
      return FloatText(structure.float64_value());
    case Structure::kInt64Value:
      return std::to_string(structure.int64_value());
    case Structure::kStringValue:
      return Quoted(structure.string_value());
    case Structure::kBoolValue:
      return structure.bool_value() ? "True" : "False";
    case Structure::kTensorShapeValue:
      return "shape " + Shape::FromProto(structure.tensor_shape_value()).ToString();
    case Structure::kTensorDtypeValue:
      return "dtype " + DataTypeName(structure.tensor_dtype_value()).str();
    case Structure::kTensorSpecValue:
      return TypeText(structure.tensor_spec_value().dtype(),
                      Shape::FromProto(structure.tensor_spec_value().shape()));
    case Structure::kBoundedTensorSpecValue:
      return TypeText(structure.bounded_tensor_spec_value().dtype(),
                      Shape::FromProto(structure.bounded_tensor_spec_value().shape()));
    case Structure::kTypeSpecValue:
      return SpecText(structure.type_spec_value());
    case Structure::kListValue:
      return "[" + StructuresText(structure.list_value().values()) + "]";
    case Structure::kTupleValue: {
      const auto& values = structure.tuple_value().values();
      return "(" + StructuresText(values) + (values.size() == 1 ? ",)" : ")");
    }
    case Structure::kDictValue: {
      std::vector<std::string> texts;
      for (const auto& [key, value] : Entries(structure.dict_value()))
        texts.push_back(key.str() + ": " + StructureText(*value));
      return "{" + llvm::join(texts, ", ") + "}";
    }
    case Structure::kNamedTupleValue: {
      std::vector<std::string> texts;
      for (const proto::PairValue& pair : structure.named_tuple_value().values())
        texts.push_back(pair.key() + ": " + StructureText(pair.value()));
      return structure.named_tuple_value().name() + "(" + llvm::join(texts, ", ") + ")";
    }
    case Structure::kTensorValue:
    case Structure::kNumpyValue: {
      const proto::TensorProto& value =
          structure.has_tensor_value() ? structure.tensor_value() : structure.numpy_value();
      return "constant " + TypeText(value.dtype(), Shape::FromProto(value.tensor_shape()));
    }
    case Structure::kNoneValue:
    case Structure::KIND_NOT_SET:
      return "None";
  }
  return "None";
}

void FlattenStructure(const Structure& structure, llvm::StringRef key, FlatStructure* flat) {
  Flattening(flat).Visit(structure, key.str());
}

FlatStructure FlattenResults(const Structure& structure) {
  FlatStructure flat;
  Flattening visit(&flat);
  switch (structure.kind_case()) {
    case Structure::kDictValue:
      for (const auto& [key, value] : Entries(structure.dict_value()))
        visit.Visit(*value, key.str());
      break;
    case Structure::kNamedTupleValue:
      for (const proto::PairValue& pair : structure.named_tuple_value().values())
        visit.Visit(pair.value(), pair.key());
      break;
    case Structure::kListValue:
      visit.VisitList(structure.list_value().values(), "output_");
      break;
    case Structure::kTupleValue:
      visit.VisitList(structure.tuple_value().values(), "output_");
      break;
    case Structure::kNoneValue:
    case Structure::KIND_NOT_SET:
      break;
    default:
      visit.Visit(structure, "output_0");
  }
  return flat;
}

}  // namespace grapnel
