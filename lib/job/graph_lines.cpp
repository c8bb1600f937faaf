#include "lib/job/graph_lines.h"

#include "lib/io/canonical.h"
#include "lib/io/signature.h"
#include "lib/ir/literal.h"
#include "lib/ir/text.h"
#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// NodeText() shows this many elements of a constant.
constexpr int64_t kShown = 8;

// Returns a hash of all values of a constant if the line does not show all of them.
std::string HashText(const Node& node) {
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
  return llvm::formatv("  # {0:x-16}", literal->Hash()).str();
}

void WriteBody(const Graph& graph, llvm::StringRef indent, llvm::raw_ostream& os) {
  for (NodeId id : CanonicalOrder(graph)) {
    Node node = graph.node(id);
    os << indent << NodeText(node) << HashText(node) << "\n";
  }
}

void WriteSignature(const Signature& signature, llvm::raw_ostream& os) {
  os << "# signature " << Printable(signature.name) << "\n";
  for (const auto* tensors : {&signature.inputs, &signature.outputs}) {
    for (const SignatureTensor& tensor : *tensors)
      os << "#   " << (tensors == &signature.inputs ? "takes " : "gives ") << Printable(tensor.key)
         << ": " << DataTypeName(tensor.dtype) << tensor.shape.ToString() << " ("
         << Printable(tensor.tensor) << ")\n";
  }
}

void WriteGraph(const GraphInFile& graph, llvm::raw_ostream& os) {
  for (const Signature& signature : graph.signatures) {
    if (!IsInternal(signature)) WriteSignature(signature, os);
  }
  WriteBody(graph.module->main, "", os);
  std::vector<const Function*> functions;
  for (const auto& function : graph.module->functions) functions.push_back(function.get());
  llvm::sort(functions, [](const Function* a, const Function* b) { return a->name() < b->name(); });
  for (const Function* function : functions) {
    os << "\nfunc @" << Printable(function->name()) << " {\n";
    WriteBody(function->body, "  ", os);
    os << "}\n";
  }
}

}  // namespace

void WriteGraphLines(const Model& model, llvm::raw_ostream& os) {
  for (const GraphInFile& graph : model.graphs) {
    if (model.graphs.size() > 1) os << "--- " << Printable(graph.title) << "\n";
    if (graph.module) WriteGraph(graph, os);
  }
}

}  // namespace grapnel
