// Rules: their interface, context, verdicts and registration.
//
// A rule is a function that is applied to a node (or to the whole body). It returns NotMine if its
// pattern does not match, Refuse if the pattern matches and a condition failed, and otherwise makes
// its edits and returns Changed, Done or ReplaceBy. Its edits are one rewrite in the ledger,
// counted by --limit, under the rule's name: the rule does not begin or end it. The optimizer that
// the rule belongs to decides on which nodes it runs, and when.
#ifndef GRAPNEL_LIB_PASS_RULE_H_
#define GRAPNEL_LIB_PASS_RULE_H_

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/pass/editor.h"
#include "lib/pass/op_kinds.h"
#include "lib/pass/pass.h"
#include "lib/support/public.h"

namespace grapnel {

// The result of a rule, made by its context.
struct GRAPNEL_PUBLIC Verdict {
  enum Kind : uint8_t {
    kNotMine,  // the pattern does not match
    kRefused,  // the pattern matches, and a condition failed
    kChanged,  // rewritten; later rules still see the node
    kDone,     // rewritten; no other rule sees the node in this visit; the node may be gone
  };
  Kind kind = kNotMine;
  Port by = {kNoNode, 0};  // for kDone: readers of the node's first output read this instead

  bool rewrote() const { return kind >= kChanged; }
};

struct Rule;
class RuleContext;

// The facts about some nodes that may keep a rule from taking them, for the text of a refusal. They
// are looked up only if the text is formatted: "'a' is fetched; 'b' is read by 'c' and 'd'".
struct GRAPNEL_PUBLIC Obstacles {
  enum Kind : unsigned {
    kStays = 1,     // fetched, fed or kept
    kReaders = 2,   // several readers
    kControls = 4,  // control edges
    kDevice = 8,    // devices, if they differ or nothing else is known
  };
  const RuleContext& rule;
  llvm::SmallVector<Node, 4> nodes;
  unsigned kinds;
};
GRAPNEL_PUBLIC llvm::raw_ostream& operator<<(llvm::raw_ostream& os, const Obstacles& obstacles);

// Shared state of all rules of one run over one body. An optimizer derives its own context from it,
// with state for its rules; these rules take the derived type.
class GRAPNEL_PUBLIC RuleContext {
 public:
  explicit RuleContext(Editor& editor)
      : edit(editor), graph(editor.graph()), kinds(editor.module()) {}
  RuleContext(const RuleContext&) = delete;
  RuleContext& operator=(const RuleContext&) = delete;
  virtual ~RuleContext() = default;

  Editor& edit;
  Graph& graph;
  OpKinds kinds;
  bool stopped = false;  // no rewrite may begin: change nothing more

  // --- Verdicts on the node that the rule is applied to.
  static Verdict NotMine() { return {}; }
  // Like NotMine(), with the reason, for a node where only a detail of the pattern is missing, such
  // as a constant. Formatted like the text of Refuse, and only if a user asks about one node.
  template <typename... Args>
  Verdict NotMine(const char* format, Args&&... args) {
    edit.Mismatch(rule_name_, node_, format, std::forward<Args>(args)...);
    return {};
  }
  static Verdict Changed() { return {Verdict::kChanged}; }
  static Verdict Done() { return {Verdict::kDone}; }
  // The optimizer then makes readers of the node's first output read `port` instead; if no other
  // output is read, it also makes nodes that wait for the node wait for the port's node.
  static Verdict ReplaceBy(Port port) { return {Verdict::kDone, port}; }
  static Verdict ReplaceBy(const Node& node) { return ReplaceBy(Port{node.id(), 0}); }
  // Refuses, for the formatted reason; the text is formatted only if the run collects refusals. A
  // second line of the text says what to change (Editor::Refuse).
  template <typename... Args>
  Verdict Refuse(const char* format, Args&&... args) {
    return RefuseAt(node_, format, std::forward<Args>(args)...);
  }
  // As Refuse, at another node.
  template <typename... Args>
  Verdict RefuseAt(const Node& node, const char* format, Args&&... args) {
    edit.Refuse(rule_name_, node, format, std::forward<Args>(args)...);
    return {Verdict::kRefused};
  }
  // Refuses like Refuse and returns false, for functions that check a condition: `return
  // rule.Fails("'{0}' is fetched", ...)`.
  template <typename... Args>
  bool Fails(const char* format, Args&&... args) {
    Refuse(format, std::forward<Args>(args)...);
    return false;
  }
  // The verdict after a function that checks a condition has already recorded the refusal.
  static Verdict Refused() { return {Verdict::kRefused}; }
  // For the second line of such a text: "...\nundo this: {1}". `kinds`: of Obstacles.
  Obstacles ObstaclesAt(std::initializer_list<Node> nodes, unsigned kinds) const {
    return {*this, nodes, kinds};
  }
  Obstacles ObstaclesAt(llvm::ArrayRef<Node> nodes, unsigned kinds) const {
    return {*this, llvm::SmallVector<Node, 4>(nodes.begin(), nodes.end()), kinds};
  }

