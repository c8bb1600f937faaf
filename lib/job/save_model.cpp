// Writes what TensorFlow 2's loader requires of a SavedModel: an object graph that names the
// library's functions with their signatures and the variables that they capture, and a checkpoint
// whose object graph gives the objects the same numbers
// (tensorflow/python/saved_model/{save,load}.py).
#include "lib/job/save_model.h"

#include <map>
#include <set>

#include "lib/io/bundle_writer.h"
#include "lib/ir/attr.h"
#include "lib/ir/import.h"
#include "lib/ir/serialize.h"
#include "lib/ir/wire.h"
#include "lib/job/session_values.h"
#include "lib/proto/meta_graph.pb.h"
#include "lib/support/file.h"

namespace grapnel {
namespace {

using Objects = proto::SavedObjectGraph;
using Spec = proto::StructuredValue;

void FillSpec(const ModelFunction::End& end, const std::string& name, Spec* value) {
  auto* spec = value->mutable_tensor_spec_value();
  spec->set_name(name);
  *spec->mutable_shape() = end.shape.ToProto();
  spec->set_dtype(end.dtype);
}

void AddPair(proto::NamedTupleValue* tuple, const char* key, const Spec& value) {
  auto* pair = tuple->add_values();
  pair->set_key(key);
  *pair->mutable_value() = value;
}

// Fills Python's inspect.FullArgSpec for a function with these arguments.
void FillArgSpec(const ModelFunction& function, bool by_keyword, proto::FunctionSpec* out) {
  Spec none, empty, names, dict;
  none.mutable_none_value();
  empty.mutable_list_value();
  names.mutable_list_value();
  dict.mutable_dict_value();
  for (const auto& input : function.inputs)
    names.mutable_list_value()->add_values()->set_string_value(input.key);
  auto* tuple = out->mutable_fullargspec()->mutable_named_tuple_value();
  tuple->set_name("FullArgSpec");
  AddPair(tuple, "args", by_keyword ? empty : names);
  AddPair(tuple, "varargs", none);
  AddPair(tuple, "varkw", none);
  AddPair(tuple, "defaults", none);
  AddPair(tuple, "kwonlyargs", by_keyword ? names : empty);
  AddPair(tuple, "kwonlydefaults", none);
  AddPair(tuple, "annotations", dict);
}

class ModelWriter {
 public:
  ModelWriter(const TracedModel& model, const Session& session)
      : model_(model), session_(session) {}

  Error Write(llvm::StringRef folder) {
    RETURN_IF_ERROR(CheckPlace(folder));
    AddObjects();
    std::string variables = JoinPath(folder, "variables");
    RETURN_IF_ERROR(CreateDirectories(variables));
    RETURN_IF_ERROR(CreateDirectories(JoinPath(folder, "assets")));
    RETURN_IF_ERROR(WriteVariables(JoinPath(variables, "variables")));
    ASSIGN_OR_RETURN(std::unique_ptr<Module> module, WithSaver());
    return WriteFile(JoinPath(folder, "saved_model.pb"), Bytes(*module));
  }

 private:
  static Error CheckPlace(llvm::StringRef folder) {
    if (!IsDirectory(folder)) {
      if (FileExists(folder)) return MakeError("{0}: is a file; a folder was expected", folder);
      return Error::success();
    }
    ASSIGN_OR_RETURN(std::vector<std::string> names, ListDirectory(folder));
    if (names.empty() || llvm::is_contained(names, "saved_model.pb")) return Error::success();
    return MakeError(
        "{0}: contains '{1}' but no saved_model.pb: name a folder that is empty, that does not "
        "exist, or whose saved_model.pb may be replaced",
        folder, names.front());
  }

  int AddObject() {
    objects_.add_nodes();
    return objects_.nodes_size() - 1;
  }

