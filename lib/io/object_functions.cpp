#include "lib/io/object_functions.h"

#include "lib/io/saved_objects.h"
#include "lib/io/signature.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "lib/support/name_list.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

using Structure = proto::StructuredValue;

const google::protobuf::RepeatedPtrField<Structure>& ItemsOf(const Structure& list) {
  return list.has_list_value() ? list.list_value().values() : list.tuple_value().values();
}

// The parameters of a Python function, as far as the file says.
struct ParameterNames {
  std::vector<std::string> positional;
  std::string rest;  // the name of *args

  // Returns the name of positional argument `i`. tf.function calls those in *args "args_0", ... A
  // graph of TensorFlow 1 has no parameters, but its tensors have names.
  std::string At(size_t i, const Structure& argument) const {
    if (i < positional.size()) return positional[i];
    const std::string& name = argument.tensor_spec_value().name();
    if (rest.empty() && !name.empty()) return name;
    return (rest.empty() ? "arg" : rest) + "_" + std::to_string(i - positional.size());
  }
};

ParameterNames ParameterNamesOf(const proto::FunctionSpec& spec) {
  ParameterNames names;
  for (const proto::PairValue& pair : spec.fullargspec().named_tuple_value().values()) {
    if (pair.key() == "varargs") names.rest = pair.value().string_value();
    if (pair.key() != "args") continue;
    for (const Structure& name : ItemsOf(pair.value()))
      names.positional.push_back(name.string_value());
  }
  bool has_self =
      !names.positional.empty() && (spec.is_method() || names.positional.front() == "self");
  if (has_self) names.positional.erase(names.positional.begin());
  return names;
}

// Gives the tensors of a structure the names and types of a function's arguments or results. If the
// structure does not fit them (files of old versions, tensors that are passed twice), returns these
// instead.
std::vector<SignatureTensor> Fitted(std::vector<SignatureTensor> tensors,
                                    std::vector<SignatureTensor> ends) {
  bool fits = tensors.size() == ends.size();
  for (size_t i = 0; fits && i < ends.size(); ++i)
    fits = tensors[i].dtype == proto::DT_INVALID || tensors[i].dtype == ends[i].dtype;
  if (!fits) return ends;
  llvm::StringSet<> keys;
  for (auto [tensor, end] : llvm::zip(tensors, ends)) {
    tensor.tensor = end.tensor;
    if (tensor.dtype == proto::DT_INVALID) {
      tensor.dtype = end.dtype;
      tensor.shape = end.shape;
    }
    if (!keys.insert(tensor.key).second) tensor.key = end.tensor;
  }
  return tensors;
}

std::vector<SignatureTensor> ArgumentsOf(const Function& function, size_t captured) {
  std::vector<SignatureTensor> arguments;
  for (NodeId id : function.args) {
    Node node = function.body.node(id);
    ArgumentType type = TypeOfArgument(node);
    arguments.push_back({node.name().str(), node.name().str(), type.dtype, type.shape});
  }
  arguments.resize(arguments.size() - std::min(arguments.size(), captured));
  return arguments;
}

std::vector<SignatureTensor> ResultsOf(const Function& function) {
  std::vector<SignatureTensor> results;
  for (const Function::Result& result : function.results) {
    Node node = function.body.node(result.node);
    DataType dtype =
        node.num_inputs() > 0 ? TypeOfPort(function.body, node.input(0)) : proto::DT_INVALID;
    results.push_back({"output_" + std::to_string(results.size()), result.name, dtype, Shape()});
  }
  return results;
}

// Splits "float[2,3], b=(1, 'x,y')" at the commas outside of brackets and quotes, and drops spaces
// outside of quotes.
std::vector<std::string> PartsOfArguments(llvm::StringRef text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (is_quoted && c == '\\' && i + 1 < text.size()) {
      parts.back() += {c, text[++i]};
      continue;
    }
    if (c == '\'') is_quoted = !is_quoted;
    if (!is_quoted) {
      if (llvm::StringRef("([{").contains(c)) ++depth;
      if (llvm::StringRef(")]}").contains(c)) --depth;
      if (c == ' ') continue;
      if (c == ',' && depth == 0) {
        parts.emplace_back();
        continue;
      }
    }
    parts.back() += c;
  }
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

