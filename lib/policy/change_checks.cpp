// Checks of differences between the model and BASE, or between its values and those of recorded
// cases.
#include <map>
#include <set>

#include "lib/diff/function_match.h"
#include "lib/diff/measures.h"
#include "lib/io/saved_variables.h"
#include "lib/ir/node_types.h"
#include "lib/job/case_on_model.h"
#include "lib/job/compare.h"
#include "lib/job/replay.h"
#include "lib/policy/change_cause.h"
#include "lib/policy/policy_checks.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Describes the difference of a variable or constant from BASE's; "" if its relative difference is
// at most `most`.
std::string WhatDiffers(const ValueDiff& value, double most) {
  if (value.a.empty()) return "BASE has no such variable";
  if (value.b.empty()) return "only BASE has this variable";
  if (llvm::StringRef(value.type).contains(" -> ")) return "it has another type: " + value.type;
  if (!value.problem.empty()) return "it cannot be compared: " + value.problem;
  const ValueDistance& distance = value.distance;
  bool is_number = distance.relative > 0;
  if (is_number && distance.relative <= most) return "";
  std::string text = distance.elements == 1
                         ? std::string("it differs from BASE's")
                         : Sentence("{0} of its {1} elements differ from BASE's",
                                    WithCommas(distance.differing), WithCommas(distance.elements));
  if (!is_number) return text;
  return text +
         Sentence(
             "; the norm of the difference is {0} of that of BASE's value, its largest element {1}",
             NumberText(distance.relative, 3), NumberText(distance.largest, 3));
}

// Returns the names of integer constants that are not weights: all readers use them as shapes, axes
// or sizes.
std::set<std::string> MeasuresOf(const OpenedGraph& opened) {
  std::set<std::string> names;
  VisitNodes(opened, [&](const Node& node, const std::string& name) {
    if (IsMeasure(node)) names.insert(name);
  });
  return names;
}

// Finds functions that the other model also has, unchanged and at least as often, possibly under
// another name. Their constants count as unchanged even if the diff pairs such a function with a
// different one, which is then another trace of the same Python function, with other constants.
class KeptFunctions {
 public:
  KeptFunctions(const Module& base, const Module& model) : base_(base, {}), model_(model, {}) {
    for (int32_t i = 1; i < base_.size(); ++i) --more_[base_.hash(i)];
    for (int32_t i = 1; i < model_.size(); ++i) ++more_[model_.hash(i)];
  }

  bool Has(llvm::StringRef node_of_base, llvm::StringRef node_of_model) const {
    int32_t a = BodyOf(base_, node_of_base), b = BodyOf(model_, node_of_model);
    return (a != kNobody && more_.at(base_.hash(a)) >= 0) ||
           (b != kNobody && more_.at(model_.hash(b)) <= 0);
  }

 private:
  static int32_t BodyOf(const ModuleView& view, llvm::StringRef name) {
    auto [function, node] = name.split('/');
    return node.empty() ? kNobody : view.Find(function);
  }

  const ModuleView base_, model_;
  std::map<uint64_t, int> more_;  // occurrences in the model minus those in the base, by body
};

Expected<RunComparison> CompareOnCase(OpenedGraph reference, CheckedModel& model,
                                      const std::string& path) {
  ASSIGN_OR_RETURN(OpenedGraph copy, model.opened().Reopen());
  CompareRequest request;
  request.run = model.QuietRun();
  if (!reference.model().case_info) {
    ASSIGN_OR_RETURN(Case values, LoadCase(path));
    ASSIGN_OR_RETURN(CaseOfModel on_reference, CaseOnModel(std::move(values), reference));
    RETURN_IF_ERROR(FillFromCase(on_reference, reference, &request.run));
  }
  return CompareRuns(reference, copy, request);
}

// The first node of the model whose values differ, and why.
struct FirstDifference {
  std::string node, cause;  // "": unknown
};

