#include "lib/io/strip_constants.h"

#include <optional>
#include <unordered_map>

#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/ir/wire_map.h"
#include "lib/shape/module_shapes.h"
#include "lib/support/hash.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

constexpr const char* kOutputShapes = "_output_shapes";

// The attributes whose strings StripConstants keeps: the strings are names of nodes, functions,
// tensors, devices and ops, or formats.
constexpr llvm::StringLiteral kKeptTexts[] = {"_class",
                                              "_construction_context",
                                              "_gradient_op_type",
                                              "_user_specified_name",
                                              "api_implements",
                                              "api_preferred_device",
                                              "backward_function_name",
                                              "equation",
                                              "forward_function_name",
                                              "frame_name",
                                              "fused_ops",
                                              "recv_device",
                                              "send_device",
                                              "tensor_name"};

// Returns the fields of a message whose numbers are in `kept`, unchanged.
std::string KeptFields(llvm::StringRef message, llvm::ArrayRef<uint32_t> kept) {
  std::string out;
  WireReader reader(message);
  while (reader.Next()) {
    if (llvm::is_contained(kept, reader.field())) out += reader.whole_field();
  }
  return out;
}

// Copies a TensorShapeProto with the sizes of its dimensions, but without their optional names.
std::string ShapeOnly(llvm::StringRef shape) {
  std::string out;
  WireReader reader(shape);
  while (reader.Next()) {
    if (reader.Is(2, WireType::kBytes)) AppendBytesField(&out, 2, KeptFields(reader.bytes(), {1}));
    if (reader.Is(3, WireType::kVarint)) out += reader.whole_field();
  }
  return out;
}

// Copies the dtype and the shape of a TensorProto.
std::string TensorOnly(llvm::StringRef tensor) {
  std::string out;
  WireReader reader(tensor);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kVarint)) out += reader.whole_field();
    if (reader.Is(2, WireType::kBytes)) AppendBytesField(&out, 2, ShapeOnly(reader.bytes()));
  }
  return out;
}

// The numbers, from 1 on, that stand for removed names and values. Equal ones have the same number.
struct Numbers {
  llvm::StringMap<size_t> shared_names;         // of resources not named like their node
  std::unordered_map<uint64_t, size_t> values;  // by hash

  size_t OfName(llvm::StringRef name) {
    return shared_names.try_emplace(name, shared_names.size() + 1).first->second;
  }

  size_t OfValue(uint64_t hash) {
    return values.try_emplace(hash, values.size() + 1).first->second;
  }
};

// Copies attributes of a node, function or argument, and leaves out the values that StripConstants
// removes.
class Attributes {
 public:
  // `op`: the definition of the node's op; strings that it lists as allowed values stay. `name`:
  // the name of the node; a shared_name equal to it stays. `numbers`: the numbers for other shared
  // names; null: these are removed.
  explicit Attributes(const OpInfo* op = nullptr, llvm::StringRef name = {},
                      Numbers* numbers = nullptr)
      : op_(op), name_(name), numbers_(numbers) {}

  // Copies an AttrValue.
  std::string Value(llvm::StringRef key, llvm::StringRef value) {
    std::string out;
    WireReader reader(value);
    while (reader.Next()) {
      switch (reader.field()) {
        case 1:
          AppendBytesField(&out, 1, List(key, reader.bytes()));
          break;
        case 2:
          AppendBytesField(&out, 2, Text(key, reader.bytes()));
          break;
        case 7:
          AppendBytesField(&out, 7, ShapeOnly(reader.bytes()));
          break;
        case 8:
          AppendBytesField(&out, 8, Tensor(key, reader.bytes()));
          break;
        case 10:
          AppendBytesField(&out, 10, Function(reader.bytes()));
          break;
        case 3:  // int
        case 4:  // float
        case 5:  // bool
        case 6:  // dtype
        case 9:  // the name in a placeholder
          out += reader.whole_field();
          break;
        default:
          break;
      }
    }
    return out;
  }

