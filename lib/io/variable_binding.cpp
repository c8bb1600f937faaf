#include "lib/io/variable_binding.h"

#include <map>

#include "lib/io/saved_variables.h"
#include "lib/ir/node_types.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "lib/proto/trackable_object_graph.pb.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

constexpr int kNoObject = -1;
constexpr const char* kValue = "VARIABLE_VALUE";

// Objects of the model beside those of the checkpoint.
class ObjectMatch {
 public:
  ObjectMatch(const proto::SavedObjectGraph& saved, const proto::TrackableObjectGraph& stored)
      : saved_(saved), stored_(stored), stored_of_(saved.nodes_size(), kNoObject) {
    if (saved.nodes().empty() || stored.nodes().empty()) return;
    Walk(0, 0);
    for (const auto& child : stored.nodes(0).children()) Walk(0, child.node_id());
    for (const auto& child : saved.nodes(0).children()) Walk(child.node_id(), 0);
  }

  // Where the variable of an object lies; empty: it was not found.
  std::string KeyOf(int object) const {
    int stored = stored_of_[object];
    if (stored == kNoObject) return "";
    for (const auto& attribute : stored_.nodes(stored).attributes()) {
      if (attribute.name() == kValue) return attribute.checkpoint_key();
    }
    return "";
  }

 private:
  void Walk(int saved, int stored) {
    std::vector<std::pair<int, int>> open;
    auto match = [&](int a, int b) {
      if (a < 0 || b < 0 || a >= saved_.nodes_size() || b >= stored_.nodes_size()) return;
      if (stored_of_[a] != kNoObject) return;
      stored_of_[a] = b;
      open.emplace_back(a, b);
    };
    auto begin = [&](int a, int b) {  // one that was walked before may lead on by another way
      if (a >= 0 && b >= 0 && a < saved_.nodes_size() && b < stored_.nodes_size())
        open.emplace_back(a, b);
    };
    begin(saved, stored);
    while (!open.empty()) {
      auto [a, b] = open.back();
      open.pop_back();
      llvm::StringMap<int> children;
      for (const auto& child : stored_.nodes(b).children())
        children.try_emplace(child.local_name(), child.node_id());
      for (const auto& child : saved_.nodes(a).children()) {
        auto found = children.find(child.local_name());
        if (found != children.end()) match(child.node_id(), found->second);
      }
      MatchSlots(a, b, match);
    }
  }

  template <typename Match>
  void MatchSlots(int a, int b, Match match) {
    for (const auto& slot : saved_.nodes(a).slot_variables()) {
      int of = slot.original_variable_node_id();
      if (of < 0 || of >= saved_.nodes_size()) continue;
      for (const auto& other : stored_.nodes(b).slot_variables()) {
        if (other.slot_name() == slot.slot_name() &&
            other.original_variable_node_id() == stored_of_[of])
          match(slot.slot_variable_node_id(), other.slot_variable_node_id());
      }
    }
  }

  const proto::SavedObjectGraph& saved_;
  const proto::TrackableObjectGraph& stored_;
  std::vector<int> stored_of_;  // by object of the model
};

// Which object a VarHandleOp of the main graph is, by id.
llvm::DenseMap<NodeId, int> ObjectsOf(const GraphInFile& graph,
                                      const proto::SavedObjectGraph& saved,
                                      llvm::ArrayRef<SavedVariable> variables) {
  llvm::DenseMap<NodeId, int> objects;
  for (Node node : graph.module->main.nodes()) {
    for (llvm::StringRef name : CalledFunctions(node)) {
      auto function = saved.concrete_functions().find(name.str());
      if (function == saved.concrete_functions().end()) continue;
      const auto& captured = function->second.bound_inputs();
      int first = node.num_inputs() - captured.size();
      for (int i = 0; first >= 0 && i < captured.size(); ++i) {
        Node source = node.input_node(first + i);
        bool is_object = captured[i] >= 0 && captured[i] < saved.nodes_size() &&
                         saved.nodes(captured[i]).has_variable();
        if (source && IsVariable(source) && is_object) objects[source.id()] = captured[i];
      }
    }
  }
  llvm::StringMap<llvm::SmallVector<int, 1>> named;
  for (int i = 0; i < saved.nodes_size(); ++i) {
    if (saved.nodes(i).has_variable()) named[saved.nodes(i).variable().name()].push_back(i);
  }
  for (const SavedVariable& variable : variables) {
    auto found = named.find(variable.name);
    if (found != named.end() && found->second.size() == 1)
      objects.try_emplace(variable.node, found->second[0]);
  }
  return objects;
}

