#include "lib/io/keras_weights.h"

#include <algorithm>
#include <map>

#include "lib/io/name_match.h"
#include "lib/io/saved_variables.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "lib/support/zip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {

namespace {

constexpr const char* kVariables = "vars";
constexpr const char* kWeightsInArchive = "model.weights.h5";

std::string NameInGroup(llvm::StringRef folder, llvm::StringRef name) {
  if (folder.empty() || name.empty()) return (folder.empty() ? name : folder).str();
  return folder.str() + "/" + name.str();
}

// A layer and the names of its variables.
struct Scope {
  std::string layer;
  std::vector<std::string> names;
};

// The path of a variable's array in the file, or the reason why the file has no array for the
// variable.
struct KeyOrReason {
  std::string key, reason;
};

// Finds the order of a layer's variables in the model's object graph: a list that contains them all
// gives its own order; another object that contains them all gives the trainable ones first.
class Order {
 public:
  explicit Order(const proto::SavedObjectGraph& saved) : saved_(saved) {
    for (int i = 0; i < saved.nodes_size(); ++i) {
      for (const auto& child : saved.nodes(i).children()) {
        if (const proto::SavedVariable* variable = Variable(child.node_id()))
          holders_[variable->name()].push_back(i);
      }
    }
  }

  // Sorts the names of a layer's variables; false if there are several, and no object in the object
  // graph contains them all.
  bool Sort(Scope* scope) const {
    auto holders = holders_.find(scope->names[0]);
    if (holders == holders_.end()) return scope->names.size() == 1;
    for (int holder : holders->second) {
      std::vector<std::string> order = Within(holder, *scope);
      if (order.size() != scope->names.size()) continue;
      scope->names = std::move(order);
      return true;
    }
    return scope->names.size() == 1;
  }

 private:
  const proto::SavedVariable* Variable(int node) const {
    bool is_one = node >= 0 && node < saved_.nodes_size() && saved_.nodes(node).has_variable();
    return is_one ? &saved_.nodes(node).variable() : nullptr;
  }

  std::vector<std::string> Within(int holder, const Scope& scope) const {
    std::vector<std::string> trained, others;
    llvm::StringSet<> missing;
    for (const std::string& name : scope.names) missing.insert(name);
    for (const auto& child : saved_.nodes(holder).children()) {
      const proto::SavedVariable* variable = Variable(child.node_id());
      if (!variable || !missing.erase(variable->name())) continue;
      bool is_list = llvm::all_of(child.local_name(), llvm::isDigit);
      (variable->trainable() || is_list ? trained : others).push_back(variable->name());
    }
    trained.insert(trained.end(), others.begin(), others.end());
    return trained;
  }

  const proto::SavedObjectGraph& saved_;
  llvm::StringMap<std::vector<int>> holders_;  // objects by the name of a variable in them
};

std::vector<Scope> ScopesOf(llvm::ArrayRef<SavedVariable> variables) {
  std::vector<Scope> scopes;
  llvm::StringMap<size_t> places;
  llvm::StringMap<bool> seen;
  for (const SavedVariable& variable : variables) {
    if (!seen.try_emplace(variable.name, true).second) continue;
    llvm::StringRef layer = llvm::StringRef(variable.name).rsplit('/').first;
    if (layer.size() == variable.name.size()) layer = "";
    auto [place, is_new] = places.try_emplace(layer, scopes.size());
    if (is_new) scopes.push_back({layer.str(), {}});
    scopes[place->second].names.push_back(variable.name);
  }
  return scopes;
}

}  // namespace

bool IsKerasFile(llvm::StringRef path) {
  if (IsDirectory(path) || !FileExists(path)) return false;
  auto file = FileBytes::Open(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  return IsHdf5((*file)->bytes()) || IsZip((*file)->bytes());
}

Expected<KerasWeights> KerasWeights::Open(llvm::StringRef path) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  return FromFile(file);
}

Expected<KerasWeights> KerasWeights::FromFile(const std::shared_ptr<const FileBytes>& file) {
  KerasWeights weights;
  ZipEntry entry = {file->bytes(), file};
  if (IsZip(file->bytes())) {
    auto found = ReadZipEntry(file, kWeightsInArchive);
    if (!found) return found.takeError();
    entry = std::move(*found);
  }
  ASSIGN_OR_RETURN(weights.file_, Hdf5File::Open(entry.bytes, entry.file));
  weights.FindLayers();
  if (weights.layers_.empty()) {
    return MakeError(
        "holds no layer with an array 'vars/0', as Keras 3 writes them in .weights.h5 files");
  }
  return weights;
}

void KerasWeights::FindLayers() {
  auto name_of = [&](llvm::StringRef group) {
    auto found = file_.groups().find(NameInGroup(group, kVariables));
    if (found == file_.groups().end()) return std::string();
    auto name = found->second.attributes.find("name");
    return name != found->second.attributes.end() ? name->second : group.rsplit('/').second.str();
  };
  model_name_ = name_of("");
  for (const auto& [path, group] : file_.groups()) {
    if (path != kVariables && !HasSuffix(path, "/vars")) continue;
    Layer layer;
    llvm::StringRef owner = llvm::StringRef(path).drop_back(4).rtrim('/');
    for (size_t end = owner.find('/'); !owner.empty(); end = owner.find('/', end + 1)) {
      std::string name = name_of(owner.take_front(end));
      if (!name.empty()) layer.name = NameInGroup(layer.name, name);
      if (end == llvm::StringRef::npos) break;
    }
    for (size_t i = 0; file_.arrays().count(path + "/" + std::to_string(i)); ++i)
      layer.keys.push_back(path + "/" + std::to_string(i));
    if (!layer.keys.empty()) layers_.push_back(std::move(layer));
  }
  // If several layers have the same name, each gets a name that matches no layer of the model: a
  // match would be a guess.
  llvm::StringMap<int> count;
  for (const Layer& layer : layers_) ++count[layer.name];
  for (Layer& layer : layers_) {
    if (count[layer.name] > 1) layer.name = "one of several: " + layer.keys[0];
  }
}