  // Copies an entry of the map of attributes that has number `field` in its message.
  void Entry(llvm::StringRef entry, uint32_t field, std::string* out) {
    auto [key, value] = ReadMapEntry(entry);
    AppendMapEntry(out, field, key, Value(key, value));
  }

  // A hash of all values that were left out; nullopt if there were none.
  std::optional<uint64_t> lost() const { return lost_; }

 private:
  // Copies an AttrValue.ListValue.
  std::string List(llvm::StringRef key, llvm::StringRef list) {
    std::string out;
    WireReader reader(list);
    while (reader.Next()) {
      switch (reader.field()) {
        case 2:
          AppendBytesField(&out, 2, Text(key, reader.bytes()));
          break;
        case 4:
          Lose(key, reader.whole_field());
          break;
        case 7:
          AppendBytesField(&out, 7, ShapeOnly(reader.bytes()));
          break;
        case 8:
          AppendBytesField(&out, 8, Tensor(key, reader.bytes()));
          break;
        case 9:
          AppendBytesField(&out, 9, Function(reader.bytes()));
          break;
        case 3:  // int
        case 5:  // bool
        case 6:  // dtype
          out += reader.whole_field();
          break;
        default:
          break;
      }
    }
    return out;
  }

  // Copies a NameAttrList.
  std::string Function(llvm::StringRef function) {
    std::string out = KeptFields(function, {1});
    WireReader reader(function);
    while (reader.Next()) {
      if (reader.Is(2, WireType::kBytes)) Entry(reader.bytes(), 2, &out);
    }
    return out;
  }

  std::string Tensor(llvm::StringRef key, llvm::StringRef tensor) {
    Lose(key, tensor);
    return TensorOnly(tensor);
  }

  void Lose(llvm::StringRef key, llvm::StringRef value) {
    lost_ = MixHash(MixHash(lost_.value_or(0), HashBytes(key)), HashBytes(value));
  }

  std::string Text(llvm::StringRef key, llvm::StringRef text) const {
    const OpAttr* attr = op_ ? op_->FindAttr(key) : nullptr;
    if (attr && llvm::is_contained(attr->allowed_strings, text)) return text.str();
    if (llvm::is_contained(kKeptTexts, key)) return text.str();
    if (key != "shared_name" || text.empty() || !numbers_) return "";
    if (text == name_) return text.str();
    return "shared_" + std::to_string(numbers_->OfName(text));
  }

  const OpInfo* op_;
  llvm::StringRef name_;
  Numbers* numbers_;
  std::optional<uint64_t> lost_;
};

// Returns an attribute with the shapes of all outputs of a node; empty if no rank is known.
std::string ShapesOf(const Node& node, const ShapeMap& shapes) {
  std::vector<Shape> list;
  bool is_any_known = false;
  for (int i = 0; i < shapes.NumOutputs(node.id()); ++i) {
    list.push_back(shapes.OfPort({node.id(), i}));
    is_any_known |= list.back().known_rank();
  }
  return is_any_known ? attr::Shapes(list) : std::string();
}

// Returns the fields of the stripped NodeDef except name, op, inputs and device, which export
// writes.
std::string RestOf(const Node& node, const std::string& shapes, Numbers* numbers) {
  Attributes attributes(DefinitionOf(node), node.name(), numbers);
  std::string out;
  for (const auto& [key, value] : node.Attrs()) {
    if (key == kOutputShapes && !shapes.empty()) continue;
    AppendMapEntry(&out, 5, key, attributes.Value(key, value.bytes()));
  }
  if (!shapes.empty()) AppendMapEntry(&out, 5, kOutputShapes, shapes);
  if (std::optional<uint64_t> lost = attributes.lost()) {
    auto number = static_cast<int64_t>(numbers->OfValue(*lost));
    AppendMapEntry(&out, 5, kValuesLeftOut, attr::Int(number));
  }
  // Keeps fields 6 and 7: the original names of the node before rewrites, and its full type.
  return out + KeptFields(node.graph().Source(node.id()), {6, 7});
}

