#include "lib/pass/rule.h"

#include <new>
#include <stdexcept>

#include "lib/ir/device_name.h"
#include "lib/pass/registry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Calls the rule. To an exception of a plugin's rule, except bad_alloc, adds the names of the rule
// and its plugin.
Verdict Call(const Rule& rule, RuleContext& context, const Node& node) {
  if (!*rule.plugin) return rule.apply(context, node);
  try {
    return rule.apply(context, node);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& thrown) {
    // If the pass itself is from a plugin, the PassManager adds the plugin's name.
    const PassRegistry::Entry* pass = context.edit.registry().Find(rule.optimizer);
    std::string whose = pass && *pass->plugin ? "" : std::string(" of ") + rule.plugin;
    throw std::runtime_error(std::string("rule '") + rule.name + "'" + whose + ": " +
                             thrown.what());
  }
}

std::string QuotedNames(llvm::ArrayRef<Node> nodes) {
  constexpr size_t kShown = 4;
  std::vector<std::string> names;
  for (const Node& node : nodes) {
    std::string name = Sentence("'{0}'", node.name());
    if (!llvm::is_contained(names, name)) names.push_back(std::move(name));
  }
  if (names.size() > kShown) {
    std::string more = std::to_string(names.size() - kShown) + " more";
    names.resize(kShown);
    names.push_back(std::move(more));
  }
  if (names.size() < 2) return names.empty() ? "" : names[0];
  std::string last = std::move(names.back());
  names.pop_back();
  return llvm::join(names, ", ") + " and " + last;
}

// The facts of these kinds about one node.
std::vector<std::string> ObstaclesOf(const RuleContext& rule, const Node& node, unsigned kinds) {
  std::vector<std::string> facts;
  auto add = [&](const char* format, const std::string& what) {
    facts.push_back(Sentence(format, node.name(), what));
  };
  llvm::SmallVector<Node, 4> readers, waiting, waited_for;
  for (const Use& use : node.uses()) {
    Node user = rule.graph.node(use.node);
    (user.input(use.slot).IsControl() ? waiting : readers).push_back(user);
  }
  for (int i = 0; i < node.num_controls(); ++i) waited_for.push_back(node.control(i));
  if ((kinds & Obstacles::kStays) && rule.IsPreserved(node)) {
    add("'{0}' {1}", rule.edit.IsFetched(node) ? "is fetched"
                     : rule.edit.IsFed(node)   ? "is fed"
                                               : "has to run for its effect");
  }
  if ((kinds & Obstacles::kReaders) && readers.size() > 1)
    add("'{0}' is read by {1}", QuotedNames(readers));
  if ((kinds & Obstacles::kControls) && !waited_for.empty())
    add("'{0}' waits for {1}", QuotedNames(waited_for));
  if ((kinds & Obstacles::kControls) && !waiting.empty())
    facts.push_back(Sentence("{0} {1} for '{2}'", QuotedNames(waiting),
                             waiting.size() == 1 ? "waits" : "wait", node.name()));
  return facts;
}

}  // namespace

llvm::raw_ostream& operator<<(llvm::raw_ostream& os, const Obstacles& obstacles) {
  std::vector<std::string> facts;
  for (const Node& node : obstacles.nodes)
    llvm::append_range(facts, ObstaclesOf(obstacles.rule, node, obstacles.kinds));
  bool is_one_device = llvm::all_of(obstacles.nodes, [&](const Node& node) {
    return node.device_id() == obstacles.nodes[0].device_id();
  });
  if ((obstacles.kinds & Obstacles::kDevice) && (!is_one_device || facts.empty())) {
    for (const Node& node : obstacles.nodes)
      facts.push_back(Sentence("'{0}' is on {1}", node.name(), QuotedDevice(node.device())));
  }
  return os << llvm::join(facts, "; ");
}

bool RuleContext::DrivesControls(const Node& node) const {
  return llvm::any_of(node.uses(), [&](const Use& use) {
    return graph.node(use.node).input(use.slot).IsControl();
  });
}

int RuleContext::NumReaders(const Node& node) const {
  llvm::SmallDenseSet<NodeId, 8> readers;
  for (const Use& use : node.uses()) readers.insert(use.node);
  return static_cast<int>(readers.size());
}

std::optional<std::vector<int64_t>> RuleContext::IntegersOf(Port port) const {
  if (port.IsControl() || port.node == kNoNode) return std::nullopt;
  const Literal* value = ConstantOf(port);
  if (!value || (value->dtype() != proto::DT_INT32 && value->dtype() != proto::DT_INT64))
    return std::nullopt;
  return value->AsInts();
}

std::optional<std::vector<int64_t>> RuleContext::ConstantInts(const Node& node, int i) const {
  if (i >= node.num_inputs()) return std::nullopt;
  return IntegersOf(node.input(i));
}

Node RuleContext::Make(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device,
                       llvm::ArrayRef<Port> inputs) {
  Node node = edit.AddNode(name, op, device);
  edit.SetInputs(node, inputs);
  return node;
}

Node RuleContext::Anchor(Port port, bool find) {
  Node node = graph.node(port.node);
  if (port.IsControl() || !kinds.Is(node, kSwitchOp)) return node;
  if (find) {
    for (const Use& use : node.UsesOf(port.index)) {
      Node reader = graph.node(use.node);
      if (kinds.Is(reader, kIdentityOp) || IsIdentityNOfOne(reader)) return reader;
    }
  }
  std::string name = ("ConstantFoldingCtrl/" + node.name() + "_" + llvm::Twine(port.index)).str();
  if (Node there = graph.Find(name)) return there;
  Node anchor = edit.AddNode(name, "Identity", node.device());
  edit.SetAttr(anchor, "T", attr::Type(BaseType(node.GetType("T"))));
  edit.AddInput(anchor, port);
  return anchor;
}

