#include "lib/job/graph_lines.h"

#include <map>
#include <set>

#include "lib/diff/body_view.h"
#include "lib/io/canonical.h"
#include "lib/io/signature.h"
#include "lib/io/value_row.h"
#include "lib/io/variable_binding.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/ir/text.h"
#include "lib/job/signature_graph.h"
#include "lib/support/file.h"
#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// NodeText() shows this many elements of a constant.
constexpr int64_t kShown = 8;

// Returns a hash of all values of a constant if the line does not show all of them.
std::string HashOfValue(const Node& node) {
  auto value = node.FindAttr("value");
  if (node.op() != "Const" || !value) return "";
  auto tensor = value->AsTensor();
  if (!tensor) return "";
  auto literal = Literal::FromTensorProto(*tensor);
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return "";
  }
  if (literal->num_elements() <= kShown || literal->is_splat()) return "";
  return "  # " + HashText(*literal);
}

void WriteBody(const Graph& graph, llvm::StringRef indent, llvm::raw_ostream& os) {
  for (NodeId id : CanonicalOrder(graph)) {
    Node node = graph.node(id);
    os << indent << NodeText(node) << HashOfValue(node) << "\n";
  }
}

void WriteWhole(const Module& module, llvm::raw_ostream& os) {
  WriteBody(module.main, "", os);
  std::vector<const Function*> functions;
  for (const auto& function : module.functions) functions.push_back(function.get());
  llvm::sort(functions, [](const Function* a, const Function* b) { return a->name() < b->name(); });
  for (const Function* function : functions) {
    os << "\nfunc @" << Printable(function->name()) << " {\n";
    WriteBody(function->body, "  ", os);
    os << "}\n";
  }
}

// Writes the graph of a signature, with names of functions that do not depend on the process.
class NetworkWriter {
 public:
  NetworkWriter(Module& module, llvm::raw_ostream& os) : module_(module), os_(os) {}

  void Write() {
    Clean(module_.main);
    for (auto& function : module_.functions) Clean(function->body);
    WriteBody(module_.main, "");
    for (size_t i = 0; i < called_.size(); ++i) {
      os_ << "\nfunc @" << Printable(names_[called_[i]->name()]) << " {\n";
      WriteBody(called_[i]->body, "  ");
      os_ << "}\n";
    }
  }

 private:
  // Removes attributes that differ between builds of the same model, or that only the runtime adds.
  static void Clean(Graph& graph) {
    static constexpr const char* kSaysNothing[] = {"config_proto",
                                                   "debug_name",
                                                   "shared_name",
                                                   "container",
                                                   "_class",
                                                   "_collective_manager_ids",
                                                   "_read_only_resource_inputs",
                                                   "_has_manual_control_dependencies",
                                                   "_stateful_parallelism",
                                                   "_lower_using_switch_merge",
                                                   "_num_original_outputs"};
    for (Node node : graph.nodes()) {
      for (const char* key : kSaysNothing)
        if (node.FindAttr(key)) graph.RemoveAttr(node.id(), key);
    }
  }

  void WriteBody(const Graph& graph, llvm::StringRef indent) {
    for (NodeId id : CanonicalOrder(graph)) {
      Node node = graph.node(id);
      os_ << indent << WithStableNames(node, NodeText(node)) << HashOfValue(node) << "\n";
    }
  }

  // Replaces the names of the functions that the node calls.
  std::string WithStableNames(const Node& node, std::string line) {
    if (!MayCallFunctions(node)) return line;
    for (llvm::StringRef name : CalledFunctions(node)) {
      const std::string old = Printable(name), now = Printable(StableName(name));
      for (size_t at = line.find(old); at != std::string::npos; at = line.find(old, at)) {
        line.replace(at, old.size(), now);
        at += now.size();
      }
    }
    return line;
  }

  // Returns the function's name without numbers, "f", for a second one of that name "f_2".
  const std::string& StableName(llvm::StringRef name) {
    auto known = names_.find(name);
    if (known != names_.end()) return known->second;
    std::string base = NameClass(name);
    int count = ++taken_[base];
    if (const Function* function = module_.FindFunction(name)) called_.push_back(function);
    return names_[name] = count == 1 ? base : base + "_" + std::to_string(count);
  }

  Module& module_;
  llvm::raw_ostream& os_;
  llvm::StringMap<std::string> names_;
  llvm::StringMap<int> taken_;
  std::vector<const Function*> called_;  // in the order in which calls are written
};