// Copies an OpDef: names, types and defaults, without descriptions.
std::string SignatureOnly(llvm::StringRef signature) {
  std::string out;
  WireReader reader(signature);
  Attributes attributes;
  while (reader.Next()) {
    switch (reader.field()) {
      case 2:  // arguments
      case 3:
        AppendBytesField(&out, reader.field(),
                         KeptFields(reader.bytes(), {1, 3, 4, 5, 6, 7, 16, 17}));
        break;
      case 4: {
        std::string attr = KeptFields(reader.bytes(), {1, 2, 5, 6});
        WireReader of_attr(reader.bytes());
        while (of_attr.Next()) {
          if (of_attr.Is(3, WireType::kBytes) || of_attr.Is(7, WireType::kBytes))
            AppendBytesField(&attr, of_attr.field(), attributes.Value({}, of_attr.bytes()));
        }
        AppendBytesField(&out, 4, attr);
        break;
      }
      case 5:  // summary
      case 6:  // description
        break;
      default:
        if (reader.field() <= 21) out += reader.whole_field();
    }
  }
  return out;
}

// Copies an entry of FunctionDef.arg_attr: the attributes of one argument.
std::string ArgumentOnly(llvm::StringRef entry) {
  std::string out = KeptFields(entry, {1}), attributes;
  WireReader reader(entry);
  while (reader.Next()) {
    if (!reader.Is(2, WireType::kBytes)) continue;
    WireReader of_argument(reader.bytes());
    while (of_argument.Next()) {
      if (of_argument.Is(1, WireType::kBytes))
        Attributes().Entry(of_argument.bytes(), 1, &attributes);
    }
  }
  AppendBytesField(&out, 2, attributes);
  return out;
}

// Returns the fields of the stripped FunctionDef except signature, nodes and results, which export
// writes.
std::string RestOf(const Function& function) {
  std::string out;
  WireReader reader(function.source);
  while (reader.Next()) {
    if (reader.Is(5, WireType::kBytes))
      Attributes().Entry(reader.bytes(), 5, &out);
    else if (reader.Is(7, WireType::kBytes))
      AppendBytesField(&out, 7, ArgumentOnly(reader.bytes()));
    else if (reader.field() == 8)  // resource_arg_unique_id
      out += reader.whole_field();
  }
  return out;
}

void LeaveOutOfFunction(Module* module, Function* function) {
  function->signature = SignatureOnly(function->signature);
  for (OpAttr& attr : function->info.attrs) {
    if (attr.default_value) attr.default_value = Attributes().Value(attr.name, *attr.default_value);
  }
  function->source = module->Keep(RestOf(*function));
  function->changed = true;
}

}  // namespace

void StripConstants(Module* module) {
  std::vector<Body> bodies = Bodies(*module);
  std::vector<std::vector<std::string>> shapes_of;  // by body and id; before any change
  {
    ModuleShapes shapes(*module);
    for (const Body& body : bodies) {
      const ShapeMap& map = shapes.Of(*body.graph);
      std::vector<std::string>& of_body = shapes_of.emplace_back(body.graph->end_id());
      for (Node node : body.graph->nodes()) of_body[node.id()] = ShapesOf(node, map);
    }
  }
  Numbers numbers;
  for (size_t i = 0; i < bodies.size(); ++i) {
    Graph& graph = *bodies[i].graph;
    for (NodeId id = 0; id < graph.end_id(); ++id) {
      if (graph.IsAlive(id))
        graph.SetRest(id, module->Keep(RestOf(graph.node(id), shapes_of[i][id], &numbers)));
    }
    if (bodies[i].function) LeaveOutOfFunction(module, bodies[i].function);
  }
  module->other_fields = KeptFields(module->other_fields, {3});  // the deprecated version field
  module->other_library_fields = KeptFields(module->other_library_fields, {2, 3});  // gradients
}

}  // namespace grapnel