bool RuleContext::BeginAt(const Node& node) {
  stopped = stopped || !edit.Begin(rule_name_, node);
  return !stopped;
}

Verdict RuleContext::Apply(const Rule& rule, const Node& node,
                           llvm::function_ref<void(Port by)> replace) {
  if (rule.may_apply && !rule.may_apply(node)) return NotMine();
  rule_name_ = rule.name;
  node_ = node;
  // A fed placeholder computes nothing itself: a rule may still change its readers.
  if (edit.IsFed(node) && (node.num_inputs() > 0 || node.op() == "Const")) {
    return rule.ops.empty() ? NotMine() : Refuse("'{0}' is fed\nfeed another node", node.name());
  }
  if (!BeginAt(node)) return NotMine();
  Verdict verdict = Call(rule, *this, node);
  if (stopped) return verdict;  // NextRewrite has ended the last rewrite
  if (verdict.by.node != kNoNode && verdict.by.node != node.id() && replace) replace(verdict.by);
  edit.End();
  return verdict;
}

Verdict RuleContext::Apply(const Rule& rule) {
  rule_name_ = rule.name;
  node_ = Node();
  return Call(rule, *this, Node());
}

bool RuleContext::NextRewrite(const Node& node) {
  edit.End();
  return BeginAt(node);
}

RuleTable::RuleTable(Editor& edit, llvm::StringRef optimizer, std::optional<int> phase) {
  llvm::ArrayRef<const Rule*> rules = edit.registry().RulesOf(optimizer);
  if (phase) {
    rules = rules.drop_while([&](const Rule* rule) { return rule->phase < *phase; })
                .take_while([&](const Rule* rule) { return rule->phase == *phase; });
  }
  Add(edit, rules);
}

void RuleTable::Add(Editor& edit, llvm::ArrayRef<const Rule*> rules) {
  StringTable& strings = edit.module().strings;
  for (const Rule* rule : rules) {
    if (!edit.Runs(rule->name)) continue;
    all_.push_back(rule);
    for (const char* op : rule->ops)
      by_op_.try_emplace(strings.Intern(op), of_any_op_).first->second.push_back(rule);
    if (!rule->ops.empty()) continue;
    for (auto& [op, rules] : by_op_) rules.push_back(rule);
    of_any_op_.push_back(rule);
  }
}

llvm::ArrayRef<const Rule*> RuleTable::After(const Rule& rule, StringId op) const {
  llvm::ArrayRef<const Rule*> before =
      llvm::ArrayRef(all_).take_while([&](const Rule* other) { return other != &rule; });
  return Of(op).drop_while(
      [&](const Rule* other) { return other == &rule || llvm::is_contained(before, other); });
}

// Makes readers of the node's first output read `by` (RuleContext::ReplaceBy), and all its readers
// wait for its control inputs.
static void ReplaceNode(RuleContext& context, const Node& node, Port by) {
  bool has_others = llvm::any_of(node.uses(), [&](const Use& use) {
    Port port = context.graph.node(use.node).input(use.slot);
    return !port.IsControl() && port.index != 0;
  });
  llvm::SmallVector<Use, 8> uses(node.uses().begin(), node.uses().end());
  llvm::SmallVector<Node, 2> waited_for;
  for (int i = 0; i < node.num_controls(); ++i) waited_for.push_back(node.control(i));
  for (const Node& first : waited_for) {
    for (const Use& use : uses) context.edit.AddControl(context.graph.node(use.node), first);
  }
  if (has_others)
    context.edit.RedirectPort({node.id(), 0}, by);
  else
    context.edit.RedirectNode(node, by);
}

bool ApplyRules(RuleContext& context, const RuleTable& rules, const Node& node) {
  bool rewrote = false;
  StringId op = node.op_id();
  llvm::ArrayRef<const Rule*> left = rules.Of(op);
  while (!left.empty()) {
    const Rule& rule = *left.front();
    left = left.drop_front();
    if (rule.may_apply && !rule.may_apply(node)) continue;
    Verdict verdict = context.Apply(rule, node, [&](Port by) { ReplaceNode(context, node, by); });
    if (verdict.kind == Verdict::kNotMine && !context.stopped) continue;
    rewrote |= verdict.rewrote();
    if (verdict.kind == Verdict::kDone || context.stopped) break;
    if (node.op_id() == op) continue;
    op = node.op_id();
    left = rules.After(rule, op);
  }
  return rewrote;
}

static void ApplyToNodes(RuleContext& context, const RuleTable& rules) {
  for (Node node : context.graph.nodes()) {
    ApplyRules(context, rules, node);
    if (context.stopped) return;
  }
}

Error SequentialOptimizer::Run(Editor& edit) {
  RuleContext context(edit);
  RuleTable rules(edit, edit.pass());
  for (llvm::ArrayRef<const Rule*> left = rules.all(); !left.empty() && !context.stopped;) {
    auto together = left.take_while([](const Rule* rule) { return !rule->apply.of_body(); });
    if (together.empty()) {
      context.Apply(*left.front());
      left = left.drop_front();
      continue;
    }
    ApplyToNodes(context, RuleTable(edit, together));
    left = left.drop_front(together.size());
  }
  return Error::success();
}

}  // namespace grapnel
