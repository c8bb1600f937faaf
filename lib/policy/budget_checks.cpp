// Checks of sizes and costs: nodes, FLOPs, parameters, memory, bytes.
#include <map>

#include "lib/io/layers/layer_names.h"
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
  std::string layer;
};

using SizeOfLayer = std::map<std::string, int64_t>;

// Returns "; layer 'head' grew most, from 1,000 to 2,000"; "" if no layer grew.
std::string GrowthText(const SizeOfLayer& before, const SizeOfLayer& now,
                       llvm::function_ref<std::string(int64_t)> text_of) {
  int64_t most = 0, from = 0, to = 0;
  std::string grown;
  for (const auto& [layer, size] : now) {
    auto found = before.find(layer);
    int64_t was = found == before.end() ? 0 : found->second;
    if (size - was <= most) continue;
    most = size - was;
    from = was;
    to = size;
    grown = layer;
  }
  if (most == 0) return "";
  std::string what =
      grown.empty() ? "what is outside of layers" : Sentence("layer '{0}'", llvm::StringRef(grown));
  return Sentence("; {0} grew most, from {1} to {2}", what, text_of(from), text_of(to));
}

std::string CountText(int64_t count) { return WithCommas(count); }
std::string BytesText(int64_t bytes) { return HumanBytes(bytes); }

// The budget of a check: a number, or growth from BASE.
class Budget {
 public:
  explicit Budget(const PolicyRule& rule)
      : growth_(rule.FindGrowth("most")), number_(rule.Number("most", 0)) {}

  bool IsRelative() const { return growth_ != nullptr; }
  // Returns the most that is allowed. `base` is BASE's size, which only growth needs.
  double Most(double base) const { return growth_ ? base * (1 + *growth_) : number_; }
  std::string Text(int64_t base, llvm::function_ref<std::string(int64_t)> text_of) const {
    std::string text = text_of(static_cast<int64_t>(Most(base))) + " at most";
    if (!growth_) return text;
    return text + ", " + NumberText(*growth_ * 100, 4) + "% more than BASE's " + text_of(base);
  }

 private:
  const double* growth_;
  double number_;
};

constexpr const char* kGrowthNeedsBase =
    "'most' is growth from BASE, and there is none (--against)";

