#include "lib/io/variable_binding.h"

#include <map>

#include "lib/io/name_match.h"
#include "lib/io/object_match.h"
#include "lib/io/saved_objects.h"
#include "lib/io/saved_variables.h"
#include "lib/ir/fits_shape.h"
#include "lib/ir/node_types.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "lib/proto/trackable_object_graph.pb.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

template <typename Message>
Expected<Message> Parsed(llvm::StringRef bytes, llvm::StringRef what) {
  Message message;
  if (bytes.size() > INT32_MAX ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return MakeError("{0} cannot be read", what);
  return message;
}

bool FitsValue(DataType dtype, const Shape& shape, const Bundle::Entry& entry) {
  return entry.dtype == BaseType(dtype) && FitsShape(entry.shape, shape);
}

// True if the values under both keys have the same dtype, shape, size and checksum in the index.
bool AreSame(const Bundle& bundle, const std::string& a, const std::string& b) {
  auto x = bundle.Describe(a), y = bundle.Describe(b);
  bool same = x && y && x->dtype == y->dtype && x->shape == y->shape && x->size == y->size &&
              x->checksum == y->checksum;
  if (!x) llvm::consumeError(x.takeError());
  if (!y) llvm::consumeError(y.takeError());
  return same;
}

// Finds checkpoint keys by the name that a variable had when the checkpoint was written. If several
// variables had the name, one of them is used if all their values are the same.
class NamedValues {
 public:
  NamedValues(const proto::TrackableObjectGraph& stored, const Bundle& bundle,
              llvm::ArrayRef<SavedVariable> variables) {
    std::map<std::string, std::vector<std::string>> keys;
    for (const auto& object : stored.nodes()) {
      for (const auto& attribute : object.attributes()) {
        if (!attribute.full_name().empty() && bundle.Has(attribute.checkpoint_key()))
          keys[attribute.full_name()].push_back(attribute.checkpoint_key());
      }
    }
    std::vector<std::string> names, wanted;
    llvm::StringSet<> seen;
    for (const auto& [name, of_name] : keys) {
      auto is_same = [&, &first = of_name[0]](const std::string& key) {
        return AreSame(bundle, first, key);
      };
      if (llvm::all_of(llvm::drop_begin(of_name), is_same)) {
        names.push_back(name);
      } else {
        several_[name] = of_name;
      }
    }
    for (const SavedVariable& variable : variables) {
      if (seen.insert(variable.name).second) wanted.push_back(variable.name);
      if (keys.empty() && bundle.Has(variable.name)) keys_of_[variable.name] = {variable.name};
    }
    std::vector<int> like = MatchNames(wanted, names);
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (like[i] >= 0) keys_of_[wanted[i]] = {keys[names[like[i]]][0]};
    }
  }

  // Returns the key for a variable's name, or several keys if variables of that name have different
  // values.
  std::vector<std::string> Find(const std::string& name) const {
    std::vector<std::string> keys = keys_of_.lookup(name);
    return keys.empty() ? several_.lookup(name) : keys;
  }

 private:
  llvm::StringMap<std::vector<std::string>> keys_of_, several_;
};

class Binder {
 public:
  Binder(const GraphInFile& graph, const proto::SavedObjectGraph& saved,
         const proto::TrackableObjectGraph& stored, const Bundle& bundle)
      : saved_(saved),
        bundle_(bundle),
        variables_(VariablesOfObjects(graph, saved)),
        match_(saved, stored,
               [&](const proto::SavedVariable& variable, const std::string& key) {
                 return FitsKey(variable.dtype(), Shape::FromProto(variable.shape()), key);
               }),
        named_(stored, bundle, variables_) {
    llvm::DenseSet<int> again;
    for (const SavedVariable& variable : variables_)
      again.insert(variable.also.begin(), variable.also.end());
    for (int i = 0; i < saved.nodes_size(); ++i) {
      if (saved.nodes(i).has_variable() && !again.contains(i))
        ++objects_of_name_[saved.nodes(i).variable().name()];
    }
  }

  Expected<VariableBinding> Bind() {
    VariableBinding binding;
    for (const SavedVariable& variable : variables_) {
      ObjectMatch::Found found = InCheckpoint(variable);
      binding.is_of_model |= !found.keys.empty();
      ASSIGN_OR_RETURN(std::string why, WhyNot(variable, found));
      if (why.empty()) {
        binding.bound.push_back({variable.node, found.keys[0], RivalOf(variable, found.keys[0])});
      } else {
        binding.unbound.push_back({variable.node, why});
      }
    }
    return binding;
  }

 private:
  bool FitsKey(DataType dtype, const Shape& shape, const std::string& key) const {
    if (!bundle_.Has(key)) return false;
    auto entry = bundle_.Describe(key);
    if (entry) return FitsValue(dtype, shape, *entry);
    llvm::consumeError(entry.takeError());
    return false;
  }

  ObjectMatch::Found InCheckpoint(const SavedVariable& variable) const {
    ObjectMatch::Found found;
    if (variable.object >= 0) found = match_.Of(variable.object);
    for (size_t i = 0; i < variable.also.size() && found.keys.empty(); ++i)
      found = match_.Of(variable.also[i]);
    if (found.keys.size() == 1 || !IsAlone(variable.name)) return found;
    std::vector<std::string> keys = named_.Find(variable.name);
    bool is_one_of_them = keys.size() == 1 && llvm::is_contained(found.keys, keys[0]);
    if (found.keys.empty() || is_one_of_them) found.keys = std::move(keys);
    return found;
  }