std::string WithoutSpaces(llvm::StringRef text) { return llvm::join(PartsOfArguments(text), ","); }

// True if the parts are the trace's arguments in order, or if `some`, some of them.
bool HasArguments(const ObjectTrace& trace, llvm::ArrayRef<std::string> parts, bool some) {
  size_t found = 0;
  for (const ObjectTrace::Parameter& parameter : trace.parameters) {
    std::string text = WithoutSpaces(parameter.text);
    bool is_it = found < parts.size() &&
                 (parts[found] == parameter.name + (parameter.is_value ? "=" : ":") + text ||
                  (!parameter.is_value && parts[found] == text));
    if (is_it) {
      ++found;
    } else if (!some) {
      return false;
    }
  }
  return found == parts.size();
}

// Splits "layers[0].encode" and "layers.0.encode" into names of children.
std::vector<std::string> PartsOfPath(llvm::StringRef path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    if (path.consume_front("[")) {
      auto [item, rest] = path.split(']');
      parts.push_back(item.trim("'\"").str());
      path = rest;
      path.consume_front(".");
      continue;
    }
    size_t end = path.find_first_of(".[");
    parts.push_back(path.take_front(end).str());
    path = path.drop_front(std::min(end, path.size()));
    path.consume_front(".");
  }
  return parts;
}

class FunctionReader {
 public:
  FunctionReader(const GraphInFile& graph, const proto::SavedObjectGraph& saved)
      : graph_(graph), saved_(saved) {}

  // Walks breadth-first from the root, so that the first path to an object is the shortest.
  std::vector<ObjectFunction> All() const {
    std::vector<ObjectFunction> functions;
    std::vector<std::pair<int, std::string>> left;
    std::vector<bool> seen(saved_.nodes_size());
    if (saved_.nodes_size() > 0) left.emplace_back(0, "");
    for (size_t i = 0; i < left.size(); ++i) {
      auto [object, path] = left[i];
      for (const auto& child : saved_.nodes(object).children()) {
        int id = child.node_id();
        if (id < 0 || id >= saved_.nodes_size() || seen[id] || IsLoaders(object, child)) continue;
        seen[id] = true;
        std::string name = PathOf(object, path, child.local_name());
        if (!IsFunction(id)) {
          left.emplace_back(id, std::move(name));
          continue;
        }
        ObjectFunction function = Read(id, std::move(name));
        bool is_private = llvm::StringRef(child.local_name()).starts_with("_");
        if (!function.traces.empty() || !is_private) functions.push_back(std::move(function));
      }
    }
    return functions;
  }

  // Returns the function at a path; nullopt if there is none.
  std::optional<ObjectFunction> At(llvm::StringRef path) const {
    std::vector<std::string> parts = PartsOfPath(path);
    int object = saved_.nodes_size() > 0 && !parts.empty() ? 0 : -1;
    std::string name;
    for (size_t i = 0; i < parts.size() && object >= 0; ++i) {
      name = PathOf(object, name, parts[i]);
      object = Child(object, parts[i]);
    }
    if (object < 0 || !IsFunction(object)) return std::nullopt;
    return Read(object, std::move(name));
  }

 private:
  bool IsFunction(int object) const {
    return saved_.nodes(object).has_function() || saved_.nodes(object).has_bare_concrete_function();
  }

  // True for the children that tf.saved_model.load uses itself: the signatures, which the MetaGraph
  // lists too, and the functions that make, fill and delete a table.
  template <typename Child>
  bool IsLoaders(int object, const Child& child) const {
    if (saved_.nodes(child.node_id()).user_object().identifier() == "signature_map") return true;
    llvm::StringRef name = child.local_name();
    return saved_.nodes(object).has_resource() &&
           (name == "_create_resource" || name == "_initialize" || name == "_destroy_resource");
  }

