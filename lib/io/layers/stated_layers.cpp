#include "lib/io/layers/stated_layers.h"

#include <algorithm>
#include <optional>

#include "lib/ir/wire.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "lib/support/json.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr int kDeepestLayer = 200;

struct LayerAndClassName {
  std::string name, class_name;
};

// Reads Keras's description of a layer.
std::optional<LayerAndClassName> DescribedNames(llvm::StringRef metadata) {
  if (metadata.empty()) return std::nullopt;
  auto value = ParseJson(metadata);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  const llvm::json::Object* object = value->getAsObject();
  if (!object) return std::nullopt;
  LayerAndClassName names;
  names.name = object->getString("name").value_or("").str();
  names.class_name = object->getString("class_name").value_or("").str();
  // The class of a program's own layer has its package: "mine>GatedUnit".
  size_t package = names.class_name.rfind('>');
  if (package != std::string::npos) names.class_name.erase(0, package + 1);
  return names;
}

// Returns the description that TensorFlow 2.0 to 2.4 writes into the object graph. The field is
// deprecated, for which the compiler would warn.
std::string OldMetadata(const proto::SavedUserObject& object) {
  const google::protobuf::FieldDescriptor* field =
      proto::SavedUserObject::descriptor()->FindFieldByName("metadata");
  return object.GetReflection()->GetString(object, field);
}

// Reads keras_metadata.pb: field 1 has a message for each layer, with the index of the object in
// field 2 and the description in field 5.
std::map<int, LayerAndClassName> ReadKerasMetadata(llvm::StringRef bytes) {
  std::map<int, LayerAndClassName> layers;
  WireReader file(bytes);
  while (file.Next()) {
    if (!file.Is(1, WireType::kBytes)) continue;
    int object = 0;
    llvm::StringRef description;
    WireReader layer(file.bytes());
    while (layer.Next()) {
      if (layer.Is(2, WireType::kVarint)) object = static_cast<int>(layer.number());
      if (layer.Is(5, WireType::kBytes)) description = layer.bytes();
    }
    if (std::optional<LayerAndClassName> names = DescribedNames(description))
      layers[object] = std::move(*names);
  }
  return layers;
}

class Reader {
 public:
  Reader(const proto::SavedObjectGraph& saved, llvm::StringRef keras_metadata)
      : saved_(saved), metadata_(ReadKerasMetadata(keras_metadata)) {}

  StatedLayers Read() && {
    if (saved_.nodes().empty() || IsOfKeras3()) return {};
    if (IsKeras(0)) {
      result_.model = NamesOf(0).name;
      ReadModel(0, -1, 0);
    } else {
      seen_.insert(0);
      ReadModule(0, -1, "", "", 0);
      DropEmpty();
      PromoteOnlyModel();
    }
    if (result_.layers.empty()) return {};
    return std::move(result_);
  }

 private:
  using Children = std::vector<std::pair<std::string, int>>;

  llvm::StringRef KindOf(int object) const {
    const proto::SavedObject& node = saved_.nodes(object);
    return node.has_user_object() ? llvm::StringRef(node.user_object().identifier())
                                  : llvm::StringRef();
  }
  bool IsKeras(int object) const {
    llvm::StringRef kind = KindOf(object);
    return kind.starts_with("_tf_keras_") && kind != "_tf_keras_metric";
  }
  bool IsKerasModel(int object) const {
    llvm::StringRef kind = KindOf(object);
    return kind == "_tf_keras_model" || kind == "_tf_keras_network" ||
           kind == "_tf_keras_sequential";
  }

  Children ChildrenOf(int object) const {
    Children children;
    for (const auto& child : saved_.nodes(object).children()) {
      if (child.node_id() >= 0 && child.node_id() < saved_.nodes_size())
        children.emplace_back(child.local_name(), child.node_id());
    }
    return children;
  }
  int ChildOf(int object, llvm::StringRef name) const {
    for (const auto& child : saved_.nodes(object).children()) {
      bool is_there = child.node_id() >= 0 && child.node_id() < saved_.nodes_size();
      if (is_there && child.local_name() == name) return child.node_id();
    }
    return -1;
  }

