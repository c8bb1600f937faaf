#include "python/src/passes.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "python/src/call.h"
#include "python/src/gil.h"
#include "python/src/visit.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

struct PatternHandle {
  PathPattern pattern;
};

PatternHandle* ParsePattern(const std::string& text) {
  auto pattern = PathPattern::Parse(text);
  if (!pattern) Raise(TextOf(pattern.takeError()));
  return new PatternHandle{std::move(*pattern)};
}

// Returns the op of the pattern's last step if it is an op name and not a wildcard: then the rule
// needs to see only nodes with that op.
nb::object LastOp(const PatternHandle& self) {
  const Glob& op = self.pattern.steps().back().op;
  return op.IsName() ? nb::cast(op.text()) : nb::none();
}

bool IsMadeFrom(const Node& node, const Node& other) {
  std::vector<NodeId> open = {node.id()};
  llvm::SmallDenseSet<NodeId, 16> seen;
  while (!open.empty()) {
    Node next = node.graph().node(open.back());
    open.pop_back();
    if (next == other) return true;
    for (Port port : next.inputs()) {
      if (port.node != kNoNode && seen.insert(port.node).second) open.push_back(port.node);
    }
  }
  return false;
}

// Returns why readers of the node cannot read `by` instead, or "".
std::string WhyNoReplacement(const Node& node, Port by) {
  const Graph& graph = node.graph();
  if (!graph.IsAlive(node.id())) return "replace_by: the rule's node was removed";
  std::string name = graph.node(by.node).name().str();
  DataType is = TypeOfPort(graph, {node.id(), 0}), given = TypeOfPort(graph, by);
  bool is_known = is != proto::DT_INVALID && given != proto::DT_INVALID;
  if (is_known && BaseType(is) != BaseType(given))
    return ("replace_by: '" + name + "' is " + DataTypeName(given) + ", " + DataTypeName(is) +
            " was expected")
        .str();
  bool is_input = llvm::any_of(node.inputs(), [&](Port port) { return port == by; });
  if (!is_input && by.node != node.id() && IsMadeFrom(graph.node(by.node), node))
    return "replace_by: '" + name + "' depends on the node, which would make a cycle";
  return "";
}

}  // namespace

class CallerPasses::RuleOfPython {
 public:
  RuleOfPython(CallerPasses* passes, const Definition* definition)
      : passes_(passes), definition_(definition) {}

  Verdict operator()(RuleContext& rule, const Node& node) const {
    NodePath path;
    if (definition_->pattern) {
      path = FindPathTo(node, *definition_->pattern);
      if (path.empty()) return RuleContext::NotMine();
    }
    std::string name = node.name().str();  // the node may be removed later
    auto wrong = [&](const std::string& text) {
      throw std::runtime_error("node '" + name + "': " + text);
    };
    passes_->CheckWanted();
    TakenGil taken;
    uint64_t version = rule.graph.version();
    auto visit = std::make_shared<Visit>(rule.edit, &rule);
    visit->path = std::move(path);
    passes_->worker_ = PyThread_get_thread_ident();
    auto over = llvm::make_scope_exit([&] {
      visit->edit = nullptr;
      passes_->worker_ = 0;
    });
    nb::object given = definition_->function(RuleHandle{visit}, NodeHandle{visit, node.id()});
    if (auto text = passes_->RaisedText(given)) wrong(*text);
    bool has_changed = rule.graph.version() != version;
    Verdict verdict = VerdictOf(given, visit, has_changed, wrong);
    if (verdict.by.node != kNoNode) {
      if (std::string why = WhyNoReplacement(node, verdict.by); !why.empty()) wrong(why);
    }
    if (has_changed) {
      if (std::string text = passes_->WrongSince(version, rule.edit); !text.empty()) wrong(text);
    }
    if (!rule.graph.IsAlive(node.id())) verdict.kind = Verdict::kDone;
    return verdict;
  }

 private:
  template <typename Wrong>
  static Verdict VerdictOf(nb::handle given, const VisitRef& visit, bool has_changed, Wrong wrong) {
    VerdictHandle answer{visit, RuleContext::NotMine()};
    if (!given.is_none() && !nb::try_cast(given, answer, /*convert=*/false))
      wrong("a rule must return a verdict of its context, such as rule.done(), or None");
    if (answer.visit != visit) wrong("the rule's verdict belongs to another call");
    if (has_changed && !answer.verdict.rewrote())
      wrong(
          "the rule changed the graph, but its verdict denies it: done(), changed() or "
          "replace_by() "
          "was expected");
    return answer.verdict;
  }

  CallerPasses* passes_;
  const Definition* definition_;
};

class CallerPasses::PassOfPython : public GraphPass {
 public:
  PassOfPython(CallerPasses* passes, const Definition* definition)
      : passes_(passes), definition_(definition) {}

  Error Run(Editor& edit) override {
    passes_->CheckWanted();
    TakenGil taken;
    uint64_t version = edit.graph().version();
    auto visit = std::make_shared<Visit>(edit, nullptr);
    passes_->worker_ = PyThread_get_thread_ident();
    auto over = llvm::make_scope_exit([&] {
      visit->edit = nullptr;
      passes_->worker_ = 0;
    });
    nb::object given = definition_->function(EditorHandle{visit});
    if (auto text = passes_->RaisedText(given))
      return visit->at.empty() ? MakeError("{0}", *text)
                               : MakeError("node '{0}': {1}", visit->at, *text);
    if (edit.IsRewriting()) return MakeError("node '{0}': begin() without end()", visit->at);
    if (edit.graph().version() == version) return Error::success();
    std::string text = passes_->WrongSince(version, edit);
    return text.empty() ? Error::success() : MakeError("{0}", text);
  }