  int Child(int object, llvm::StringRef name) const {
    for (const auto& child : saved_.nodes(object).children()) {
      bool is_there = child.node_id() >= 0 && child.node_id() < saved_.nodes_size();
      if (is_there && child.local_name() == name) return child.node_id();
    }
    return -1;
  }

  std::string PathOf(int object, const std::string& path, const std::string& child) const {
    llvm::StringRef kind = saved_.nodes(object).user_object().identifier();
    if (kind == "trackable_list_wrapper" || kind == "trackable_tuple_wrapper")
      return path + "[" + child + "]";
    if (kind == "trackable_dict_wrapper") return path + "['" + child + "']";
    return path.empty() ? child : path + "." + child;
  }

  ObjectFunction Read(int object, std::string path) const {
    ObjectFunction function{std::move(path), {}};
    const proto::SavedObject& saved = saved_.nodes(object);
    if (saved.has_bare_concrete_function()) {
      const proto::SavedBareConcreteFunction& bare = saved.bare_concrete_function();
      ParameterNames names = ParameterNamesOf(bare.function_spec());
      if (names.positional.empty())
        names.positional.assign(bare.argument_keywords().begin(), bare.argument_keywords().end());
      function.traces.push_back(ReadTrace(bare.concrete_function_name(), names));
      return function;
    }
    ParameterNames names = ParameterNamesOf(saved.function().function_spec());
    for (const std::string& name : saved.function().concrete_functions())
      function.traces.push_back(ReadTrace(name, names));
    return function;
  }

  ObjectTrace ReadTrace(const std::string& name, const ParameterNames& names) const {
    ObjectTrace trace;
    trace.function = name;
    auto found = saved_.concrete_functions().find(name);
    const proto::SavedConcreteFunction& saved =
        found == saved_.concrete_functions().end()
            ? proto::SavedConcreteFunction::default_instance()
            : found->second;
    trace.captures.assign(saved.bound_inputs().begin(), saved.bound_inputs().end());
    const Function* function = graph_.module->FindFunction(name);
    std::vector<SignatureTensor> arguments, results;
    if (function) arguments = ArgumentsOf(*function, trace.captures.size());
    if (function) results = ResultsOf(*function);
    FlatStructure flat = AddParameters(saved.canonicalized_input_signature(), names, &trace);
    trace.values = std::move(flat.values);
    trace.inputs = function ? Fitted(std::move(flat.tensors), arguments) : flat.tensors;
    trace.returns = StructureText(saved.output_signature());
    FlatStructure flat_results = FlattenResults(saved.output_signature());
    trace.outputs =
        function ? Fitted(std::move(flat_results.tensors), results) : flat_results.tensors;
    if (trace.parameters.empty()) {
      for (const SignatureTensor& input : trace.inputs)
        trace.parameters.push_back({input.key, TextOf(input), false});
    }
    return trace;
  }

  static std::string TextOf(const SignatureTensor& tensor) {
    return DataTypeName(tensor.dtype).str() +
           (tensor.shape.known_rank() ? tensor.shape.ToString() : "");
  }

  // Reads ((positional arguments), {keyword arguments}), which TensorFlow flattens in this order.
  static FlatStructure AddParameters(const Structure& arguments, const ParameterNames& names,
                                     ObjectTrace* trace) {
    FlatStructure flat;
    auto add = [&](const std::string& name, const Structure& value) {
      FlatStructure own;
      FlattenStructure(value, name, &own);
      bool is_value = own.tensors.empty() && !own.values.empty();
      trace->parameters.push_back({name, StructureText(value), is_value});
      llvm::move(own.tensors, std::back_inserter(flat.tensors));
      llvm::move(own.values, std::back_inserter(flat.values));
    };
    const auto& both = ItemsOf(arguments);
    if (both.size() != 2) return flat;
    const auto& positional = ItemsOf(both[0]);
    for (int i = 0; i < positional.size(); ++i) add(names.At(i, positional[i]), positional[i]);
    std::vector<std::string> keywords;
    for (const auto& field : both[1].dict_value().fields()) keywords.push_back(field.first);
    llvm::sort(keywords);
    for (const std::string& name : keywords) add(name, both[1].dict_value().fields().at(name));
    return flat;
  }