  // --- Facts.
  bool IsPreserved(const Node& node) const { return edit.IsPreserved(node); }
  bool Exists(llvm::StringRef name) const { return static_cast<bool>(graph.Find(name)); }
  llvm::StringRef DeviceOf(const Node& node) const { return edit.DeviceOf(node); }
  // The node of data input `i`, for rules that look through it. No node if there is no such input,
  // or if the node is fed and has inputs itself: a fed value does not follow from them.
  Node Input(const Node& node, int i) const {
    if (i >= node.num_inputs()) return Node();
    Node input = node.input_node(i);
    return input.num_inputs() > 0 && edit.IsFed(input) ? Node() : input;
  }
  // True if the node has an outgoing control edge.
  bool DrivesControls(const Node& node) const;
  // The number of distinct nodes that read `node` or wait for it.
  int NumReaders(const Node& node) const;

  // --- Constants: Const and HostConst nodes that are not fed.
  const Literal* ConstantOf(Port port) const { return edit.ConstantOf(port); }
  // The elements of an int32 or int64 constant of any rank.
  std::optional<std::vector<int64_t>> IntegersOf(Port port) const;
  // As IntegersOf, for data input `i`; nullopt if there is no such input.
  std::optional<std::vector<int64_t>> ConstantInts(const Node& node, int i) const;

  // --- Shapes that are known without running. An optimizer that trusts more shapes, or fewer,
  // overrides this in its own context.
  virtual Shape ShapeOf(Port port) { return edit.ShapeOf(port); }

  // --- Edits.
  //
  // Adds a node with these data inputs; the name is made unique.
  Node Make(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device,
            llvm::ArrayRef<Port> inputs);
  // Returns the node to wait for in order to run exactly when `port` has a value. That is the
  // port's node, unless it is a Switch, which runs even if an output of it is dead. For an output
  // of a Switch it is an Identity that reads that output: with `find`, the first existing one; if
  // there is none, the one that Grappler would make, "ConstantFoldingCtrl/<switch>_<port>", which
  // is added unless it exists.
  Node Anchor(Port port, bool find = true);
  void SetType(const Node& node, llvm::StringRef key, DataType type) {
    edit.SetAttr(node, key, attr::Type(type));
  }

  // --- For optimizers: applies the rule to the node, and records its edits as one rewrite. Returns
  // NotMine, and sets `stopped`, if no rewrite may begin (Editor::Begin). Does not call the rule
  // for a fed node that has inputs or is a Const, since its readers must keep reading the fed
  // value, and returns kRefused, or NotMine if the rule is for nodes of all ops. The caller
  // implements the verdict's replacement in `replace`, as part of the same rewrite.
  Verdict Apply(const Rule& rule, const Node& node,
                llvm::function_ref<void(Port by)> replace = nullptr);
  // Applies a rule that is for the whole body instead of a node.
  Verdict Apply(const Rule& rule);

  // --- For rules that make several rewrites in one visit.
  //
  // For a rule that is applied to a node: ends the current rewrite and begins another one at
  // `node`. False if none may begin: then change nothing.
  bool NextRewrite(const Node& node);
  // A rule that is applied to the whole body begins and ends each of its rewrites itself. BeginAt
  // returns false if none may begin: then change nothing and do not end the rewrite.
  bool BeginAt(const Node& node);
  void End() { edit.End(); }

 private:
  llvm::StringRef rule_name_;
  Node node_;
};

// The function of a rule, whose context may be RuleContext or a derived type.
class GRAPNEL_PUBLIC RuleFn {
 public:
  template <typename Context>
  RuleFn(Verdict (*of_node)(Context&, const Node&))  // NOLINT: so that `.apply = F` reads well
      : function_([of_node](RuleContext& context, const Node& node) {
          return of_node(static_cast<Context&>(context), node);
        }),
        optimizer_(OptimizerOf<Context>()) {}
  template <typename Context>
  RuleFn(Verdict (*of_body)(Context&))  // NOLINT
      : function_([of_body](RuleContext& context, const Node&) {
          return of_body(static_cast<Context&>(context));
        }),
        optimizer_(OptimizerOf<Context>()),
        of_body_(true) {}
  // For a rule that is applied to nodes and has state of its own.
  explicit RuleFn(std::function<Verdict(RuleContext&, const Node&)> of_node)
      : function_(std::move(of_node)) {}

