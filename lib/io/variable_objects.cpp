#include "lib/io/variable_objects.h"

#include "lib/io/saved_objects.h"
#include "lib/io/saver_keys.h"
#include "lib/ir/node_types.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// Returns the objects of the variables that the main graph passes to functions that capture them.
llvm::DenseMap<NodeId, int> CapturedObjects(const GraphInFile& graph,
                                            const proto::SavedObjectGraph& saved) {
  llvm::DenseMap<NodeId, int> objects;
  VisitCaptures(graph, saved, [&](Port given, int object) {
    if (IsVariable(graph.module->main.node(given.node)) && saved.nodes(object).has_variable())
      objects[given.node] = object;
  });
  return objects;
}

// Returns "Variable" for "Variable_12".
llvm::StringRef WithoutEndNumber(llvm::StringRef name) {
  llvm::StringRef stem = name.rtrim("0123456789");
  return stem.size() < name.size() && stem.consume_back("_") ? stem : name;
}

bool FitsObject(const SavedVariable& variable, const proto::SavedVariable& object) {
  Shape shape = Shape::FromProto(object.shape());
  return BaseType(variable.dtype) == BaseType(object.dtype()) &&
         variable.shape.ToString() == shape.ToString();
}

// Returns the name of a child object as a checkpoint key contains it, with '.' and '/' escaped.
std::string EscapedName(llvm::StringRef name) {
  std::string escaped;
  for (char c : name) {
    if (c == '.')
      escaped += "..";
    else if (c == '/')
      escaped += ".S";
    else
      escaped += c;
  }
  return escaped;
}

// Finds objects by their path, the names of the children that lead to them from the root:
// "layers/0/kernel".
class ObjectPaths {
 public:
  explicit ObjectPaths(const proto::SavedObjectGraph& saved) : saved_(saved) {}

  // Returns the variable object to which a checkpoint key belongs; -1 if there is none.
  int VariableOfKey(llvm::StringRef key) const {
    if (!key.consume_back("/.ATTRIBUTES/VARIABLE_VALUE")) return -1;
    auto [path, slot] = key.split("/.OPTIMIZER_SLOT/");
    int object = At(path);
    if (!slot.empty()) object = SlotOf(object, slot);
    bool is_variable = object >= 0 && saved_.nodes(object).has_variable();
    return is_variable ? object : -1;
  }

 private:
  int At(llvm::StringRef path) const {
    int object = saved_.nodes().empty() ? -1 : 0;
    llvm::SmallVector<llvm::StringRef> names;
    path.split(names, '/');
    for (size_t i = 0; i < names.size() && object >= 0; ++i) object = Child(object, names[i]);
    return object;
  }

  int Child(int object, llvm::StringRef name) const {
    for (const auto& child : saved_.nodes(object).children()) {
      bool is_there = child.node_id() >= 0 && child.node_id() < saved_.nodes_size();
      if (is_there && EscapedName(child.local_name()) == name) return child.node_id();
    }
    return -1;
  }

  // Returns the slot variable that an optimizer has for the variable `original`, such as a moment.
  // `slot`: the optimizer's path and the slot's name, "optimizer/m".
  int SlotOf(int original, llvm::StringRef slot) const {
    auto [path, name] = slot.rsplit('/');
    int optimizer = original < 0 ? -1 : At(path);
    if (optimizer < 0) return -1;
    for (const auto& one : saved_.nodes(optimizer).slot_variables()) {
      int variable = one.slot_variable_node_id();
      if (one.original_variable_node_id() == original && EscapedName(one.slot_name()) == name &&
          variable >= 0 && variable < saved_.nodes_size())
        return variable;
    }
    return -1;
  }

  const proto::SavedObjectGraph& saved_;
};

class ObjectFinder {
 public:
  ObjectFinder(const GraphInFile& graph, const proto::SavedObjectGraph& saved,
               llvm::MutableArrayRef<SavedVariable> variables)
      : saved_(saved),
        variables_(variables),
        keys_(KeysOfSaver(graph)),
        captured_(CapturedObjects(graph, saved)) {
    for (size_t i = 0; i < variables.size(); ++i) place_[variables[i].node] = i;
    originals_ = VariablesCopied(graph.module->main);
  }

  void FindAll() {
    AskSaver();
    for (SavedVariable& variable : variables_) {
      auto object = captured_.find(variable.node);
      if (object != captured_.end()) Tell(variable, object->second);
    }
    JoinCopies();
    for (SavedVariable& variable : variables_) {
      int object = ObjectInSaver(variable);
      if (object < 0 || IsCopy(variable)) continue;
      if (variable.object < 0) {
        Tell(variable, object);
      } else if (variable.object != object) {
        Join(variable, object);
      }
    }
    if (in_saver_.empty()) AskNames();
  }

 private:
  void AskSaver() {
    ObjectPaths paths(saved_);
    for (SavedVariable& variable : variables_) {
      auto key = keys_.find(variable.node);
      if (key == keys_.end()) continue;
      variable.key = key->second;
      int object = paths.VariableOfKey(variable.key);
      if (object >= 0) in_saver_[variable.node] = object;
    }
  }

  int ObjectInSaver(const SavedVariable& variable) const {
    auto found = in_saver_.find(variable.node);
    return found == in_saver_.end() ? -1 : found->second;
  }

