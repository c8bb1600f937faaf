// Rules: what one is, the context in which it looks at a graph, its answer, and how it registers
// itself.
//
// A rule is a function that is shown a node (or the whole body). It answers NotMine where its
// pattern is not there, Refuse where it is and a condition failed, and otherwise makes its edits
// and says so. What it edits is one rewrite in the ledger, counted by --limit, under the rule's
// name: the rule opens and ends nothing itself. The optimizer that it belongs to decides which
// nodes it is shown and when.
#ifndef GRAPNEL_LIB_PASS_RULE_H_
#define GRAPNEL_LIB_PASS_RULE_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/pass/editor.h"
#include "lib/pass/op_kinds.h"
#include "lib/pass/pass.h"
#include "lib/support/public.h"

namespace grapnel {

// The answer of a rule; its context makes it.
struct GRAPNEL_PUBLIC Verdict {
  enum Kind : uint8_t {
    kNotMine,  // the pattern is not here
    kRefused,  // it is, and a condition failed
    kChanged,  // rewritten, and the rules that come after look at the node too
    kDone,     // rewritten, and no other rule looks at the node now; it may be gone
  };
  Kind kind = kNotMine;
  Port by = {kNoNode, 0};  // of kDone: what readers of the node's first output read instead

  bool rewrote() const { return kind >= kChanged; }
};

struct Rule;

// What all rules of one run over one body share. An optimizer derives its own from it, with what
// its rules alone need; those then take that type.
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
  bool stopped = false;  // --limit is used up: nothing may change any more

  // --- Answers, of the node that the rule is shown.
  static Verdict NotMine() { return {}; }
  static Verdict Changed() { return {Verdict::kChanged}; }
  static Verdict Done() { return {Verdict::kDone}; }
  // Readers of the node read `port` instead, and whoever waits for it waits for the port's node:
  // the optimizer sees to that.
  static Verdict ReplaceBy(Port port) { return {Verdict::kDone, port}; }
  static Verdict ReplaceBy(const Node& node) { return ReplaceBy(Port{node.id(), 0}); }
  // Why not; formatted only where somebody wants to know.
  template <typename... Args>
  Verdict Refuse(const char* format, Args&&... args) {
    return RefuseAt(node_, format, std::forward<Args>(args)...);
  }
  // The same of another node than the one shown.
  template <typename... Args>
  Verdict RefuseAt(const Node& node, const char* format, Args&&... args) {
    edit.Refuse(rule_name_, node, format, std::forward<Args>(args)...);
    return {Verdict::kRefused};
  }
  // The same as a condition that fails: `return rule.Fails("'{0}' is fetched", ...)` is false.
  template <typename... Args>
  bool Fails(const char* format, Args&&... args) {
    Refuse(format, std::forward<Args>(args)...);
    return false;
  }
  // When a condition has said why not.
  static Verdict Refused() { return {Verdict::kRefused}; }

  // --- Facts.
  bool IsPreserved(const Node& node) const { return edit.IsPreserved(node); }
  bool Exists(llvm::StringRef name) const { return static_cast<bool>(graph.Find(name)); }
  llvm::StringRef DeviceOf(const Node& node) const { return edit.DeviceOf(node); }
  // The node that data input `i` comes from; false when there is no such input.
  Node Input(const Node& node, int i) const {
    return i < node.num_inputs() ? node.input_node(i) : Node();
  }
  // Whether anything waits for the node.
  bool DrivesControls(const Node& node) const;
  // Nodes that read it or wait for it, each once.
  int NumReaders(const Node& node) const;

  // --- Constants: of Const and HostConst nodes that are not fed.
  const Literal* ConstantOf(Port port) const { return edit.ConstantOf(port); }
  // The elements of one of int32 or int64, of any rank.
  std::optional<std::vector<int64_t>> IntegersOf(Port port) const;
  // The same of data input `i`; nothing where the node has no such input.
  std::optional<std::vector<int64_t>> ConstantInts(const Node& node, int i) const;

  // --- Shapes: what is known without running. An optimizer that trusts more, or less, says so in
  // its own context.
  virtual Shape ShapeOf(Port port) { return edit.ShapeOf(port); }

  // --- Edits.
  // A node with these data inputs; the name is made unique.
  Node Make(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device,
            llvm::ArrayRef<Port> inputs);
  // The node to wait for in order to run whenever `port` has a value. A Switch has run even where
  // an output is dead, so there it is an Identity of that output: with `find`, the first that
  // reads it; else, or where there is none, "ConstantFoldingCtrl/<switch>_<port>", as Grappler
  // names it.
  Node Anchor(Port port, bool find = true);
  void SetType(const Node& node, llvm::StringRef key, DataType type) {
    edit.SetAttr(node, key, attr::Type(type));
  }