// Compares the model with BASE or, without BASE, with the case's own graph, on the case's feeds.
FirstDifference FindDifference(CheckedModel& model, const std::string& path) {
  auto reference =
      model.base() ? Expected<OpenedGraph>(model.base()->Copy()) : OpenedGraph::Open(path);
  if (!reference) {
    llvm::consumeError(reference.takeError());
    return {};
  }
  FirstDifference first;
  auto compared = CompareOnCase(reference->Copy(), model, path);
  if (!compared) {
    llvm::consumeError(compared.takeError());
  } else if (const Mismatch* fault = compared->first_fault()) {
    first.node = fault->node_b.empty() ? fault->node : fault->node_b;
  }
  if (model.base()) {
    for (const ServedGraphs& graphs : model.Served()) {
      if (first.cause.empty()) first.cause = CauseOf(graphs, first.node);
    }
  } else {
    first.cause = CauseOf(model.ServedAgainst(*reference), first.node);
  }
  return first;
}

}  // namespace

Judged CheckFusions(CheckedModel& model, const PolicyRule&, PolicyFindings& findings) {
  ASSIGN_OR_RETURN(const std::vector<LostFusion>* lost, model.LostFusions());
  for (const LostFusion& fusion : *lost) {
    std::string layer = model.LayerOf(fusion.node);
    std::string where = layer.empty() ? "" : Sentence("in layer '{0}', ", llvm::StringRef(layer));
    findings.Add(fusion.node,
                 where + Sentence("{0} is not fused here: {1}", fusion.pattern, fusion.reason),
                 Sentence("one node, as {0} fuses it in BASE", fusion.rule),
                 "undo the change that prevents it; `grapnel opt --why-not` lists everything that "
                 "rules refuse");
  }
  return std::string();
}

Judged CheckWeights(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  ASSIGN_OR_RETURN(const ValueReport* report, model.Values());
  const std::vector<Glob>* except = rule.FindGlobs("except");
  const std::set<std::string> measures = MeasuresOf(model.opened());
  const KeptFunctions kept(model.base()->module(), model.module());
  // A new variable is not a change of values, unless it may replace a variable that is gone.
  bool are_gone =
      llvm::any_of(report->different, [](const auto& value) { return value.b.empty(); });
  double most = rule.Number("most", 0);
  for (const ValueDiff& value : report->different) {
    if (value.a.empty() && !are_gone) continue;
    const std::string& name = value.b.empty() ? value.a : value.b;
    std::string what = WhatDiffers(value, most);
    if (what.empty() || IsGeneratorState(name) || measures.count(name) ||
        kept.Has(value.a, value.b) || (except && FitsAny(*except, name)))
      continue;
    findings.Add(name, what,
                 most > 0 ? "a difference of " + NumberText(most, 3) + " at most"
                          : std::string("BASE's values"),
                 "save it with BASE's weights, or list it in 'except'");
  }
  std::string why = WhyNotCompared(*report, "BASE", "MODEL");
  return why.empty() ? why : why + ": pass the folder that contains 'variables'";
}

Judged CheckOutputs(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  auto given = rule.paths.find("cases");
  std::vector<std::string> cases;
  if (given != rule.paths.end()) {
    cases = given->second;
  } else {
    const auto& own = model.opened().model().case_info;
    if (!own || own->fetches.empty())
      return "the model is not a case with expected values, and [outputs] names no cases";
    cases = {own->folder};
  }
  for (const std::string& path : cases) {
    ReplayRequest request;
    request.run = model.QuietRun();
    request.demands_taps = false;
    if (rule.numbers.count("rtol")) request.rtol = rule.Number("rtol", 0);
    if (rule.numbers.count("atol")) request.atol = rule.Number("atol", 0);
    Replayed replayed = ReplayOn(model.opened(), path, request);
    if (replayed.status == Replayed::kPass) continue;
    bool has_differed = replayed.status == Replayed::kFail;
    FirstDifference first;
    if (has_differed) first = FindDifference(model, path);
    std::string cause = first.cause.empty() ? "" : "; the cause: " + first.cause;
    findings.Add(
        first.node.empty() ? replayed.fetch : first.node,
        has_differed ? Sentence("on {0} {1}{2}", path, replayed.message, cause)
                     : Sentence("{0} does not run: {1}", path, replayed.message),
        "the outputs of the case, within its tolerance",
        "`grapnel compare` with the case shows where the runs diverge; or record the case again");
  }
  return std::string();
}

}  // namespace grapnel