// Variables of a Sequential or subclassed model have the model's name before the layer's name;
// those of a functional model and of optimizers do not. So this tries the file's layers with and
// without the model's name, and keeps the better match.
std::vector<int> KerasWeights::LayersLike(llvm::ArrayRef<std::string> wanted) const {
  std::vector<std::string> names, with_model;
  for (const Layer& layer : layers_) {
    names.push_back(layer.name);
    with_model.push_back(NameInGroup(model_name_, layer.name));
  }
  std::vector<int> bare = MatchNames(wanted, names), whole = MatchNames(wanted, with_model);
  auto found = [](const std::vector<int>& like) { return like.size() - llvm::count(like, -1); };
  bool is_bare = found(bare) > found(whole);
  std::vector<int> like = is_bare ? std::move(bare) : std::move(whole);
  // Matches the names that have no layer yet to the layers that are still free, with the other form
  // of these: with the model's name if the first match was without it, and vice versa.
  const std::vector<std::string>& others = is_bare ? with_model : names;
  std::vector<std::string> rest, free;
  std::vector<int> places, layers;
  for (size_t i = 0; i < like.size(); ++i) {
    if (like[i] >= 0) continue;
    rest.push_back(wanted[i]);
    places.push_back(static_cast<int>(i));
  }
  for (size_t i = 0; i < others.size(); ++i) {
    if (llvm::is_contained(like, static_cast<int>(i))) continue;
    free.push_back(others[i]);
    layers.push_back(static_cast<int>(i));
  }
  std::vector<int> more = MatchNames(rest, free);
  for (size_t i = 0; i < more.size(); ++i) {
    if (more[i] >= 0) like[places[i]] = layers[more[i]];
  }
  return like;
}

std::string KerasWeights::WhyNotLike(const Layer* layer, llvm::StringRef wanted,
                                     size_t variables) const {
  if (!layer) {
    std::vector<std::string> names;
    names.reserve(layers_.size());
    for (const Layer& one : layers_) names.push_back(one.name);
    return Sentence("the file has no layer '{0}'{1}", wanted, DidYouMean(wanted, names));
  }
  if (layer->keys.size() == variables) return "";
  return Sentence("the file's layer '{0}' has {1}, and {2} were expected",
                  llvm::StringRef(layer->name), Plural(layer->keys.size(), "variable"), variables);
}

std::string KerasWeights::WhyNoArray(const SavedVariable& variable, const std::string& key) const {
  const Hdf5File::Array& array = file_.arrays().at(key);
  return WhyNoValue(variable, key, array.dtype, Shape(array.dims));
}

Expected<VariableBinding> KerasWeights::Bind(const GraphInFile& graph) const {
  if (graph.whole) {
    ASSIGN_OR_RETURN(VariableBinding binding, Bind(*graph.whole));
    return BindingOfPart(graph, std::move(binding));
  }
  proto::SavedObjectGraph saved;
  llvm::StringRef bytes = graph.object_graph;
  if (bytes.size() > INT32_MAX ||
      !saved.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return MakeError("{0}: the object graph of '{1}' cannot be read", graph.path, graph.title);
  std::vector<SavedVariable> variables = VariablesOfObjects(graph, saved);
  std::vector<Scope> scopes = ScopesOf(variables);
  std::vector<std::string> wanted;
  wanted.reserve(scopes.size());
  for (const Scope& scope : scopes) wanted.push_back(scope.layer);
  std::vector<int> like = LayersLike(wanted);
  Order order(saved);
  llvm::StringMap<KeyOrReason> found;
  for (size_t i = 0; i < scopes.size(); ++i) {
    const Layer* layer = like[i] < 0 ? nullptr : &layers_[like[i]];
    std::string why = WhyNotLike(layer, wanted[i], scopes[i].names.size());
    if (why.empty() && !order.Sort(&scopes[i]))
      why = "the model does not give the order of its layer's variables";
    for (size_t k = 0; k < scopes[i].names.size(); ++k)
      found[scopes[i].names[k]] = {why.empty() ? layer->keys[k] : "", why};
  }
  VariableBinding binding;
  for (const SavedVariable& variable : variables) {
    auto [key, why] = found.lookup(variable.name);
    if (why.empty()) why = WhyNoArray(variable, key);
    if (why.empty()) {
      binding.bound.push_back({variable.node, key, /*rival=*/""});
    } else {
      binding.unbound.push_back({variable.node, why});
    }
  }
  binding.is_of_model = true;
  return binding;
}

Expected<Literal> KerasWeights::Read(const std::string& key) const { return file_.Read(key); }

}  // namespace grapnel
