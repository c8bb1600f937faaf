// Checks of sizes and costs: nodes, FLOPs, parameters, memory, bytes.
#include <map>

#include "lib/io/saved_variables.h"
#include "lib/ir/node_types.h"
#include "lib/policy/policy_checks.h"
#include "lib/support/file.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

// Returns the node of the main graph with the largest `measure`; for a call, the largest node
// inside its function.
Node Largest(ModelRun& run, int64_t RunCost::*measure) {
  const Graph* graph = &run.main();
  Node largest;
  for (int depth = 0; graph && depth < 16; ++depth) {
    int64_t most = -1;
    for (const Node& node : graph->nodes()) {
      int64_t cost = run.OfNode(node).*measure;
      if (cost > most) most = cost, largest = node;
    }
    graph = nullptr;
    if (!largest) break;
    for (llvm::StringRef name : CalledFunctions(largest)) {
      if (const Function* function = run.module().FindFunction(name)) graph = &function->body;
    }
  }
  return largest;
}

struct Sized {
  std::string name;
  int64_t size = 0;
};

// Returns variables and non-scalar floating-point constants, with their number of elements.
std::vector<Sized> ParametersOf(CheckedModel& model) {
  std::vector<Sized> parameters;
  for (const SavedVariable& variable : OwnVariablesOf(model.opened().file()))
    parameters.push_back({variable.name, std::max<int64_t>(variable.elements(), 0)});
  VisitNodes(model.opened(), [&](const Node& node, const std::string& name) {
    if (node.op() != "Const" || !IsFloating(node.GetType("dtype"))) return;
    const Shape& shape = model.shapes().Of(node.graph()).OfPort({node.id(), 0});
    if (!shape.IsFullyKnown() || shape.rank() == 0) return;
    parameters.push_back({name, shape.NumElements().value_or(0)});
  });
  return parameters;
}

const Sized* LargestOf(llvm::ArrayRef<Sized> all) {
  const Sized* largest = nullptr;
  for (const Sized& one : all) {
    if (!largest || one.size > largest->size) largest = &one;
  }
  return largest;
}

int64_t FileBytesOf(const OpenedGraph& opened) {
  const std::string& path = opened.model().path;
  bool is_folder = opened.model().kind == FileKind::kSavedModel && IsDirectory(path);
  uint64_t sum = 0;
  std::error_code error;
  if (!is_folder) {
    const std::string& file = opened.file().path.empty() ? path : opened.file().path;
    if (file == "-" || !llvm::sys::fs::file_size(file, sum)) return static_cast<int64_t>(sum);
    auto member = FileBytes::Open(file);  // the graph of a case in an archive
    if (member) return static_cast<int64_t>((*member)->bytes().size());
    llvm::consumeError(member.takeError());
    return 0;
  }
  for (llvm::sys::fs::recursive_directory_iterator at(path, error), end; at != end && !error;
       at.increment(error)) {
    uint64_t size = 0;
    if (!llvm::sys::fs::is_directory(at->path()) && !llvm::sys::fs::file_size(at->path(), size))
      sum += size;
  }
  return static_cast<int64_t>(sum);
}

// Returns, of the outermost scopes, the one with the most nodes or, if there is a base model, the
// one that gained the most nodes.
Sized LargestScope(CheckedModel& model) {
  std::map<std::string, int64_t> scopes;
  auto count = [&](const OpenedGraph& opened, int64_t by) {
    VisitNodes(opened, [&](const Node&, const std::string& name) {
      auto [scope, rest] = llvm::StringRef(name).split('/');
      scopes[rest.empty() ? std::string() : scope.str()] += by;
    });
  };
  count(model.opened(), 1);
  if (model.base()) count(*model.base(), -1);
  Sized largest;
  for (const auto& [scope, nodes] : scopes) {
    if (nodes > largest.size) largest = {scope, nodes};
  }
  return largest;
}

int64_t CountNodes(CheckedModel& model) {
  int64_t nodes = 0;
  VisitNodes(model.opened(), [&](const Node&, const std::string&) { ++nodes; });
  return nodes;
}

// Returns "" if the cost of all nodes is known; else how many nodes are not counted, so that a cost
// within its budget proves nothing.
std::string OpenText(const RunCost& run) {
  if (run.open == 0) return "";
  return Sentence("not counted: {0} with an unknown shape or a loop (--batch, --shape)",
                  Plural(run.open, "node"));
}

