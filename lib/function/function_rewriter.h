// What rewrites of calls share: the walk over nodes, numbered names, and where nodes came from.
#ifndef GRAPNEL_LIB_FUNCTION_FUNCTION_REWRITER_H_
#define GRAPNEL_LIB_FUNCTION_FUNCTION_REWRITER_H_

#include <string>
#include <vector>

#include "lib/function/call.h"
#include "lib/pass/rule.h"

namespace grapnel {

// On nodes that stand for a branch or a loop's part until their function is inlined.
inline constexpr const char* kPartOfControlFlow = "_lower_as_multi_device_function";
// On a call whose nodes are to take its place whatever its function says of itself, and to mean
// what the call means: none runs before all inputs are there, no result is read before all effects
// are.
inline constexpr const char* kOpenWhole = "_grapnel_open_whole";
// The node is to become Switch and Merge.
inline constexpr const char* kLower = "_lower_using_switch_merge";

// Who opens calls, which says what of them opens and what stays of a caller.
enum class Opening : uint8_t {
  kGrappler,  // an optimizer: only what keeps the graph's meaning, whoever reads it
  // The runtime, before it places a function: every call that may be; a NoOp takes the caller's
  // place, to be waited for.
  kFunction,
  // The runtime, before it places a session's graph: control flow and the calls that come of it; an
  // IdentityN takes the caller's place, to be fetched.
  kSession,
};

// One run over one body. Nodes are visited in the order of ids in TensorFlow's Graph: inputs first,
// then what rules make, as they make it.
class FunctionRewriter : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "function_optimizer";
  // Rules up to this place open calls, node by node; those beyond look at the whole body.
  static constexpr int kLastThatOpens = 9;
  explicit FunctionRewriter(Editor& edit, Opening opening = Opening::kGrappler);

  Module& module;
  Opening opening;
  bool aggressive;  // even functions marked `_noinline` are inlined

  // The nodes in order; grows.
  std::vector<NodeId> nodes;

  // `prefix/_7`: numbered over the whole run.
  std::string NewName(const llvm::Twine& prefix);
  bool is_runtime() const { return opening != Opening::kGrappler; }
  Node Add(const llvm::Twine& name, llvm::StringRef op, llvm::StringRef device,
           llvm::ArrayRef<Port> inputs = {});
  // With attribute T, the dtype of its first input without reference.
  Node AddTyped(const llvm::Twine& name, llvm::StringRef op, llvm::StringRef device,
                llvm::ArrayRef<Port> inputs);
  // A call of the function that attribute `value` (a func) names, as part of control flow.
  Node AddCall(const llvm::Twine& name, const proto::NameAttrList& function, llvm::StringRef device,
               llvm::ArrayRef<Port> inputs);

  // A call runs once all its inputs are there, its nodes when their own are: where that makes a
  // difference (resources, constants of loops), or `always`, the call waits for each input.
  // The runtime trusts the edges that are there, in this and the next.
  void WaitForInputs(const Node& call, bool always = false);
  // In a loop, nodes without inputs must wait for something of the iteration.
  void WaitForFrame(const Node& call);

  // Whether `function` is being inlined where `call` came from: it would never end.
  bool IsRecursive(const Node& call, const Function& function) const;
  void CameFrom(NodeId made, const Node& call, const Function& function);
  // `made` stands for a part of `node`.
  void InheritOrigin(NodeId made, const Node& node);

  // Why `callee` is no function that takes and gives so many tensors; "" where it is one.
  std::string WhyNotCallable(const proto::NameAttrList& callee, int takes, int gives) const;

  // Why what passes an input of `node` on cannot be made: its dtype is not known, as of an op that
  // is no TensorFlow's; "" where all are.
  std::string WhyNotPassed(const Node& node) const;

  // The attribute by which `node` is marked for XLA, which compiles it as it is; "" for none.
  static llvm::StringRef XlaMark(const Node& node);

  // Readers of port i of `node` read `outputs[i]`, those that wait for it wait for `after`.
  void Redirect(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after);
  // `node` stays under its name: with its values when it is fetched (IdentityN), else as something
  // to wait for (NoOp). In the runtime that is a new node, after all others.
  void KeepAs(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after);

 private:
  void FindFrames();
  void StandIn(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after);

  int next_number_ = 0;
  // The first Enter of the frame that a node of the original graph is in.
  llvm::DenseMap<NodeId, NodeId> frame_of_;
  struct Ancestor {
    const Function* function;
    int parent;
  };
  std::vector<Ancestor> ancestors_;
  llvm::DenseMap<NodeId, int> came_from_;
};

// Shows every node once, and what comes of it, to the rules that put nodes in the place of calls:
// as TensorFlow does before it places a graph.
void OpenCalls(FunctionRewriter& rewriter);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_FUNCTION_FUNCTION_REWRITER_H_