  const GraphInFile& graph_;
  const proto::SavedObjectGraph& saved_;
};

// Returns the names that select the traces of a function; that of the library's function if the
// arguments of two traces are equal.
std::vector<std::string> NamesOf(const ObjectFunction& function,
                                 llvm::ArrayRef<const ObjectTrace*> traces) {
  llvm::StringMap<int> count;
  for (const ObjectTrace* trace : traces) ++count[function.NameOf(*trace)];
  std::vector<std::string> names;
  for (const ObjectTrace* trace : traces) {
    std::string name = function.NameOf(*trace);
    names.push_back(count[name] == 1 ? std::move(name) : trace->function);
  }
  return names;
}

}  // namespace

std::string ObjectTrace::Arguments() const {
  std::vector<std::string> parts;
  for (const Parameter& parameter : parameters)
    parts.push_back(parameter.is_value ? parameter.name + "=" + parameter.text : parameter.text);
  return llvm::join(parts, ", ");
}

std::string ObjectTrace::Parameters() const {
  std::vector<std::string> parts;
  for (const Parameter& parameter : parameters)
    parts.push_back(parameter.name + (parameter.is_value ? "=" : ": ") + parameter.text);
  return llvm::join(parts, ", ");
}

std::vector<ObjectFunction> ObjectFunctionsOf(const GraphInFile& graph) {
  proto::SavedObjectGraph saved;
  if (!graph.module || !ReadSavedObjects(graph, &saved)) return {};
  return FunctionReader(graph, saved).All();
}

Expected<std::optional<ChosenTrace>> FindObjectFunction(const GraphInFile& graph,
                                                        llvm::StringRef name) {
  proto::SavedObjectGraph saved;
  if (!graph.module || !ReadSavedObjects(graph, &saved)) return std::nullopt;
  auto [path, arguments] = name.split('(');
  bool has_arguments = arguments.consume_back(")");
  std::optional<ObjectFunction> function =
      FunctionReader(graph, saved).At(has_arguments ? path : name);
  if (!function) return std::nullopt;
  if (function->traces.empty())
    return MakeError(
        "function '{0}' was never called before the model was saved, so it has no graph",
        function->path);
  std::vector<const ObjectTrace*> found;
  std::vector<std::string> parts = PartsOfArguments(arguments);
  for (bool some : {false, true}) {
    if (!found.empty()) break;
    for (const ObjectTrace& trace : function->traces) {
      if (!has_arguments || HasArguments(trace, parts, some)) found.push_back(&trace);
    }
  }
  if (found.size() == 1) return ChosenTrace{function->path, *found.front()};
  std::vector<const ObjectTrace*> all;
  for (const ObjectTrace& trace : function->traces) all.push_back(&trace);
  if (found.empty())
    return MakeError("function '{0}' has no trace for these arguments; there are {1}",
                     function->path, NameList(NamesOf(*function, all)));
  return MakeError("function '{0}' has several traces; name one with its arguments: {1}",
                   function->path, NameList(NamesOf(*function, found)));
}

std::optional<ChosenTrace> FindTraceOf(const GraphInFile& graph, llvm::StringRef name) {
  for (ObjectFunction& function : ObjectFunctionsOf(graph)) {
    for (ObjectTrace& trace : function.traces) {
      if (trace.function == name) return ChosenTrace{name.str(), std::move(trace)};
    }
  }
  return std::nullopt;
}

Error CheckHasSignature(const Model& model, const GraphInFile& graph) {
  if (!llvm::all_of(graph.signatures, IsInternal)) return Error::success();
  std::vector<std::string> names;
  for (const ObjectFunction& function : ObjectFunctionsOf(graph)) {
    for (const ObjectTrace& trace : function.traces)
      names.push_back(function.path + "(" + trace.Parameters() + ")");
  }
  if (names.empty()) return Error::success();
  return MakeError("{0}: has no signature; its functions are: {1}: name one with --function",
                   model.path, NameList(names));
}

}  // namespace grapnel