  // Layers of Keras 3 have lists of their calls. Neither their names nor their classes are in the
  // file.
  bool IsOfKeras3() const {
    for (int i = 0; i < saved_.nodes_size(); ++i) {
      if (KindOf(i) == "_generic_user_object" && ChildOf(i, "_inbound_nodes") >= 0) return true;
    }
    return false;
  }

  // Returns the names that the file gives to a layer. Without a description, a function of the
  // layer has its name: "__inference_conv_layer_call_fn_391".
  LayerAndClassName NamesOf(int object) const {
    auto known = metadata_.find(object);
    if (known != metadata_.end() && !known->second.name.empty()) return known->second;
    std::optional<LayerAndClassName> inside =
        DescribedNames(OldMetadata(saved_.nodes(object).user_object()));
    if (inside && !inside->name.empty()) return *inside;
    LayerAndClassName names;
    int call = ChildOf(object, "__call__");
    if (call >= 0 && saved_.nodes(call).has_function()) {
      for (llvm::StringRef function : saved_.nodes(call).function().concrete_functions()) {
        function.consume_front("__inference_");
        size_t end = function.rfind("_layer_call_fn_");
        if (end != llvm::StringRef::npos) names.name = function.take_front(end).str();
      }
    }
    return names;
  }

  // Returns the layers of a Keras model, in its order.
  std::vector<int> LayersOfModel(int model) const {
    std::vector<int> layers;
    int api = ChildOf(model, "keras_api"), list = api < 0 ? -1 : ChildOf(api, "layers");
    if (list >= 0) {
      for (const auto& [name, layer] : ChildrenOf(list)) layers.push_back(layer);
    }
    if (!layers.empty()) return layers;
    std::map<unsigned, int> numbered;
    Children children = ChildrenOf(model);
    for (const auto& [name, layer] : children) {
      llvm::StringRef number = name;
      unsigned place = 0;
      if (number.consume_front("layer-") && !number.getAsInteger(10, place))
        numbered[place] = layer;
    }
    for (auto [place, layer] : numbered) layers.push_back(layer);
    if (!layers.empty()) return layers;
    for (const auto& [name, layer] : children) {
      if (IsKeras(layer) && !llvm::is_contained(layers, layer)) layers.push_back(layer);
    }
    return layers;
  }

  // Returns the variables of a Keras layer or model, those of inner layers included.
  std::vector<int> VariablesOfKeras(int object) const {
    std::vector<int> variables;
    int list = ChildOf(object, "variables");
    for (const auto& [name, variable] : ChildrenOf(list < 0 ? object : list)) {
      if (saved_.nodes(variable).has_variable()) variables.push_back(variable);
    }
    return variables;
  }

  // Adds the layers of the Keras model `object`, whose row is `row` (-1: it is the whole model).
  void ReadModel(int object, int row, int depth) {
    std::vector<int> own = VariablesOfKeras(object);
    seen_.insert(object);
    bool is_new = open_.insert(object).second;
    if (is_new && depth < kDeepestLayer) {
      for (int layer : LayersOfModel(object)) {
        if (!IsKeras(layer) || layer == object) continue;
        std::vector<int> others = VariablesOfKeras(layer);
        llvm::erase_if(own, [&](int variable) { return llvm::is_contained(others, variable); });
        AddKeras(layer, row, "layer", depth + 1);
      }
    }
    if (is_new) open_.erase(object);
    (row < 0 ? result_.variables : result_.layers[row].variables) = std::move(own);
  }

  // Adds a layer of Keras, and the layers in it if it is a model. `otherwise`: its name if the file
  // states none.
  void AddKeras(int object, int parent, const std::string& otherwise, int depth) {
    int row = static_cast<int>(result_.layers.size());
    StatedLayer& layer = result_.layers.emplace_back();
    LayerAndClassName names = NamesOf(object);
    layer.name = names.name.empty() ? otherwise : names.name;
    layer.class_name = names.class_name;
    layer.parent = parent;
    layer.is_keras = true;
    layer.variables = VariablesOfKeras(object);
    // A model that several others contain is listed in each; so few that a hostile file cannot
    // multiply them.
    bool is_too_many = result_.layers.size() > 10000 + 2 * static_cast<size_t>(saved_.nodes_size());
    if (!IsKerasModel(object) || open_.contains(object) || is_too_many) return;
    layer.is_model = true;
    ReadModel(object, row, depth);
  }