// Judges a cost of each run. `report` adds the finding for a run whose cost exceeds the budget;
// `one_run` is "one run", with the signature if there are several.
Judged CheckRuns(
    CheckedModel& model, const PolicyRule& rule, int64_t RunCost::*measure,
    llvm::function_ref<void(ModelRun& run, const std::string& one_run, int64_t cost)> report) {
  ASSIGN_OR_RETURN(llvm::MutableArrayRef<ModelRun> runs, model.Runs());
  std::string open;
  for (ModelRun& run : runs) {
    RunCost cost = run.Cost();
    if (cost.*measure > rule.Number("most", 0)) {
      std::string one_run = "one run";
      if (runs.size() > 1) one_run += " of signature '" + Printable(run.signature()) + "'";
      report(run, one_run, cost.*measure);
    } else if (open.empty()) {
      open = OpenText(cost);
    }
  }
  return open;
}

}  // namespace

ModelSizes SizesOf(CheckedModel& model) {
  ModelSizes sizes;
  sizes.nodes = CountNodes(model);
  for (const Sized& parameter : ParametersOf(model)) sizes.parameters += parameter.size;
  sizes.file_bytes = FileBytesOf(model.opened());
  return sizes;
}

Judged CheckNodes(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  int64_t nodes = CountNodes(model);
  double most = rule.Number("most", 0);
  if (nodes <= most) return std::string();
  Sized scope = LargestScope(model);
  std::string where = scope.name.empty() ? "outside of scopes" : "in '" + scope.name + "'";
  findings.AddScope(scope.name,
                    Sentence("the model has {0}, {1}{2} {3}", Plural(nodes, "node"),
                             WithCommas(scope.size), model.base() ? " more than BASE" : "", where),
                    WithCommas(most) + " at most",
                    "see what is new: `grapnel diff BASE MODEL`; or raise the budget");
  return std::string();
}

Judged CheckFlops(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  return CheckRuns(
      model, rule, &RunCost::flops, [&](ModelRun& run, const std::string& one_run, int64_t flops) {
        Node node = Largest(run, &RunCost::flops);
        findings.Add(run.NameOf(node),
                     Sentence("{0} takes {1} FLOPs, {2} of them in this {3}", one_run,
                              WithCommas(flops), WithCommas(run.OfNode(node).flops), node.op()),
                     WithCommas(rule.Number("most", 0)) + " at most",
                     "make it smaller, or raise the budget");
      });
}

Judged CheckPeakMemory(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  return CheckRuns(model, rule, &RunCost::peak_bytes,
                   [&](ModelRun& run, const std::string& one_run, int64_t bytes) {
                     Node node = Largest(run, &RunCost::bytes);
                     findings.Add(
                         run.NameOf(node),
                         Sentence("{0} needs {1} at its peak; this {2} makes {3}", one_run,
                                  HumanBytes(bytes), node.op(), HumanBytes(run.OfNode(node).bytes)),
                         HumanBytes(rule.Number("most", 0)) + " at most",
                         "make the tensors smaller, or fewer at a time; or raise the budget");
                   });
}

Judged CheckParameters(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  std::vector<Sized> parameters = ParametersOf(model);
  int64_t sum = 0;
  for (const Sized& parameter : parameters) sum += parameter.size;
  double most = rule.Number("most", 0);
  if (sum <= most) return std::string();
  const Sized* largest = LargestOf(parameters);
  findings.Add(largest->name,
               Sentence("the model has {0} parameters, {1} of them here", WithCommas(sum),
                        WithCommas(largest->size)),
               WithCommas(most) + " at most", "make the layer smaller, or raise the budget");
  return std::string();
}

Judged CheckFileSize(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  int64_t bytes = FileBytesOf(model.opened());
  double most = rule.Number("most", 0);
  if (bytes <= most) return std::string();
  std::vector<Sized> parameters = ParametersOf(model);
  const Sized* largest = LargestOf(parameters);
  findings.Add(largest ? largest->name : "",
               Sentence("the model's file or folder has {0}{1}", HumanBytes(bytes),
                        largest ? Sentence(", and this is its largest tensor, {0} elements",
                                           WithCommas(largest->size))
                                : std::string()),
               HumanBytes(most) + " at most", "save smaller weights, or raise the budget");
  return std::string();
}

}  // namespace grapnel
