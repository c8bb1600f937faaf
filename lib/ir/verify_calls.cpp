// Checks calls of functions: whether the function exists, takes the arguments and returns the
// results that the call states, and whether recursion can end.
#include <algorithm>

#include "lib/ir/node_types.h"
#include "lib/ir/verify.h"
#include "lib/ir/verify_parts.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// How an op calls the function in one of its attributes. The other two attributes list the dtypes
// of the arguments and results.
struct CallKind {
  const char* function = nullptr;  // the attribute with the function or a list of functions
  const char* arguments = nullptr;
  const char* results = nullptr;  // null: the function is a condition with one result of any dtype
};

llvm::ArrayRef<CallKind> CallKindsOf(llvm::StringRef op) {
  static constexpr CallKind kCall[] = {{"f", "Tin", "Tout"}};
  static constexpr CallKind kIf[] = {{"then_branch", "Tin", "Tout"},
                                     {"else_branch", "Tin", "Tout"}};
  static constexpr CallKind kCase[] = {{"branches", "Tin", "Tout"}};
  static constexpr CallKind kWhile[] = {{"cond", "T", nullptr}, {"body", "T", "T"}};
  using Kinds = llvm::ArrayRef<CallKind>;
  return llvm::StringSwitch<Kinds>(op)
      .Cases("PartitionedCall", "StatefulPartitionedCall", "RemoteCall", Kinds(kCall))
      .Cases("If", "StatelessIf", Kinds(kIf))
      .Cases("Case", "StatelessCase", Kinds(kCase))
      .Cases("While", "StatelessWhile", Kinds(kWhile))
      .Default(Kinds());
}

bool ChoosesBranches(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile", true)
      .Default(false);
}

// Checks for missing functions, signatures that do not fit, and recursion without a branch.
// Searches depth first with its own stack, because a chain of calls may be too long for the call
// stack.
class CallChecker {
 public:
  explicit CallChecker(const Module& module) : module_(module) {}

  std::vector<Problem> RunOn(const Graph& graph, const Function* function,
                             const std::vector<NodeId>& nodes) {
    for (Node node : graph.nodes(nodes)) CheckCall(node, function);
    return std::move(problems_);
  }

  std::vector<Problem> Run() {
    for (Node node : module_.main.nodes()) CheckCall(node, nullptr);
    for (const auto& function : module_.functions) {
      auto& calls = calls_[function.get()];
      for (Node node : function->body.nodes()) {
        CheckCall(node, function.get());
        if (!MayCall(node) || ChoosesBranches(node.op())) continue;
        for (llvm::StringRef name : CalledFunctions(node)) {
          if (const Function* callee = module_.FindFunction(name)) calls.push_back({callee, node});
        }
      }
    }
    for (const auto& function : module_.functions) Search(function.get());
    return std::move(problems_);
  }

 private:
  struct Call {
    const Function* callee;
    Node node;
  };

  bool MayCall(const Node& node) {
    auto [it, added] = may_call_.try_emplace(node.op_id(), false);
    if (added) it->second = MayCallFunctions(node);
    return it->second;
  }

  void Report(const Node& node, const Function* in, std::string text) {
    std::string where = node.name().str();
    if (in) where = (in->name() + "/" + where).str();
    problems_.push_back({Severity::kError, std::move(where), std::move(text)});
  }