  Verdict operator()(RuleContext& context, const Node& node) const {
    return function_(context, node);
  }
  bool of_body() const { return of_body_; }
  // The optimizer whose context type the function takes; null: it takes a RuleContext.
  const char* optimizer() const { return optimizer_; }

 private:
  template <typename Context>
  static const char* OptimizerOf() {
    if constexpr (std::is_same_v<Context, RuleContext>) {
      return nullptr;
    } else {
      return Context::kOptimizer;
    }
  }

  std::function<Verdict(RuleContext&, const Node&)> function_;
  const char* optimizer_ = nullptr;
  bool of_body_ = false;
};

inline constexpr char kFirst[] = "";  // for Rule::after

// A registration. All text is a literal.
struct GRAPNEL_PUBLIC Rule {
  const char* optimizer;  // the pass that the rule belongs to
  // For an optimizer with several visits, each with rules of its own: the visit that the rule
  // belongs to. The phases run from the lowest number up.
  int phase = 0;
  // The rule of the same phase that this one directly follows; kFirst: it begins the phase; null:
  // after those that begin the phase and their followers, in the order of registration. The order
  // is TensorFlow's, since of two rules that could rewrite a node the first one does. Of two rules
  // that follow the same one, the rule that was registered last comes first.
  const char* after = nullptr;
  const char* name;  // as in ledgers, refusals, `--passes optimizer/name`, its file and test
  std::vector<const char*> ops;  // ops of the nodes that the rule applies to; empty: all ops
  const char* help;              // one line: what the rule does
  const char* refuses = "";      // one line: what the rule leaves alone
  // What the rule looks for, in the form of lib/pass/op_pattern.h: "(Conv2D|MatMul)". A question
  // why a node was not rewritten compares the graph around the node with it. Empty: nothing is
  // compared.
  const char* pattern = "";
  RuleFn apply;
  // A cheap filter: false if the rule certainly neither rewrites nor refuses the node. Null: no
  // filter.
  bool (*may_apply)(const Node&) = nullptr;
  const char* plugin = "";  // the file that contains the rule; set by RegisterRule
};

GRAPNEL_PUBLIC bool RegisterRule(Rule rule);

// Use at namespace scope, at the end of a rule's file:
//   GRAPNEL_RULE({.optimizer = "arithmetic_optimizer", .after = "remove_idempotent",
//                 .name = "remove_involution", .ops = {"Neg"}, .help = "...",
//                 .refuses = "...", .apply = RemoveInvolution});
#define GRAPNEL_RULE(...)                                                            \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(rule_registered_, __COUNTER__) = \
      ::grapnel::RegisterRule(::grapnel::Rule __VA_ARGS__)

// The rules of one optimizer that this run selects, by op and in order.
class GRAPNEL_PUBLIC RuleTable {
 public:
  RuleTable(Editor& edit, llvm::StringRef optimizer, std::optional<int> phase = std::nullopt);
  // `rules` are in order.
  RuleTable(Editor& edit, llvm::ArrayRef<const Rule*> rules) { Add(edit, rules); }

  // The rules that apply to nodes with this op.
  llvm::ArrayRef<const Rule*> Of(StringId op) const {
    auto found = by_op_.find(op);
    return found == by_op_.end() ? of_any_op_ : found->second;
  }
  bool Has(const Node& node) const { return !Of(node.op_id()).empty(); }
  llvm::ArrayRef<const Rule*> all() const { return all_; }
  // The rules for nodes of this op that come after `rule`.
  llvm::ArrayRef<const Rule*> After(const Rule& rule, StringId op) const;

 private:
  void Add(Editor& edit, llvm::ArrayRef<const Rule*> rules);

  std::vector<const Rule*> all_, of_any_op_;
  llvm::DenseMap<StringId, std::vector<const Rule*>> by_op_;
};

// Applies the rules for `node`'s op (the new op, once a rule changes it) in order until one returns
// kDone or no rewrite may begin. Returns true if any of them rewrote the node.
GRAPNEL_PUBLIC bool ApplyRules(RuleContext& context, const RuleTable& rules, const Node& node);

// An optimizer that needs no code of its own to schedule its rules. They run in the order of the
// registry: each rule that is applied to the whole body runs by itself; consecutive rules that are
// applied to nodes run together, on each node in file order. Use at namespace scope:
//   GRAPNEL_OPTIMIZER((PassInfo{.name = "debug_stripper", ...}));
class GRAPNEL_PUBLIC SequentialOptimizer : public GraphPass {
 public:
  Error Run(Editor& edit) override;
};
#define GRAPNEL_OPTIMIZER(info) GRAPNEL_PASS(::grapnel::SequentialOptimizer, info, )

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_RULE_H_