  // --- For optimizers: shows the rule the node, and records what it did as one rewrite. NotMine,
  // and `stopped`, when --limit is used up. What a replacement asks for is left to the caller, as
  // part of the same rewrite, in `replace`.
  Verdict Apply(const Rule& rule, const Node& node,
                llvm::function_ref<void(Port by)> replace = nullptr);
  // A rule of the whole body.
  Verdict Apply(const Rule& rule);

  // --- For rules that make several rewrites in one visit.
  // A rule of a node: what it does from here on is another rewrite, at `node`. False: --limit is
  // used up, change nothing.
  bool NextRewrite(const Node& node);
  // A rule of the whole body begins and ends each of its rewrites itself. BeginAt is false when
  // --limit is used up: change nothing, end nothing.
  bool BeginAt(const Node& node);
  void End() { edit.End(); }

 private:
  llvm::StringRef rule_name_;
  Node node_;
};

// The function of a rule, whatever context it takes.
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
  // One of a node that holds something of its own.
  explicit RuleFn(std::function<Verdict(RuleContext&, const Node&)> of_node)
      : function_(std::move(of_node)) {}

  Verdict operator()(RuleContext& context, const Node& node) const {
    return function_(context, node);
  }
  bool of_body() const { return of_body_; }
  // Whose context it takes; null: any.
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

// A registration. All text is a literal.
struct GRAPNEL_PUBLIC Rule {
  const char* optimizer;  // the pass that it belongs to
  int place;              // among the optimizer's rules: TensorFlow's order, no two alike
  const char* name;       // as in ledgers, refusals, `--passes optimizer/name`, its file and test
  std::vector<const char*> ops;  // of the nodes that it is shown; empty: of any op
  const char* help;              // what it does, one line
  const char* refuses = "";      // what it leaves alone, one line
  RuleFn apply;
  // Of most nodes it is known at once that the rule does nothing, and would say nothing; null: of
  // none.
  bool (*may_apply)(const Node&) = nullptr;
  const char* plugin = "";  // the file it came in; RegisterRule sets it
};

GRAPNEL_PUBLIC bool RegisterRule(Rule rule);

// At namespace scope, last in a rule's file:
//   GRAPNEL_RULE({.optimizer = "arithmetic_optimizer", .place = 17, .name = "remove_involution",
//                 .ops = {"Neg"}, .help = "...", .refuses = "...", .apply = RemoveInvolution});
#define GRAPNEL_RULE(...)                                                            \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(rule_registered_, __COUNTER__) = \
      ::grapnel::RegisterRule(::grapnel::Rule __VA_ARGS__)

// The rules of one optimizer that this run wants, by op and in their places.
class GRAPNEL_PUBLIC RuleTable {
 public:
  // Those from place `from` to `to`, both included.
  RuleTable(Editor& edit, llvm::StringRef optimizer, int from = 0, int to = 1 << 30);

  // Those of nodes of this op.
  llvm::ArrayRef<const Rule*> Of(StringId op) const {
    auto found = by_op_.find(op);
    return found == by_op_.end() ? of_any_op_ : found->second;
  }
  bool Has(const Node& node) const { return !Of(node.op_id()).empty(); }
  llvm::ArrayRef<const Rule*> all() const { return all_; }

 private:
  std::vector<const Rule*> all_, of_any_op_;
  llvm::DenseMap<StringId, std::vector<const Rule*>> by_op_;
};

// Shows `node` the rules of its op in their places until one is done with it. Whether any rewrote
// it.
GRAPNEL_PUBLIC bool ApplyRules(RuleContext& context, const RuleTable& rules, const Node& node);

// An optimizer without a schedule of its own. Its rules run in their places: one of the whole body
// by itself, those of nodes that follow one another together, on each node in the order of the
// file. At namespace scope:
//   GRAPNEL_OPTIMIZER((PassInfo{.name = "debug_stripper", ...}));
class GRAPNEL_PUBLIC SequentialOptimizer : public GraphPass {
 public:
  Error Run(Editor& edit) override;
};
#define GRAPNEL_OPTIMIZER(info) GRAPNEL_PASS(::grapnel::SequentialOptimizer, info, )

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_RULE_H_