  // Returns the variable from which `copy` is initialized, if `copy` exists only for the saver;
  // otherwise null.
  SavedVariable* OriginalOf(const SavedVariable& copy) const {
    auto original = originals_.find(copy.node);
    if (original == originals_.end() || captured_.count(copy.node)) return nullptr;
    auto place = place_.find(original->second);
    int object = ObjectInSaver(copy);
    if (place == place_.end() || object < 0) return nullptr;
    SavedVariable& variable = variables_[place->second];
    int known = variable.object >= 0 ? variable.object : ObjectInSaver(variable);
    return known < 0 || AreAlike(known, object) ? &variable : nullptr;
  }
  bool IsCopy(const SavedVariable& variable) const { return OriginalOf(variable) != nullptr; }

  bool AreAlike(int a, int b) const {
    const proto::SavedVariable &x = saved_.nodes(a).variable(), &y = saved_.nodes(b).variable();
    return x.name() == y.name() && x.dtype() == y.dtype() &&
           Shape::FromProto(x.shape()) == Shape::FromProto(y.shape());
  }

  void JoinCopies() {
    for (SavedVariable& copy : variables_) {
      SavedVariable* original = OriginalOf(copy);
      if (!original) continue;
      int object = ObjectInSaver(copy);
      if (original->object < 0) {
        Tell(*original, object);
      } else if (original->object != object) {
        Join(*original, object);
      }
    }
  }

  void Tell(SavedVariable& variable, int object) {
    variable.object = object;
    told_.insert(object);
  }
  void Join(SavedVariable& variable, int object) {
    if (!AreAlike(variable.object, object) || llvm::is_contained(variable.also, object)) return;
    variable.also.push_back(object);
    told_.insert(object);
  }

  void AskNames() {
    llvm::StringMap<llvm::SmallVector<int, 1>> named;
    for (int i = 0; i < saved_.nodes_size(); ++i) {
      if (saved_.nodes(i).has_variable()) named[saved_.nodes(i).variable().name()].push_back(i);
    }
    for (SavedVariable& variable : variables_) {
      auto found = named.find(variable.name);
      bool is_one = found != named.end() && found->second.size() == 1;
      if (variable.object < 0 && is_one) Tell(variable, found->second[0]);
    }
    for (SavedVariable& variable : variables_) {
      if (variable.object >= 0) continue;
      auto found = named.find(variable.name);
      if (found == named.end()) found = named.find(WithoutEndNumber(variable.name));
      if (found == named.end()) continue;
      for (int object : llvm::reverse(found->second)) {
        if (told_.contains(object) || !FitsObject(variable, saved_.nodes(object).variable()))
          continue;
        Tell(variable, object);
        break;
      }
    }
  }

  const proto::SavedObjectGraph& saved_;
  llvm::MutableArrayRef<SavedVariable> variables_;
  const llvm::DenseMap<NodeId, std::string> keys_;
  const llvm::DenseMap<NodeId, int> captured_;
  llvm::DenseMap<NodeId, NodeId> originals_;  // of copies
  llvm::DenseMap<NodeId, size_t> place_;      // index in the list of variables
  llvm::DenseMap<NodeId, int> in_saver_;      // by whose key the saver restores it
  llvm::DenseSet<int> told_;
};

}  // namespace

void FindObjects(const GraphInFile& graph, const proto::SavedObjectGraph& saved,
                 llvm::MutableArrayRef<SavedVariable> variables) {
  ObjectFinder(graph, saved, variables).FindAll();
}

std::vector<std::string> PathsOfObjects(const GraphInFile& graph,
                                        llvm::ArrayRef<SavedVariable> variables) {
  std::vector<std::string> paths(variables.size());
  proto::SavedObjectGraph saved;
  if (!ReadSavedObjects(graph, &saved) || saved.nodes().empty()) return paths;
  std::vector<std::string> path_of(saved.nodes_size());
  std::vector<int> order(1, 0);
  std::vector<bool> seen(saved.nodes_size());
  seen[0] = true;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const auto& child : saved.nodes(order[i]).children()) {
      int id = child.node_id();
      if (id < 0 || id >= saved.nodes_size() || seen[id]) continue;
      seen[id] = true;
      const std::string& parent = path_of[order[i]];
      path_of[id] = (parent.empty() ? "" : parent + "/") + EscapedName(child.local_name());
      order.push_back(id);
    }
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].object >= 0) paths[i] = path_of[variables[i].object];
  }
  return paths;
}

llvm::DenseSet<int> ListedAgain(const proto::SavedObjectGraph& saved) {
  llvm::DenseSet<int> listed, held;
  int list = -1;
  if (saved.nodes_size() > 0) {
    for (const auto& child : saved.nodes(0).children())
      if (child.local_name() == "_all_variables") list = child.node_id();
  }
  for (int i = 0; list >= 0 && i < saved.nodes_size(); ++i) {
    for (const auto& child : saved.nodes(i).children()) {
      if (child.node_id() >= 0 && child.node_id() < saved.nodes_size())
        (i == list ? listed : held).insert(child.node_id());
    }
  }
  llvm::DenseSet<int> again;
  for (int object : listed) {
    if (!held.contains(object)) again.insert(object);
  }
  return again;
}

}  // namespace grapnel
