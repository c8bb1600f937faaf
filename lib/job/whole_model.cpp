#include "lib/job/whole_model.h"

#include <algorithm>

#include "lib/function/call.h"
#include "lib/io/object_functions.h"
#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/wire.h"
#include "lib/pass/library.h"
#include "lib/proto/attr_value.pb.h"
#include "lib/proto/meta_graph.pb.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "lib/proto/variable.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

using CopyNames = llvm::StringMap<std::string>;

// Returns the functions of the model's Python objects, sorted.
Expected<std::vector<std::string>> FunctionsOfObjects(const GraphInFile& graph) {
  proto::SavedObjectGraph objects;
  llvm::StringRef bytes = graph.object_graph;
  if (bytes.size() > INT32_MAX ||
      !objects.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return MakeError("{0}: the object graph of '{1}' is damaged", graph.path, graph.title);
  std::vector<std::string> names;
  for (const auto& [name, function] : objects.concrete_functions()) names.push_back(name);
  for (const auto& object : objects.nodes()) {
    for (const std::string& name : object.function().concrete_functions()) names.push_back(name);
    names.push_back(object.bare_concrete_function().concrete_function_name());
    names.push_back(object.captured_tensor().concrete_function());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Returns the functions called by those main-graph nodes that the signature's outputs need.
std::vector<std::string> CalledBy(const GraphInFile& graph, const Signature& signature) {
  std::vector<std::string> called;
  for (NodeId id : NeededNodes(graph.module->main, signature)) {
    for (llvm::StringRef name : CalledFunctions(graph.module->main.node(id))) {
      if (graph.module->FindFunction(name)) called.push_back(name.str());
    }
  }
  return called;
}

bool Rename(const CopyNames& names, std::string* name) {
  auto found = names.find(*name);
  if (found == names.end()) return false;
  *name = found->second;
  return true;
}

// Redirects calls of copied functions to the copies.
void CallCopies(Function* function, const CopyNames& copies) {
  Graph& body = function->body;
  for (Node node : body.nodes()) {
    if (llvm::none_of(CalledFunctions(node),
                      [&](llvm::StringRef name) { return copies.count(name) != 0; }))
      continue;
    function->changed = true;
    if (auto found = copies.find(node.op()); found != copies.end())
      body.SetOp(node.id(), found->second);
    for (const auto& [key, view] : node.Attrs()) {
      if (view.FuncNames().empty()) continue;
      proto::AttrValue value;
      if (!value.ParseFromArray(view.bytes().data(), static_cast<int>(view.bytes().size())))
        continue;
      bool renamed = false;
      if (value.has_func()) {
        renamed = Rename(copies, value.mutable_func()->mutable_name());
      } else {
        for (auto& one : *value.mutable_list()->mutable_func())
          renamed |= Rename(copies, one.mutable_name());
      }
      if (renamed) body.SetAttr(node.id(), key, value.SerializeAsString());
    }
  }
}

// Adds the nodes and tensors that a collection names; missing ones are skipped.
void AddNamesOf(const proto::CollectionDef& collection, const Graph& main,
                llvm::StringSet<>* names) {
  auto add = [&](const std::string& name) {
    if (name.empty()) return;
    auto node = FindNode(main, name);
    if (node) {
      names->insert(name);
    } else {
      llvm::consumeError(node.takeError());
    }
  };
  for (const std::string& name : collection.node_list().value()) add(name);
  for (const std::string& bytes : collection.bytes_list().value()) {
    proto::VariableDef variable;
    if (!variable.ParseFromString(bytes)) continue;
    for (const std::string* name : {&variable.variable_name(), &variable.initial_value_name(),
                                    &variable.initializer_name(), &variable.snapshot_name()})
      add(*name);
  }
}

// Returns the nodes and tensors of a TensorFlow 1 model (a MetaGraph without objects) that its
// signatures, saver and collections name, sorted.
std::vector<std::string> NamedTensors(const GraphInFile& graph) {
  constexpr uint32_t kCollections = 4;
  llvm::StringSet<> names;
  const Graph& main = graph.module->main;
  for (const Signature& signature : graph.signatures) {
    for (const SignatureTensor& output : signature.outputs) names.insert(output.tensor);
  }
  if (graph.saver) {
    names.insert(graph.saver->save_tensor);
    names.insert(graph.saver->restore_op);
  }
  WireReader reader(graph.meta_graph);
  while (reader.Next()) {
    if (!reader.Is(kCollections, WireType::kBytes)) continue;
    std::string wrapped;
    AppendBytesField(&wrapped, kCollections, reader.bytes());
    proto::MetaGraphDef message;
    if (!message.ParseFromString(wrapped)) continue;
    for (const auto& [name, collection] : message.collection_def()) {
      if (name != "while_context" && name != "cond_context") AddNamesOf(collection, main, &names);
    }
  }
  std::vector<std::string> sorted;
  for (const auto& name : names) {
    if (!name.getKey().empty()) sorted.push_back(name.getKey().str());
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// Returns the number of nodes of the body after inlining all calls. A recursive function counts
// once.
size_t InlinedSize(const Function& function, llvm::DenseMap<const Function*, size_t>* sizes) {
  auto [known, added] = sizes->try_emplace(&function, function.body.num_nodes());
  if (!added) return known->second;
  constexpr size_t kMost = size_t{1} << 40;
  size_t size = function.body.num_nodes();
  for (Node node : function.body.nodes()) {
    const Function* callee = CallOf(node).function;
    if (callee) size = std::min(kMost, size + InlinedSize(*callee, sizes));
  }
  return (*sizes)[&function] = size;
}

}  // namespace

Expected<WholeModel> WholeModel::Prepare(OpenedGraph& opened) {
  const GraphInFile& graph = opened.file();
  Module& module = opened.module();
  if (llvm::all_of(graph.signatures, IsInternal)) {
    RETURN_IF_ERROR(CheckHasSignature(opened.model(), graph));
    return MakeError("{0}: has no signature, so it is unknown which parts are used",
                     opened.model().path);
  }
  WholeModel whole;
  if (graph.object_graph.empty()) {
    whole.fetches_ = NamedTensors(graph);
    for (const Signature& signature : graph.signatures) {
      for (const SignatureTensor& input : signature.inputs) whole.feeds_.push_back(input.tensor);
    }
    for (const AssetFile& asset : graph.assets) whole.feeds_.push_back(asset.tensor);
    if (graph.saver) whole.feeds_.push_back(graph.saver->filename_tensor);
    llvm::erase_if(whole.feeds_, [&](const std::string& feed) {
      return feed.empty() || !FindTensorIfThere(module.main, feed);
    });
    return whole;
  }
  ASSIGN_OR_RETURN(std::vector<std::string> of_objects, FunctionsOfObjects(graph));
  for (const Signature& signature : graph.signatures) {
    if (IsInternal(signature)) continue;
    for (std::string& name : CalledBy(graph, signature)) {
      if (!llvm::is_contained(whole.bodies_, name)) whole.bodies_.push_back(std::move(name));
    }
  }
  if (whole.bodies_.empty()) {
    return MakeError("{0}: no signature calls a function, so there is nothing to optimize",
                     opened.model().path);
  }
  whole.kept_ = std::move(of_objects);
  for (Node node : module.main.nodes()) {
    for (llvm::StringRef name : CalledFunctions(node)) whole.kept_.push_back(name.str());
  }
  whole.CopyShared(module);
  whole.KeepCommon(module);
  return whole;
}

void WholeModel::CopyShared(Module& module) const {
  FunctionSet run, others;
  for (const std::string& name : bodies_) AddReachable(*module.FindFunction(name), &run);
  for (const std::string& name : kept_) {
    const Function* function = module.FindFunction(name);
    if (function && !llvm::is_contained(bodies_, name)) AddReachable(*function, &others);
  }
  CopyNames copies;
  std::vector<Function*> callers;
  for (size_t i = 0, known = module.functions.size(); i < known; ++i) {
    Function* function = module.functions[i].get();
    if (!run.contains(function)) continue;
    llvm::StringRef name = function->name();
    if (llvm::is_contained(bodies_, name) || !others.contains(function)) {
      callers.push_back(function);
      continue;
    }
    std::string copy = (name + "_of_signature").str();
    for (int n = 1; module.FindFunction(copy); ++n)
      copy = llvm::formatv("{0}_of_signature_{1}", name, n).str();
    callers.push_back(module.AddCopy(*function, copy));
    copies[name] = copy;
  }
  for (Function* caller : callers) CallCopies(caller, copies);
}

// Marks functions that must not be inlined. The passes inline each call, as TensorFlow does to run
// a signature, so a function that is called twice is duplicated. That is fine for a few functions
// that signatures share, but a model with many nested calls would grow without bound: marks
// functions only in such a model.
void WholeModel::KeepCommon(Module& module) {
  constexpr size_t kSmall = 16;  // nodes; small enough to copy
  constexpr size_t kMostGrowth = 8;
  FunctionSet run;
  for (const std::string& name : bodies_) AddReachable(*module.FindFunction(name), &run);
  size_t nodes = 0, inlined = 0;
  for (const Function* function : run) nodes += function->body.num_nodes();
  llvm::DenseMap<const Function*, size_t> sizes;
  for (const std::string& name : bodies_)
    inlined += InlinedSize(*module.FindFunction(name), &sizes);
  if (inlined <= kMostGrowth * nodes) return;
  llvm::DenseMap<const Function*, int> calls;
  for (const Function* caller : run) {
    for (Node node : caller->body.nodes()) {
      if (const Function* callee = CallOf(node).function) ++calls[callee];
    }
  }
  for (const auto& function : module.functions) {
    if (calls.lookup(function.get()) < 2 || function->body.num_nodes() <= kSmall) continue;
    marked_.push_back({function->name().str(), function->source});
    SetFunctionAttr(function.get(), "_noinline", attr::Bool(true));
    SetFunctionAttr(function.get(), "_nospecialize", attr::Bool(true));
  }
}

void WholeModel::Fill(OptimizeOptions* options) const {
  options->bodies = bodies_;
  options->keep_functional = true;  // converters of SavedModels need this
  if (!bodies_.empty()) return;
  options->feeds = feeds_;
  options->fetches = fetches_;
}

void WholeModel::CleanUp(Module& module) const {
  if (bodies_.empty()) return;
  for (const Marked& marked : marked_) {
    if (Function* function = module.FindFunction(marked.function)) function->source = marked.source;
  }
  FunctionSet needed = ReachableFunctions(module);
  for (const std::string& name : kept_) {
    if (const Function* function = module.FindFunction(name)) AddReachable(*function, &needed);
  }
  // Removes an attribute that the passes added: TensorFlow's loader refuses functions with
  // attributes that it does not know.
  for (const auto& function : module.functions)
    RemoveFunctionAttr(function.get(), "_GrapplerSpecializedFunc");
  module.RetainFunctions([&](const Function& function) { return needed.contains(&function); });
}

size_t CountOfSignatures(const GraphInFile& graph) {
  size_t count = 0;
  for (const Signature& signature : graph.signatures) {
    if (!IsInternal(signature)) count += ReachedNodes(graph, signature).size();
  }
  return count;
}

}  // namespace grapnel