void WriteSignature(const Signature& signature, llvm::raw_ostream& os) {
  os << "# signature " << Printable(signature.name) << "\n";
  for (const auto* tensors : {&signature.inputs, &signature.outputs}) {
    for (const SignatureTensor& tensor : *tensors)
      os << "#   " << (tensors == &signature.inputs ? "takes " : "gives ") << Printable(tensor.key)
         << ": " << DataTypeName(tensor.dtype) << tensor.shape.ToString() << " ("
         << Printable(tensor.tensor) << ")\n";
  }
}

// Writes the graph that a signature runs; the whole graph if that cannot be taken out.
void WriteNetwork(const std::shared_ptr<Model>& model, size_t index, const Signature& signature,
                  llvm::raw_ostream& os) {
  OpenedGraph graph = OpenedGraph(model, index).Copy();
  auto taken = TakeSignature(signature.name, {}, &graph);
  if (!taken) {
    WriteSignature(signature, os);
    os << "# " << Printable(TextOf(taken.takeError())) << "\n";
    WriteWhole(graph.module(), os);
    return;
  }
  WriteSignature(taken->signature, os);
  NetworkWriter(graph.module(), os).Write();
}

// Returns the checksums of the variables' values, by node; empty if the model comes without them,
// and for a file in a model's folder: git opens the older version of a file outside of the folder,
// and both versions must give the same text.
std::map<NodeId, uint32_t> ChecksumsOf(const Model& model, const GraphInFile& graph) {
  std::map<NodeId, uint32_t> checksums;
  if (model.variables_prefix.empty() || !IsDirectory(model.path)) return checksums;
  auto bundle = Bundle::Open(model.variables_prefix);
  auto binding = bundle ? BindVariables(graph, &*bundle) : bundle.takeError();
  if (!binding) {
    llvm::consumeError(binding.takeError());
    return checksums;
  }
  for (const VariableBinding::Bound& bound : binding->bound) {
    auto entry = bundle->Describe(bound.key);
    if (entry)
      checksums[bound.variable] = entry->checksum;
    else
      llvm::consumeError(entry.takeError());
  }
  return checksums;
}

void WriteVariables(const Model& model, const GraphInFile& graph, llvm::raw_ostream& os) {
  std::map<NodeId, uint32_t> checksums = ChecksumsOf(model, graph);
  std::set<std::string> lines;
  for (const SavedVariable& variable : OwnVariablesOf(graph)) {
    std::string line = "variable " + Printable(variable.name) + ": " +
                       DataTypeName(BaseType(variable.dtype)).str() + variable.shape.ToString();
    auto checksum = checksums.find(variable.node);
    if (checksum != checksums.end()) line += "  # " + ChecksumText(checksum->second);
    lines.insert(std::move(line));
  }
  if (!lines.empty()) os << "\n";
  for (const std::string& line : lines) os << line << "\n";
}

void WriteGraph(const std::shared_ptr<Model>& model, size_t index, llvm::raw_ostream& os) {
  const GraphInFile& graph = model->graphs[index];
  std::vector<const Signature*> distinct = DistinctSignatures(graph);
  if (distinct.empty()) return WriteWhole(*graph.module, os);
  for (const Signature* signature : distinct) WriteNetwork(model, index, *signature, os);
  for (const Signature& signature : graph.signatures) {
    if (IsInternal(signature) || llvm::is_contained(distinct, &signature)) continue;
    os << "\n# signature " << Printable(signature.name) << " runs the same as "
       << (distinct.size() == 1 ? Printable(distinct[0]->name) : "one of these") << "\n";
  }
  WriteVariables(*model, graph, os);
}

}  // namespace

void WriteGraphLines(const std::shared_ptr<Model>& model, llvm::raw_ostream& os) {
  for (size_t i = 0; i < model->graphs.size(); ++i) {
    if (model->graphs.size() > 1) os << "--- " << Printable(model->graphs[i].title) << "\n";
    if (model->graphs[i].module) WriteGraph(model, i, os);
  }
}

void WriteCheckpointLines(const Bundle& checkpoint, llvm::raw_ostream& os) {
  for (llvm::StringRef name : checkpoint.names()) {
    if (name == "_CHECKPOINTABLE_OBJECT_GRAPH") continue;  // the object graph
    auto entry = checkpoint.Describe(name);
    if (!entry) {
      llvm::consumeError(entry.takeError());
      continue;
    }
    os << "variable " << Printable(name) << ": " << DataTypeName(entry->dtype)
       << entry->shape.ToString() << "  # " << ChecksumText(entry->checksum) << "\n";
  }
}

}  // namespace grapnel