  int AddUserObject(const char* identifier) {
    int id = AddObject();
    auto* user = objects_.mutable_nodes(id)->mutable_user_object();
    user->set_identifier(identifier);
    user->mutable_version()->set_producer(1);
    user->mutable_version()->set_min_consumer(1);
    return id;
  }

  void AddChild(int parent, const std::string& name, int child) {
    auto* reference = objects_.mutable_nodes(parent)->add_children();
    reference->set_node_id(child);
    reference->set_local_name(name);
    names_.insert({parent, name});
  }

  // Returns the id of the object that holds a variable. Creates objects for the parts of the
  // variable's name except the last.
  int HolderOf(llvm::StringRef name, std::string* last) {
    int holder = 0;
    while (true) {
      auto [part, rest] = name.split('/');
      if (rest.empty()) {
        *last = FreeName(holder, part.str());
        return holder;
      }
      auto [it, added] = holders_.try_emplace({holder, part.str()}, -1);
      if (added) {
        it->second = AddUserObject("_generic_user_object");
        AddChild(holder, FreeName(holder, part.str()), it->second);
      }
      holder = it->second;
      name = rest;
    }
  }

  std::string FreeName(int parent, std::string name) {
    while (names_.count({parent, name}) || (parent == 0 && IsReserved(name))) name += "_";
    return name;
  }
  bool IsReserved(const std::string& name) const {
    return name == "variables" || name == "trainable_variables" || name == "signatures" ||
           llvm::any_of(model_.functions,
                        [&](const ModelFunction& function) { return function.name == name; });
  }

  void AddObjects() {
    AddUserObject("_generic_user_object");
    for (const VariableInfo& variable : model_.variables) AddVariable(variable);
    AddList("variables", /*all=*/true);
    AddList("trainable_variables", /*all=*/false);
    for (const ModelFunction& function : model_.functions) AddFunction(function);
    int signatures = AddUserObject("signature_map");
    AddChild(0, "signatures", signatures);
    for (const ModelFunction& function : model_.functions)
      AddChild(signatures, function.name, AddConcrete(function, /*is_signature=*/true));
  }

  void AddVariable(const VariableInfo& variable) {
    std::string last;
    int holder = HolderOf(variable.name, &last);
    int id = AddObject();
    auto* saved = objects_.mutable_nodes(id)->mutable_variable();
    saved->set_dtype(variable.dtype);
    *saved->mutable_shape() = variable.shape.ToProto();
    saved->set_trainable(variable.trainable);
    saved->set_name(variable.name);
    AddChild(holder, last, id);
    by_node_[variable.node] = id;
  }

  void AddList(const char* name, bool all) {
    int list = AddUserObject("trackable_list_wrapper");
    AddChild(0, name, list);
    int count = 0;
    for (const VariableInfo& variable : model_.variables) {
      if (all || variable.trainable)
        AddChild(list, std::to_string(count++), by_node_[variable.node]);
    }
  }

  void AddFunction(const ModelFunction& function) {
    int id = AddObject();
    auto* saved = objects_.mutable_nodes(id)->mutable_function();
    saved->add_concrete_functions(function.function);
    FillArgSpec(function, /*by_keyword=*/false, saved->mutable_function_spec());
    auto* signature =
        saved->mutable_function_spec()->mutable_input_signature()->mutable_tuple_value();
    for (const auto& input : function.inputs) FillSpec(input, input.key, signature->add_values());
    AddChild(0, function.name, id);
    int trace = AddConcrete(function, /*is_signature=*/false);
    AddChild(id, "trace_0", trace);
  }

  int AddConcrete(const ModelFunction& function, bool is_signature) {
    int id = AddObject();
    auto* bare = objects_.mutable_nodes(id)->mutable_bare_concrete_function();
    const std::string& name = is_signature ? function.wrapper : function.function;
    bare->set_concrete_function_name(name);
    for (const auto& input : function.inputs) bare->add_argument_keywords(input.key);
    bare->set_allowed_positional_arguments(
        is_signature && function.inputs.size() != 1 ? 0 : static_cast<int>(function.inputs.size()));
    FillArgSpec(function, is_signature, bare->mutable_function_spec());
    bare->mutable_function_spec()->mutable_input_signature()->mutable_none_value();
    FillConcrete(function, is_signature, &(*objects_.mutable_concrete_functions())[name]);
    return id;
  }