// Returns variables and non-scalar floating-point constants, with their number of elements.
std::vector<Sized> ParametersOf(const OpenedGraph& model) {
  const LayerNames layers(model.file());
  std::vector<Sized> parameters;
  for (const SavedVariable& variable : OwnVariablesOf(model.file()))
    parameters.push_back({variable.name, std::max<int64_t>(variable.elements(), 0),
                          layers.OfVariable(variable.name)});
  VisitNodes(model, [&](const Node& node, const std::string& name) {
    if (node.op() != "Const" || !IsFloating(node.GetType("dtype"))) return;
    auto literal = Literal::FromConst(node);
    if (!literal) return llvm::consumeError(literal.takeError());
    if (literal->dims().empty()) return;
    parameters.push_back({name, literal->num_elements(), layers.Of(node)});
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
    if (nodes > largest.size) largest = {scope, nodes, ""};
  }
  return largest;
}

int64_t CountNodes(const OpenedGraph& model) {
  int64_t nodes = 0;
  VisitNodes(model, [&](const Node&, const std::string&) { ++nodes; });
  return nodes;
}

SizeOfLayer NodesOfLayers(const Module& module, const LayerNames& layers) {
  SizeOfLayer sizes;
  auto count = [&](const Graph& graph) {
    for (const Node& node : graph.nodes())
      if (node.op() != "_Arg" && node.op() != "_Retval") ++sizes[layers.Of(node)];
  };
  count(module.main);
  for (const auto& function : module.functions) count(function->body);
  return sizes;
}

// Returns GrowthText for the nodes of the first graph that a signature runs and in which a layer
// grew. Only in such graphs do nodes have layers for sure.
std::string GrowthOfNodes(CheckedModel& model) {
  if (!model.base()) return "";
  for (const ServedGraphs& graphs : model.Served()) {
    std::string text =
        GrowthText(NodesOfLayers(graphs.before->module(), *graphs.layers_before),
                   NodesOfLayers(graphs.now->module(), *graphs.layers_now), CountText);
    if (!text.empty()) return text;
  }
  return "";
}

SizeOfLayer ByLayer(llvm::ArrayRef<Sized> parameters) {
  SizeOfLayer sizes;
  for (const Sized& parameter : parameters) sizes[parameter.layer] += parameter.size;
  return sizes;
}

int64_t SumOf(llvm::ArrayRef<Sized> parameters) {
  int64_t sum = 0;
  for (const Sized& parameter : parameters) sum += parameter.size;
  return sum;
}

SizeOfLayer CostOfLayers(ModelRun& run, int64_t RunCost::*measure) {
  const LayerNames layers(run.file());
  SizeOfLayer sizes;
  for (const Node& node : run.main().nodes()) sizes[layers.Of(node)] += run.OfNode(node).*measure;
  return sizes;
}

// Returns "" if the cost of all nodes is known; else how many nodes are not counted, so that a cost
// within its budget proves nothing.
std::string OpenText(const RunCost& run) {
  if (run.open == 0) return "";
  return Sentence("not counted: {0} with an unknown shape or a loop (--batch, --shape)",
                  Plural(run.open, "node"));
}

// A run that costs more than its budget.
struct CostlyRun {
  ModelRun& run;
  std::string one_run;  // "one run", with the signature if there are several
  int64_t cost;
  std::string allowed;  // "1,000 at most"
  std::string growth;   // GrowthText
};

// Judges a cost of each run. `report` adds the finding for a run that exceeds the budget. `part` is
// the cost of a node by which layers are compared.
Judged CheckRuns(CheckedModel& model, const PolicyRule& rule, int64_t RunCost::*measure,
                 int64_t RunCost::*part, llvm::function_ref<std::string(int64_t)> text_of,
                 llvm::function_ref<void(const CostlyRun& costly)> report) {
  const Budget budget(rule);
  if (budget.IsRelative() && !model.base()) return std::string(kGrowthNeedsBase);
  auto found = model.Runs();
  if (!found) return TextOf(found.takeError());  // such as a model that only has functions
  llvm::MutableArrayRef<ModelRun> runs = *found;
  std::string open;
  for (ModelRun& run : runs) {
    ModelRun* base = nullptr;
    if (model.base()) {
      ASSIGN_OR_RETURN(base, model.BaseRun(run));
    }
    RunCost cost = run.Cost(), of_base = base ? base->Cost() : RunCost();
    if (budget.IsRelative() && (!base || of_base.open > 0)) {
      if (open.empty() && base) open = "in BASE, " + OpenText(of_base);
      continue;  // a new signature has nothing to grow from
    }
    if (cost.*measure > budget.Most(of_base.*measure)) {
      std::string one_run = "one run";
      if (runs.size() > 1) one_run += " of signature '" + Printable(run.signature()) + "'";
      std::string growth =
          base ? GrowthText(CostOfLayers(*base, part), CostOfLayers(run, part), text_of) : "";
      report({run, one_run, cost.*measure, budget.Text(of_base.*measure, text_of), growth});
    } else if (open.empty()) {
      open = OpenText(cost);
    }
  }
  return open;
}

// Judges the size of the whole model. `report` adds the finding; `allowed` is "1,000 at most".
Judged CheckSize(CheckedModel& model, const PolicyRule& rule, int64_t size,
                 llvm::function_ref<int64_t(const OpenedGraph& base)> of_base,
                 llvm::function_ref<std::string(int64_t)> text_of,
                 llvm::function_ref<void(const std::string& allowed)> report) {
  const Budget budget(rule);
  if (budget.IsRelative() && !model.base()) return std::string(kGrowthNeedsBase);
  int64_t base = budget.IsRelative() ? of_base(*model.base()) : 0;
  if (static_cast<double>(size) > budget.Most(base)) report(budget.Text(base, text_of));
  return std::string();
}

std::string GrowthOfParameters(CheckedModel& model, llvm::ArrayRef<Sized> parameters) {
  if (!model.base()) return "";
  return GrowthText(ByLayer(ParametersOf(*model.base())), ByLayer(parameters),
                    [](int64_t size) { return CountText(size) + " parameters"; });
}

}  // namespace