  void CheckCall(const Node& node, const Function* in) {
    if (!MayCall(node)) return;
    // Skips a call whose op and attributes equal those of a call that had no problem.
    std::optional<llvm::StringRef> attrs = node.graph().AttrBytes(node.id());
    std::pair<StringId, llvm::StringRef> kind_of_call = {node.op_id(), attrs.value_or("")};
    if (attrs && sound_.contains(kind_of_call)) return;
    size_t before = problems_.size();
    for (llvm::StringRef name : CalledFunctions(node)) {
      if (!name.empty() && !module_.FindFunction(name))
        Report(node, in, ("function '" + name + "' is not in the library").str());
    }
    for (const CallKind& kind : CallKindsOf(node.op())) {
      std::optional<AttrView> functions = node.FindAttr(kind.function);
      std::optional<AttrView> given = node.Attr(kind.arguments);
      if (!functions || !given) continue;
      for (llvm::StringRef name : functions->FuncNames()) {
        if (const Function* callee = module_.FindFunction(name))
          CheckSignature(node, in, kind, *callee);
      }
    }
    if (attrs && problems_.size() == before) sound_.insert(kind_of_call);
  }

  void CheckSignature(const Node& node, const Function* in, const CallKind& kind,
                      const Function& callee) {
    std::string why = WhyNot(node, kind.arguments, callee.info.inputs, "argument");
    if (why.empty() && kind.results)
      why = WhyNot(node, kind.results, callee.info.outputs, "result");
    else if (why.empty() && callee.info.outputs.size() != 1)
      why =
          llvm::formatv("has {0}, one was expected", Plural(callee.info.outputs.size(), "result"));
    if (!why.empty())
      Report(node, in, llvm::formatv("function '{0}' {1}", callee.name(), why).str());
  }

  // Returns how the function's arguments or results differ from the dtypes that the attribute
  // `attr` of the node lists; empty if they do not, or if that is not known, because they depend on
  // the function's own attributes, for example.
  static std::string WhyNot(const Node& node, const char* attr, llvm::ArrayRef<OpArg> args,
                            const char* what) {
    std::optional<AttrView> value = node.Attr(attr);
    auto types = value ? value->AsTypes() : std::nullopt;
    bool is_list = llvm::any_of(args, [](const OpArg& arg) {
      return !arg.number_attr.empty() || !arg.type_list_attr.empty();
    });
    if (!types || is_list) return "";
    if (types->size() != args.size()) {
      return llvm::formatv("has {0}, attribute '{1}' lists {2}", Plural(args.size(), what), attr,
                           types->size());
    }
    for (size_t i = 0; i < args.size(); ++i) {
      DataType is = BaseType(args[i].type), listed = BaseType((*types)[i]);
      if (is == listed || is == proto::DT_INVALID) continue;
      return llvm::formatv("has {0} for {1} {2} ('{3}'), attribute '{4}' lists {5}",
                           DataTypeName(is), what, i, args[i].name, attr, DataTypeName(listed));
    }
    return "";
  }

  void Search(const Function* start) {
    if (state_[start]) return;
    std::vector<std::pair<const Function*, size_t>> stack = {{start, 0}};
    state_[start] = 1;
    while (!stack.empty()) {
      auto& [function, next] = stack.back();
      if (next == calls_[function].size()) {
        state_[function] = 2;
        stack.pop_back();
        continue;
      }
      const Call& call = calls_[function][next++];
      if (state_[call.callee] == 1) {
        Report(call.node, function,
               ("calls function '" + call.callee->name() +
                "' again with no If, Case or While between: the recursion never ends")
                   .str());
      } else if (state_[call.callee] == 0) {
        state_[call.callee] = 1;
        stack.push_back({call.callee, 0});
      }
    }
  }

  const Module& module_;
  llvm::DenseMap<const Function*, std::vector<Call>> calls_;
  llvm::DenseMap<StringId, bool> may_call_;
  llvm::DenseSet<std::pair<StringId, llvm::StringRef>> sound_;  // calls without problems
  llvm::DenseMap<const Function*, int> state_;                  // 1: on the search's stack, 2: done
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> VerifyCallsOf(const Graph& graph, const Function* function, uint64_t since) {
  return CallChecker(graph.module()).RunOn(graph, function, graph.ChangedSince(since));
}

std::vector<Problem> CheckCalls(const Module& module) { return CallChecker(module).Run(); }

}  // namespace grapnel