  void FillConcrete(const ModelFunction& function, bool is_signature,
                    proto::SavedConcreteFunction* concrete) {
    for (const std::string& capture : function.captures)
      concrete->add_bound_inputs(by_node_.count(capture) ? by_node_[capture] : 0);
    auto* both = concrete->mutable_canonicalized_input_signature()->mutable_tuple_value();
    auto* args = both->add_values()->mutable_tuple_value();
    auto* kwargs = both->add_values()->mutable_dict_value();
    for (const auto& input : function.inputs) {
      FillSpec(input, input.key,
               is_signature ? &(*kwargs->mutable_fields())[input.key] : args->add_values());
    }
    Spec* output = concrete->mutable_output_signature();
    if (is_signature) {
      for (const auto& one : function.outputs)
        FillSpec(one, one.key, &(*output->mutable_dict_value()->mutable_fields())[one.key]);
      output->mutable_dict_value();
    } else if (function.outputs.size() == 1) {
      FillSpec(function.outputs[0], function.outputs[0].key, output);
    } else {
      for (const auto& one : function.outputs)
        FillSpec(one, one.key, output->mutable_tuple_value()->add_values());
      output->mutable_tuple_value();
    }
  }

  // Returns the checkpoint key of a variable. Each "/" in the variable's name separates names of
  // objects.
  std::string KeyOf(const VariableInfo& variable) const {
    return variable.name + "/.ATTRIBUTES/VARIABLE_VALUE";
  }

  std::string CheckpointObjects() const {
    proto::TrackableObjectGraph graph;
    for (const auto& object : objects_.nodes()) {
      auto* node = graph.add_nodes();
      *node->mutable_children() = object.children();
      node->mutable_has_checkpoint_values()->set_value(false);
    }
    for (const VariableInfo& variable : model_.variables) {
      auto* node = graph.mutable_nodes(by_node_.find(variable.node)->second);
      auto* attribute = node->add_attributes();
      attribute->set_name("VARIABLE_VALUE");
      attribute->set_full_name(variable.name);
      attribute->set_checkpoint_key(KeyOf(variable));
      node->mutable_has_checkpoint_values()->set_value(true);
    }
    return SerializeInOrder(graph);
  }

  Error WriteVariables(const std::string& prefix) {
    ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(prefix));
    for (const VariableInfo& variable : model_.variables) {
      Tensor value = ValueOfVariable(session_, variable.container, variable.name);
      if (!value) return MakeError("variable '{0}' has no value yet", variable.name);
      RETURN_IF_ERROR(writer->Add(KeyOf(variable), value.ToLiteral()));
    }
    RETURN_IF_ERROR(writer->Add("_CHECKPOINTABLE_OBJECT_GRAPH",
                                Literal::MakeStrings({}, {CheckpointObjects()})));
    return writer->Finish();
  }