ModelSizes SizesOf(CheckedModel& model) {
  ModelSizes sizes;
  sizes.nodes = CountNodes(model.opened());
  sizes.parameters = SumOf(ParametersOf(model.opened()));
  sizes.file_bytes = FileBytesOf(model.opened());
  return sizes;
}

Judged CheckNodes(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  int64_t nodes = CountNodes(model.opened());
  return CheckSize(model, rule, nodes, CountNodes, CountText, [&](const std::string& allowed) {
    Sized scope = LargestScope(model);
    std::string where = scope.name.empty() ? "outside of scopes" : "in '" + scope.name + "'";
    findings.AddScope(
        scope.name,
        Sentence("the model has {0}, {1}{2} {3}{4}", Plural(nodes, "node"), WithCommas(scope.size),
                 model.base() ? " more than BASE" : "", where, GrowthOfNodes(model)),
        allowed, "see what is new: `grapnel diff BASE MODEL`; or raise the budget");
  });
}

Judged CheckFlops(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  return CheckRuns(
      model, rule, &RunCost::flops, &RunCost::flops, CountText, [&](const CostlyRun& costly) {
        Node node = Largest(costly.run, &RunCost::flops);
        findings.Add(costly.run.NameOf(node),
                     Sentence("{0} takes {1} FLOPs, {2} of them in this {3}{4}", costly.one_run,
                              WithCommas(costly.cost), WithCommas(costly.run.OfNode(node).flops),
                              node.op(), costly.growth),
                     costly.allowed, "make it smaller, or raise the budget");
      });
}

Judged CheckPeakMemory(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  return CheckRuns(
      model, rule, &RunCost::peak_bytes, &RunCost::bytes, BytesText, [&](const CostlyRun& costly) {
        Node node = Largest(costly.run, &RunCost::bytes);
        findings.Add(costly.run.NameOf(node),
                     Sentence("{0} needs {1} at its peak; this {2} makes {3}{4}", costly.one_run,
                              HumanBytes(costly.cost), node.op(),
                              HumanBytes(costly.run.OfNode(node).bytes), costly.growth),
                     costly.allowed,
                     "make the tensors smaller, or fewer at a time; or raise the budget");
      });
}

Judged CheckParameters(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  std::vector<Sized> parameters = ParametersOf(model.opened());
  int64_t sum = SumOf(parameters);
  auto sum_of = [](const OpenedGraph& base) { return SumOf(ParametersOf(base)); };
  return CheckSize(model, rule, sum, sum_of, CountText, [&](const std::string& allowed) {
    const Sized* largest = LargestOf(parameters);
    findings.Add(largest->name,
                 Sentence("the model has {0} parameters, {1} of them here{2}", WithCommas(sum),
                          WithCommas(largest->size), GrowthOfParameters(model, parameters)),
                 allowed, "make the layer smaller, or raise the budget");
  });
}

Judged CheckFileSize(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  int64_t bytes = FileBytesOf(model.opened());
  return CheckSize(model, rule, bytes, FileBytesOf, BytesText, [&](const std::string& allowed) {
    std::vector<Sized> parameters = ParametersOf(model.opened());
    const Sized* largest = LargestOf(parameters);
    std::string part = largest ? Sentence(", and this is its largest tensor, {0} elements",
                                          WithCommas(largest->size))
                               : std::string();
    findings.Add(largest ? largest->name : "",
                 Sentence("the model's file or folder has {0}{1}{2}", HumanBytes(bytes), part,
                          GrowthOfParameters(model, parameters)),
                 allowed, "save smaller weights, or raise the budget");
  });
}

}  // namespace grapnel