template <typename Message>
Expected<Message> Parsed(llvm::StringRef bytes, llvm::StringRef what) {
  Message message;
  if (bytes.size() > INT32_MAX ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return MakeError("{0} cannot be read", what);
  return message;
}

bool Fits(const Shape& wanted, const Shape& given) {
  if (!wanted.known_rank()) return true;
  if (!given.known_rank() || given.rank() != wanted.rank()) return false;
  for (int i = 0; i < wanted.rank(); ++i) {
    if (wanted.dim(i) >= 0 && wanted.dim(i) != given.dim(i)) return false;
  }
  return true;
}

// Why the value under `key` is none for the variable; empty: it is one.
Expected<std::string> WhyNot(const SavedVariable& variable, const std::string& key,
                             Bundle* bundle) {
  if (key.empty() || !bundle->Has(key)) {
    std::string near = DidYouMean(key.empty() ? variable.name : key, [&](NameSink take) {
      for (llvm::StringRef name : bundle->names()) take(name);
    });
    return llvm::formatv("the checkpoint has no '{0}'{1}", key.empty() ? variable.name : key, near)
        .str();
  }
  ASSIGN_OR_RETURN(Bundle::Entry entry, bundle->Describe(key));
  bool fits = entry.dtype == BaseType(variable.dtype) && Fits(variable.shape, entry.shape);
  if (fits) return "";
  return llvm::formatv("the checkpoint's '{0}' is {1}{2}, and {3}{4} was expected", key,
                       DataTypeName(entry.dtype), entry.shape.ToString(),
                       DataTypeName(variable.dtype), variable.shape.ToString())
      .str();
}

}  // namespace

Expected<VariableBinding> BindVariables(const GraphInFile& graph, Bundle* bundle) {
  std::vector<SavedVariable> variables = VariablesOf(graph);
  auto saved = Parsed<proto::SavedObjectGraph>(graph.object_graph,
                                               "the object graph of '" + graph.title + "'");
  if (!saved) return Annotate(graph.path, saved.takeError());
  ASSIGN_OR_RETURN(std::string objects, ObjectGraphOf(bundle));
  ASSIGN_OR_RETURN(auto stored,
                   Parsed<proto::TrackableObjectGraph>(objects, "the checkpoint's object graph"));
  ASSIGN_OR_RETURN(auto key_of_name, VariableKeys(bundle));
  ObjectMatch match(*saved, stored);
  llvm::DenseMap<NodeId, int> object_of = ObjectsOf(graph, *saved, variables);
  VariableBinding binding;
  for (const SavedVariable& variable : variables) {
    auto object = object_of.find(variable.node);
    std::string key = object == object_of.end() ? "" : match.KeyOf(object->second);
    if (key.empty()) {
      auto named = key_of_name.find(variable.name);
      key = named != key_of_name.end()   ? named->second
            : bundle->Has(variable.name) ? variable.name
                                         : "";
    }
    ASSIGN_OR_RETURN(std::string why, WhyNot(variable, key, bundle));
    if (why.empty()) {
      binding.bound.push_back({variable.node, key});
    } else {
      binding.unbound.push_back({variable.node, why});
    }
  }
  return binding;
}

}  // namespace grapnel