  // Returns a copy of the module with ops that save and restore the variables, for TensorFlow 1
  // loaders and for `grapnel run --save-variables`.
  Expected<std::unique_ptr<Module>> WithSaver() {
    ModelBuilder builder(model_.module->Copy());
    Tracer& t = builder.tracer();
    std::vector<std::string> keys;
    std::vector<DataType> dtypes;
    for (const VariableInfo& variable : model_.variables) {
      keys.push_back(KeyOf(variable));
      dtypes.push_back(variable.dtype);
    }
    int64_t count = static_cast<int64_t>(keys.size());
    Value file = t.Placeholder(proto::DT_STRING, Shape::Scalar(), "saver_filename");
    Operation init = t.Op("NoOp", {}, {}, "init");
    auto scope = t.Scope("save");
    Value names = t.Constant(Literal::MakeStrings({count}, keys), "tensor_names");
    Value slices = t.Constant(Literal::MakeStrings({count}, std::vector<std::string>(count)),
                              "shape_and_slices");
    Values reads;
    std::vector<Operation> assigned;
    for (const VariableInfo& variable : model_.variables)
      reads.push_back(t.Op("ReadVariableOp", {t.Find(variable.node)}, {{"dtype", variable.dtype}}));
    if (count > 0) {
      Operation save = t.Op("SaveV2", {file, names, slices, reads}, {{"dtypes", dtypes}});
      {
        auto after = t.ControlDependencies({save});
        saved_ = t.Op("Identity", {file}, {}, "saved").output().name();
      }
      Operation restore = t.Op("RestoreV2", {file, names, slices}, {{"dtypes", dtypes}});
      for (int i = 0; i < static_cast<int>(count); ++i)
        assigned.push_back(
            t.Op("AssignVariableOp", {t.Find(model_.variables[i].node), restore.output(i)}));
      auto after = t.ControlDependencies(assigned);
      restored_ = t.Op("NoOp", {}, {}, "restored").name();
    }
    init_ = init.name();
    file_ = file.name();
    ASSIGN_OR_RETURN(TracedModel made, builder.Finish());
    return std::move(made.module);
  }

  static void FillInfo(const ModelFunction::End& end, proto::TensorInfo* info) {
    info->set_name(end.tensor);
    info->set_dtype(end.dtype);
    *info->mutable_tensor_shape() = end.shape.ToProto();
  }

  std::string Bytes(const Module& module) {
    proto::MetaGraphDef meta;
    meta.mutable_meta_info_def()->add_tags("serve");
    meta.mutable_meta_info_def()->set_tensorflow_version("2.21.0");
    *meta.mutable_object_graph_def() = objects_;
    for (const ModelFunction& function : model_.functions) {
      auto& signature = (*meta.mutable_signature_def())[function.name];
      signature.set_method_name("tensorflow/serving/predict");
      for (const auto& input : function.inputs)
        FillInfo(input, &(*signature.mutable_inputs())[input.key]);
      for (const auto& output : function.outputs)
        FillInfo(output, &(*signature.mutable_outputs())[output.key]);
    }
    auto& init = (*(*meta.mutable_signature_def())["__saved_model_init_op"]
                       .mutable_outputs())["__saved_model_init_op"];
    init.set_name(init_);
    init.mutable_tensor_shape()->set_unknown_rank(true);
    if (!saved_.empty()) {
      meta.mutable_saver_def()->set_filename_tensor_name(file_);
      meta.mutable_saver_def()->set_save_tensor_name(saved_);
      meta.mutable_saver_def()->set_restore_op_name(restored_);
      meta.mutable_saver_def()->set_version(proto::SaverDef::V2);
    }
    std::string graph, meta_bytes = SerializeInOrder(meta), out;
    llvm::raw_string_ostream os(graph);
    ExportGraphDef(module, os, {});
    constexpr uint32_t kGraphDef = 2, kSchemaVersion = 1, kMetaGraphs = 2;
    AppendBytesField(&meta_bytes, kGraphDef, os.str());
    AppendTag(&out, kSchemaVersion, WireType::kVarint);
    AppendVarint(&out, 1);
    AppendBytesField(&out, kMetaGraphs, meta_bytes);
    return out;
  }

  const TracedModel& model_;
  const Session& session_;
  Objects objects_;
  std::map<std::string, int> by_node_;  // object id of each variable
  std::map<std::pair<int, std::string>, int> holders_;
  std::set<std::pair<int, std::string>> names_;
  std::string init_, file_, saved_, restored_;
};

}  // namespace

Error SaveTracedModel(const TracedModel& model, const Session& session, llvm::StringRef folder) {
  return ModelWriter(model, session).Write(folder);
}

}  // namespace grapnel