  // True if at most one variable of the model has this name. A name such as 'w' may occur in many
  // modules.
  bool IsAlone(llvm::StringRef name) const { return objects_of_name_.lookup(name) <= 1; }

  // A variable may belong to several objects. Returns another checkpoint key of one of them under
  // which there is a different value; empty if there is no such key.
  std::string RivalOf(const SavedVariable& variable, const std::string& key) const {
    std::vector<int> objects = variable.also;
    if (variable.object >= 0) objects.push_back(variable.object);
    for (int object : objects) {
      for (const std::string& other : match_.Of(object).keys) {
        if (other != key && !AreSame(bundle_, key, other)) return other;
      }
    }
    return "";
  }

  // Returns the reason why `found` does not give the variable a value: there is no key, more than
  // one, or a value that cannot be its own; empty if it does.
  Expected<std::string> WhyNot(const SavedVariable& variable, const ObjectMatch::Found& found) {
    if (found.keys.empty() && bundle_.Has(variable.key)) {
      ASSIGN_OR_RETURN(Bundle::Entry entry, bundle_.Describe(variable.key));
      std::string why = WhyNoValue(variable, variable.key, entry.dtype, entry.shape);
      if (!why.empty()) return why;
    }
    if (found.keys.empty() && !IsAlone(variable.name)) {
      return llvm::formatv(
                 "{0} variables of the model are called '{1}', and the checkpoint has none of them "
                 "at the model's path",
                 objects_of_name_.lookup(variable.name), variable.name)
          .str();
    }
    if (found.keys.empty()) {
      std::string near;
      if (suggestions_left_ > 0) {
        --suggestions_left_;
        near = DidYouMean(variable.name, [&](NameSink take) {
          for (llvm::StringRef name : bundle_.names()) take(name);
        });
      }
      return llvm::formatv("the checkpoint has no '{0}'{1}", variable.name, near).str();
    }
    if (found.keys.size() > 1) {
      return "the checkpoint has the variable in several places: '" +
             llvm::join(found.keys, "', '") + "'";
    }
    if (found.rival >= 0) {
      return llvm::formatv("the checkpoint's '{0}' may be that of another variable ('{1}')",
                           found.keys[0], saved_.nodes(found.rival).variable().name())
          .str();
    }
    ASSIGN_OR_RETURN(Bundle::Entry entry, bundle_.Describe(found.keys[0]));
    return WhyNoValue(variable, found.keys[0], entry.dtype, entry.shape);
  }

  const proto::SavedObjectGraph& saved_;
  const Bundle& bundle_;
  std::vector<SavedVariable> variables_;
  ObjectMatch match_;
  NamedValues named_;
  llvm::StringMap<int> objects_of_name_;
  // Comparing a name with all others takes long, and messages show only a few variables.
  int suggestions_left_ = 8;
};

}  // namespace

std::vector<SavedVariable> VariablesOfObjects(const GraphInFile& graph,
                                              const proto::SavedObjectGraph& saved) {
  std::vector<SavedVariable> variables = VariablesOf(graph);
  for (SavedVariable& variable : variables) {
    if (variable.object < 0) continue;
    const std::string& name = saved.nodes(variable.object).variable().name();
    if (!name.empty()) variable.name = name;
  }
  return variables;
}

std::vector<SavedVariable> VariablesOfObjects(const GraphInFile& graph) {
  proto::SavedObjectGraph saved;
  // An object graph that cannot be parsed gives no names; VariablesOf ignores it too.
  if (!ReadSavedObjects(graph, &saved)) return VariablesOf(graph);
  return VariablesOfObjects(graph, saved);
}

std::string WhyNoValue(const SavedVariable& variable, llvm::StringRef key, DataType dtype,
                       const Shape& shape) {
  if (dtype == BaseType(variable.dtype) && FitsShape(shape, variable.shape)) return "";
  return Sentence("the checkpoint's '{0}' is {1}{2}, and {3}{4} was expected", key,
                  DataTypeName(dtype).str(), shape.ToString(), DataTypeName(variable.dtype).str(),
                  variable.shape.ToString());
}

VariableBinding BindingOfPart(const GraphInFile& part, VariableBinding binding) {
  llvm::DenseMap<NodeId, NodeId> in_part = VariablesInPart(part);
  auto keep = [&](auto& list) {
    llvm::erase_if(list, [&](const auto& one) { return !in_part.count(one.variable); });
    for (auto& one : list) one.variable = in_part[one.variable];
    llvm::sort(list, [](const auto& a, const auto& b) { return a.variable < b.variable; });
  };
  keep(binding.bound);
  keep(binding.unbound);
  return binding;
}

Expected<VariableBinding> BindVariables(const GraphInFile& graph, Bundle* bundle) {
  if (graph.whole) {
    ASSIGN_OR_RETURN(VariableBinding binding, BindVariables(*graph.whole, bundle));
    return BindingOfPart(graph, std::move(binding));
  }
  auto saved = Parsed<proto::SavedObjectGraph>(graph.object_graph,
                                               "the object graph of '" + graph.title + "'");
  if (!saved) return Annotate(graph.path, saved.takeError());
  ASSIGN_OR_RETURN(std::string objects, ObjectGraphOf(bundle));
  ASSIGN_OR_RETURN(auto stored,
                   Parsed<proto::TrackableObjectGraph>(objects, "the checkpoint's object graph"));
  return Binder(graph, *saved, stored, *bundle).Bind();
}

}  // namespace grapnel
