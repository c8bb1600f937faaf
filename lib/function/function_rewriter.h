// Shared base of rewrites of calls: the walk over nodes, numbered names, and the origin of nodes.
#ifndef GRAPNEL_LIB_FUNCTION_FUNCTION_REWRITER_H_
#define GRAPNEL_LIB_FUNCTION_FUNCTION_REWRITER_H_

#include <string>
#include <vector>

#include "lib/function/call.h"
#include "lib/pass/rule.h"

namespace grapnel {

// Marks nodes that stand for a branch or a part of a loop until their function is inlined.
inline constexpr const char* kPartOfControlFlow = "_lower_as_multi_device_function";
// Marks a call that must be inlined regardless of its function's attributes and keep the semantics
// of a call: no node runs before all inputs are available, no result is read before all effects are
// done.
inline constexpr const char* kOpenWhole = "_grapnel_open_whole";
// Marks a node that is to become Switch and Merge.
inline constexpr const char* kLower = "_lower_using_switch_merge";

// The component that inlines calls. It decides which calls are inlined and what remains of a call
// node.
enum class Opening : uint8_t {
  kGrappler,  // an optimizer: only inlining that preserves the graph's meaning for all readers
  // The runtime, before it places a function: all calls that may be inlined; a NoOp replaces the
  // call node, for others to wait for.
  kFunction,
  // The runtime, before it places a session's graph: control flow and the calls that result from
  // it; an IdentityN replaces the call node, so that it can be fetched.
  kSession,
};

// One run over one body. Visits nodes in the order of their ids in TensorFlow's Graph: inputs
// first, then nodes that rules create, in order of creation.
class FunctionRewriter : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "function_optimizer";
  // Rules up to this place inline calls, node by node; later ones look at the whole body.
  static constexpr int kLastThatOpens = 9;
  explicit FunctionRewriter(Editor& edit, Opening opening = Opening::kGrappler);

  Module& module;
  Opening opening;
  bool aggressive;  // also inline functions marked `_noinline`

  // The nodes in order; grows.
  std::vector<NodeId> nodes;

  // Returns `prefix/_7`, numbered over the whole run.
  std::string NewName(const llvm::Twine& prefix);
  bool is_runtime() const { return opening != Opening::kGrappler; }
  Node Add(const llvm::Twine& name, llvm::StringRef op, llvm::StringRef device,
           llvm::ArrayRef<Port> inputs = {});
  // Adds a node with attribute T, the non-reference dtype of its first input.
  Node AddTyped(const llvm::Twine& name, llvm::StringRef op, llvm::StringRef device,
                llvm::ArrayRef<Port> inputs);
  // Adds a call of the function in attribute `value` (a func), as part of control flow.
  Node AddCall(const llvm::Twine& name, const proto::NameAttrList& function, llvm::StringRef device,
               llvm::ArrayRef<Port> inputs);

  // A call runs once all its inputs are available, an inlined node once its own are. If that makes
  // a difference (resources, constants of loops), or if `always`, makes the call wait for each
  // input. The runtime relies on the existing edges, here and in WaitForFrame.
  void WaitForInputs(const Node& call, bool always = false);
  // In a loop, makes nodes without inputs wait for a node of the iteration.
  void WaitForFrame(const Node& call);

  // True if `call` came from inlining `function`: inlining it again would never end.
  bool IsRecursive(const Node& call, const Function& function) const;
  void CameFrom(NodeId made, const Node& call, const Function& function);
  // Records that `made` stands for a part of `node`.
  void InheritOrigin(NodeId made, const Node& node);

  // Returns why `callee` is not a function with so many inputs and outputs; "" if it is.
  std::string WhyNotCallable(const proto::NameAttrList& callee, int takes, int gives) const;

  // Returns why the inputs of `node` cannot be forwarded: a dtype is unknown, as for a custom op;
  // "" if all can.
  std::string WhyNotPassed(const Node& node) const;

  // Returns the attribute that marks `node` for compilation by XLA, which needs it unchanged, or
  // "".
  static llvm::StringRef XlaMark(const Node& node);

  // Makes readers of port i of `node` read `outputs[i]`, and nodes that wait for it wait for
  // `after`.
  void Redirect(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after);
  // Keeps `node` under its name: with its values if it is fetched (IdentityN), else for others to
  // wait for (NoOp). In the runtime that is a new node, after all others.
  void KeepAs(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after);

 private:
  void FindFrames();
  void StandIn(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after);

  int next_number_ = 0;
  // The first Enter of the frame of each node in the original graph.
  llvm::DenseMap<NodeId, NodeId> frame_of_;
  struct Ancestor {
    const Function* function;
    int parent;
  };
  std::vector<Ancestor> ancestors_;
  llvm::DenseMap<NodeId, int> came_from_;
};

// Visits every node once, and all nodes that result from it, with the rules that inline calls, as
// TensorFlow does before it places a graph.
void OpenCalls(FunctionRewriter& rewriter);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_FUNCTION_FUNCTION_REWRITER_H_