 private:
  CallerPasses* passes_;
  const Definition* definition_;
};

CallerPasses::CallerPasses(const nb::list& definitions, const CancelFlag& cancel)
    : cancel_(cancel), registry_(PassRegistry::Get()) {
  for (nb::handle definition : definitions) {
    if (nb::cast<bool>(definition.attr("is_rule")))
      AddRule(definition);
    else
      AddPass(definition);
  }
  if (Error error = registry_.CheckPlugins()) Raise(TextOf(std::move(error)));
}

CallerPasses::~CallerPasses() {
  if (!nb::is_alive()) {  // the process is ending: leave the functions
    for (Definition& definition : definitions_) (void)definition.function.release();
    (void)raised_.release();
    return;
  }
  TakenGil taken;
  definitions_.clear();
  raised_.reset();
}

void CallerPasses::Interrupt() const {
  if (worker_) PyThreadState_SetAsyncExc(worker_, PyExc_KeyboardInterrupt);
}

const char* CallerPasses::Keep(nb::handle text) {
  return texts_.emplace_back(nb::cast<std::string>(text)).c_str();
}

void CallerPasses::AddPass(nb::handle definition) {
  PassInfo info{.name = Keep(definition.attr("name")),
                .order = nb::cast<int>(definition.attr("order")),
                .default_on = nb::cast<bool>(definition.attr("default_on")),
                .run_once = nb::cast<bool>(definition.attr("run_once")),
                .help = Keep(definition.attr("help")),
                .refuses = Keep(definition.attr("refuses"))};
  std::vector<PassStep> steps;
  for (auto [name, help] : nb::cast<nb::dict>(definition.attr("steps")))
    steps.push_back({Keep(name), Keep(help)});
  PassRegistry::Entry entry{info, [] { return std::make_unique<SequentialOptimizer>(); },
                            std::move(steps), Keep(definition.attr("file"))};
  if (nb::object function = definition.attr("function"); !function.is_none()) {
    const Definition* kept = &definitions_.emplace_back(Definition{std::move(function), {}});
    entry.make = [this, kept] { return std::make_unique<PassOfPython>(this, kept); };
  }
  if (Error error = registry_.Add(std::move(entry))) Raise(TextOf(std::move(error)));
}

void CallerPasses::AddRule(nb::handle definition) {
  Definition& kept = definitions_.emplace_back(Definition{definition.attr("function"), {}});
  if (nb::object pattern = definition.attr("pattern"); !pattern.is_none())
    kept.pattern = nb::cast<const PatternHandle&>(pattern).pattern;
  Rule rule{.optimizer = Keep(definition.attr("optimizer")),
            .phase = nb::cast<int>(definition.attr("phase")),
            .after = definition.attr("after").is_none() ? nullptr : Keep(definition.attr("after")),
            .name = Keep(definition.attr("name")),
            .help = Keep(definition.attr("help")),
            .refuses = Keep(definition.attr("refuses")),
            .apply = RuleFn(RuleOfPython(this, &kept)),
            .plugin = Keep(definition.attr("file"))};
  for (nb::handle op : definition.attr("ops")) rule.ops.push_back(Keep(op));
  if (Error error = registry_.Add(std::move(rule))) Raise(TextOf(std::move(error)));
}

std::optional<std::string> CallerPasses::RaisedText(nb::handle given) {
  if (!nb::isinstance<nb::tuple>(given)) return std::nullopt;
  auto raised = nb::borrow<nb::tuple>(given);
  raised_ = raised[1];
  return nb::cast<std::string>(raised[0]);
}

// Throws if the caller has stopped waiting or the process is about to end.
void CallerPasses::CheckWanted() const {
  if (cancel_.is_set() || !nb::is_alive()) throw std::runtime_error("cancelled");
}

std::string CallerPasses::WrongSince(uint64_t version, Editor& edit) {
  Graph& graph = edit.graph();
  Checked& checked = checked_[graph.id()];
  // The graph has changed since the last verification, so cached facts may be outdated.
  if (checked.at != version) checked.verifier.emplace();
  std::vector<Problem> problems = checked.verifier->Run(graph, edit.function(), version);
  checked.at = graph.version();
  auto error = llvm::find_if(
      problems, [](const Problem& problem) { return problem.severity == Severity::kError; });
  return error == problems.end() ? "" : "broke the graph: " + error->ToString();
}

void AddPasses(nb::module_& module) {
  nb::class_<PatternHandle>(module, "Pattern")
      .def(nb::new_([](const std::string& text) { return ParsePattern(text); }), nb::arg("text"))
      .def_prop_ro("last_op", LastOp);
  module.def(
      "check_passes",
      [](const nb::typed<nb::list, nb::any>& definitions) {
        CancelFlag never;
        CallerPasses passes(definitions, never);
      },
      nb::arg("definitions"));
}

}  // namespace grapnel::python
