#include "lib/io/summary_text.h"

#include <algorithm>

#include "lib/io/library_text.h"
#include "lib/io/object_functions_text.h"
#include "lib/io/saved_variables.h"
#include "lib/io/signature.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

void PrintTensors(llvm::raw_ostream& os, const char* title, llvm::ArrayRef<TensorSummary> tensors,
                  bool all, const ShortNames& names) {
  if (tensors.empty()) return;
  os << "\n" << title << "\n";
  std::vector<std::vector<std::string>> rows;
  size_t shown = all ? tensors.size() : std::min<size_t>(tensors.size(), 12);
  for (size_t i = 0; i < shown; ++i) {
    const TensorSummary& t = tensors[i];
    std::string type = t.dtype + (t.shape == "?" ? "" : t.shape);
    if (!t.held_dtype.empty())
      type += " of " + t.held_dtype + (t.held_shape == "?" ? "" : t.held_shape);
    rows.push_back(
        {names.Of(t.name), type, t.op + (t.index ? " " + std::to_string(*t.index) : "")});
  }
  os << Table(rows, "  ");
  if (shown < tensors.size())
    os << "  ... and " << WithCommas(tensors.size() - shown) << " more (--all)\n";
}

// Prints the ops of a graph that have side effects.
void PrintEffects(llvm::raw_ostream& os, llvm::ArrayRef<EffectSummary> effects, bool all,
                  const ShortNames& names) {
  if (effects.empty()) return;
  os << "\nops with effects\n";
  std::vector<std::vector<std::string>> rows;
  size_t shown = all ? effects.size() : std::min<size_t>(effects.size(), 12);
  for (size_t i = 0; i < shown; ++i) rows.push_back({names.Of(effects[i].name), effects[i].op});
  os << Table(rows, "  ");
  if (shown < effects.size())
    os << "  ... and " << WithCommas(effects.size() - shown) << " more (--all)\n";
}

// Returns a text such as "float[2,3]"; "no tensor" for an entry without dtype, which names an op
// (an initializer).
std::string SignatureTypeText(const SignatureTensor& tensor) {
  if (tensor.dtype == proto::DT_INVALID) return "no tensor";
  return (DataTypeName(tensor.dtype) + tensor.shape.ToString()).str();
}

// Returns the signatures in the order in which they are printed: the default one first, those for
// TensorFlow's loader last.
std::vector<const Signature*> InOrder(const GraphInFile& graph) {
  std::vector<const Signature*> signatures;
  for (const Signature& signature : graph.signatures) signatures.push_back(&signature);
  const Signature* usual = DefaultSignature(graph);
  std::stable_sort(
      signatures.begin(), signatures.end(), [&](const Signature* a, const Signature* b) {
        auto rank = [&](const Signature* s) { return s == usual ? 0 : 1 + IsInternal(*s); };
        return rank(a) < rank(b);
      });
  return signatures;
}

}  // namespace

bool IsOfModel(const GraphInFile& graph) {
  return !graph.signatures.empty() || !graph.meta_graph.empty();
}

void WriteSignaturesText(const GraphInFile& graph, llvm::raw_ostream& os) {
  const Signature* usual = DefaultSignature(graph);
  for (const Signature* signature : InOrder(graph)) {
    os << "\nsignature " << Printable(signature->name);
    if (signature == usual && graph.signatures.size() > 1) os << " (the default)";
    if (std::vector<std::string> calls = BodyOf(graph, *signature).calls; !calls.empty())
      os << ": runs " << Printable(calls.back());
    os << "\n";
    std::vector<std::vector<std::string>> rows = {};
    auto add = [&](const char* side, const SignatureTensor& t) {
      rows.push_back({side, t.key, SignatureTypeText(t), t.tensor});
    };
    for (const auto& tensor : signature->inputs) add("in", tensor);
    for (const auto& tensor : signature->outputs) add("out", tensor);
    os << Table(rows, "  ");
  }
}

void WriteSummaryText(const GraphInFile& graph, const Summary& summary,
                      const FunctionLibrary& library, bool all, llvm::raw_ostream& os,
                      const ShortNames& names) {
  if (IsOfModel(graph)) {
    WriteObjectFunctionsText(graph.whole ? *graph.whole : graph, all, os);
    os << "\n";
    std::vector<SavedVariable> variables = OwnVariablesOf(graph);
    if (!variables.empty()) os << VariablesText(variables) << "\n";
    size_t nodes = graph.signatures.empty() ? 0 : NodesOfSaver(graph).size();
    if (nodes > 0) os << "saver: " << Plural(nodes, "node") << " that no signature needs\n";
  }
  os << Plural(summary.nodes, "node") << ", " << Plural(summary.data_edges, "edge") << ", "
     << Plural(summary.control_edges, "control edge");
  if (!summary.functions.empty()) {
    os << "; " << Plural(summary.functions.size(), "function") << " of "
       << Plural(summary.function_nodes, "node");
  }
  os << "\n"
     << Plural(summary.constants, "constant") << ", " << HumanBytes(summary.constant_bytes)
     << " in the file";
  if (summary.producer) os << "; GraphDef version " << summary.producer;
  os << "\n";
  if (graph.signatures.empty() || all) {  // otherwise the signatures list inputs and outputs
    PrintTensors(os, "inputs", summary.inputs, all, names);
    PrintTensors(os, summary.is_function ? "outputs" : "outputs (no consumers)", summary.outputs,
                 all, names);
    PrintEffects(os, summary.effects, all, names);
  }
  os << "\nops\n";
  std::string line = "  ";
  size_t shown = 0;
  for (const auto& [op, count] : summary.ops) {
    if (!all && shown++ == 24) {
      line += llvm::formatv("... and {0} more kinds (--all)", summary.ops.size() - 24).str();
      break;
    }
    std::string cell = Printable(op) + " " + WithCommas(count) + "   ";
    if (line.size() + cell.size() > 100) {
      os << llvm::StringRef(line).rtrim() << "\n";
      line = "  ";
    }
    line += cell;
  }
  os << llvm::StringRef(line).rtrim() << "\n";
  if (summary.devices.size() > 1 ||
      (summary.devices.size() == 1 && !summary.devices.begin()->first.empty())) {
    os << "\ndevices\n";
    std::vector<std::vector<std::string>> rows;
    for (const auto& [device, count] : summary.devices)
      rows.push_back({device.empty() ? "(none)" : device, WithCommas(count)});
    os << Table(rows, "  ");
  }
  if (!summary.largest_constants.empty()) {
    os << "\nlargest constants\n";
    std::vector<std::vector<std::string>> rows;
    for (const ConstantSummary& c : summary.largest_constants) {
      rows.push_back({HumanBytes(c.bytes), c.dtype + c.shape, names.Of(c.name)});
      if (!all && rows.size() == 5) break;
    }
    os << Table(rows, "  ");
  }
  WriteLibraryText(library, all, os, names);
}

}  // namespace grapnel