  // Adds the attributes of the object `object` that have variables. `row`: the layer to which the
  // object belongs; -1: the model. `path`: its attributes from the root, and `inside` those from
  // the layer.
  void ReadModule(int object, int row, const std::string& path, const std::string& inside,
                  int depth) {
    if (depth >= kDeepestLayer) return;
    for (const auto& [name, child] : ChildrenOf(object)) {
      std::string child_path = path.empty() ? name : path + "/" + name;
      std::string child_inside = inside.empty() ? name : inside + "/" + name;
      const proto::SavedObject& node = saved_.nodes(child);
      llvm::StringRef kind = KindOf(child);
      if (node.has_variable()) {
        if (!seen_.insert(child).second) continue;
        (row < 0 ? result_.variables : result_.layers[row].variables).push_back(child);
        result_.variable_names[child] = child_path;
      } else if (IsKeras(child)) {
        if (!seen_.contains(child)) AddKeras(child, row, child_inside, depth + 1);
        seen_.insert(child);
      } else if (!node.has_user_object() || kind == "signature_map" || kind == "optimizer" ||
                 node.slot_variables_size() > 0 || !seen_.insert(child).second) {
        continue;
      } else if (kind.starts_with("trackable_")) {  // a list or a dictionary
        ReadModule(child, row, child_path, child_inside, depth + 1);
      } else {
        StatedLayer& layer = result_.layers.emplace_back();
        layer.name = child_inside;
        layer.parent = row;
        int added = static_cast<int>(result_.layers.size()) - 1;
        ReadModule(child, added, child_path, "", depth + 1);
      }
    }
  }

  // Drops the layers of a module that have neither variables nor layers.
  void DropEmpty() {
    std::vector<bool> is_kept(result_.layers.size());
    for (size_t i = result_.layers.size(); i-- > 0;) {
      StatedLayer& layer = result_.layers[i];
      is_kept[i] = is_kept[i] || layer.is_keras || !layer.variables.empty();
      if (is_kept[i] && layer.parent >= 0) {
        is_kept[layer.parent] = true;
        result_.layers[layer.parent].is_model = true;
      }
    }
    std::vector<int> place(result_.layers.size(), -1);
    std::vector<StatedLayer> kept;
    for (size_t i = 0; i < result_.layers.size(); ++i) {
      if (!is_kept[i]) continue;
      place[i] = static_cast<int>(kept.size());
      StatedLayer& layer = kept.emplace_back(std::move(result_.layers[i]));
      if (layer.parent >= 0) layer.parent = place[layer.parent];
    }
    result_.layers = std::move(kept);
  }

  // If all that a module has is a Keras model, its layers are those of the model.
  void PromoteOnlyModel() {
    std::vector<StatedLayer>& layers = result_.layers;
    auto is_top = [](const StatedLayer& layer) { return layer.parent < 0; };
    if (llvm::count_if(layers, is_top) != 1 || !layers[0].is_keras || !layers[0].is_model ||
        !result_.variables.empty())
      return;
    result_.model = layers[0].name;
    result_.variables = layers[0].variables;
    layers.erase(layers.begin());
    for (StatedLayer& layer : layers) --layer.parent;
  }

  const proto::SavedObjectGraph& saved_;
  const std::map<int, LayerAndClassName> metadata_;
  StatedLayers result_;
  llvm::DenseSet<int> seen_, open_;  // read; being read
};

}  // namespace

StatedLayers ReadStatedLayers(const proto::SavedObjectGraph& saved,
                              llvm::StringRef keras_metadata) {
  return Reader(saved, keras_metadata).Read();
}

}  // namespace grapnel
