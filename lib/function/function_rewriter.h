// The shared base of the rules that rewrite function calls: the walk over the nodes, the names of
// new nodes, and the record of which node each new one comes from.
#ifndef GRAPNEL_LIB_FUNCTION_FUNCTION_REWRITER_H_
#define GRAPNEL_LIB_FUNCTION_FUNCTION_REWRITER_H_

#include <string>
#include <vector>

#include "lib/function/call.h"
#include "lib/pass/rule.h"

namespace grapnel {

// Marks the call of a function that was a branch, or the condition or body of a loop, until that
// function is inlined.
inline constexpr const char* kPartOfControlFlow = "_lower_as_multi_device_function";
// Marks a call that must be inlined even if its function is marked `_noinline`. Inlining must keep
// the semantics of a call: no inlined node runs before all inputs of the call are available, and no
// result is read before all effects are done.
inline constexpr const char* kOpenWhole = "_grapnel_open_whole";
// Marks an If, Case or While that is to be lowered to Switch and Merge.
inline constexpr const char* kLower = "_lower_using_switch_merge";

// The part of TensorFlow whose inlining is reproduced. It determines which calls are inlined and
// what replaces a call node.
enum class Opening : uint8_t {
  kGrappler,  // an optimizer: inlines only where the graph's meaning stays the same for all readers
  // The runtime, before it places the nodes of a function: inlines all calls that may be inlined; a
  // NoOp replaces the call node, so that other nodes can wait for it.
  kFunction,
  // The runtime, before it places a session's graph: lowers control flow and inlines the calls that
  // result from that; an IdentityN replaces a call node that has outputs, so that it can be
  // fetched.
  kSession,
};

// Rewrites one body (the main graph or a function). Visits nodes in the order of their ids in
// TensorFlow's Graph: inputs first, then nodes that rules create, in order of creation.
class FunctionRewriter : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "function_optimizer";
  // Phases: rules that inline calls, node by node; then rules that look at the whole body.
  static constexpr int kOpenCalls = 0, kWholeBody = 1;
  explicit FunctionRewriter(Editor& edit, Opening opening = Opening::kGrappler);

  Module& module;
  Opening opening;
  bool aggressive;  // also inline functions marked `_noinline`, and where an effect is lost

  // The nodes in the order of the visit; grows while rules add nodes.
  std::vector<NodeId> nodes;

  // Returns a name such as `prefix/_7`; all names of the rewrite get their numbers from one
  // counter.
  std::string NewName(const llvm::Twine& prefix);
  bool is_runtime() const { return opening != Opening::kGrappler; }
  Node Add(const llvm::Twine& name, llvm::StringRef op, llvm::StringRef device,
           llvm::ArrayRef<Port> inputs = {});
  // Adds a node with attribute T set to the dtype of its first input (not a reference dtype).
  Node AddTyped(const llvm::Twine& name, llvm::StringRef op, llvm::StringRef device,
                llvm::ArrayRef<Port> inputs);
  // Adds a call of the function that `function` names, as part of lowered control flow.
  Node AddCall(const llvm::Twine& name, const proto::NameAttrList& function, llvm::StringRef device,
               llvm::ArrayRef<Port> inputs);

  // A call runs once all its inputs are available, but a node inlined for it runs once its own
  // inputs are. If this makes a difference (an input is a loop constant, or it is a resource and
  // the call has no control inputs), or if `always`, makes `call` wait for each of its inputs that
  // is not a Placeholder. TensorFlow's runtime relies on the existing edges, so if is_runtime(),
  // this function and WaitForFrame add none.
  void WaitForInputs(const Node& call, bool always = false);
  // If `call` was in a loop before the rewrite and has no control inputs, makes it wait for a node
  // that runs in each iteration, if it finds one, so that nodes without inputs that are inlined for
  // it run in that iteration too.
  void WaitForFrame(const Node& call);

  // True if `call` came from inlining `function`, or is in its body: inlining `function` again
  // would never end.
  bool IsRecursive(const Node& call, const Function& function) const;
  void CameFrom(NodeId made, const Node& call, const Function& function);
  // Records that `made`, which replaces a part of `node`, came from inlining the same functions as
  // `node`: see IsRecursive.
  void InheritOrigin(NodeId made, const Node& node);

  // Returns the reason why `callee` is not a function with `takes` inputs and `gives` outputs; ""
  // if it is one.
  std::string WhyNotCallable(const proto::NameAttrList& callee, int takes, int gives) const;

  // Returns the reason why the inputs of `node` cannot be forwarded: a dtype is unknown, as for a
  // custom op. "" if all inputs can be forwarded.
  std::string WhyNotPassed(const Node& node) const;

  // Returns the name of the attribute that marks `node` for compilation by XLA, which needs the
  // node unchanged; "" if the node has no such attribute.
  static llvm::StringRef XlaMark(const Node& node);

  // Makes readers of output i of `node` read `outputs[i]`, and nodes that wait for `node` wait for
  // `after`.
  void Redirect(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after);
  // Keeps a node with the name of `node`: an IdentityN of `outputs` if `node` is fetched and has
  // outputs, otherwise a NoOp that other nodes can wait for. If is_runtime(), makes a new node
  // after all others instead: an IdentityN for kSession, a NoOp for kFunction or if there are no
  // outputs.
  void KeepAs(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after);

 private:
  void FindFrames();
  void StandIn(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after);

  int next_number_ = 0;
  // For each node that was in a loop before the rewrite: an Enter of the loop's frame.
  llvm::DenseMap<NodeId, NodeId> frame_of_;
  struct Ancestor {
    const Function* function;
    int parent;
  };
  std::vector<Ancestor> ancestors_;
  llvm::DenseMap<NodeId, int> came_from_;
};

// Applies the rules that inline calls once to each node, in the order of `nodes`, and so also to
// the nodes that the rules add, unless the rewrite stops before.
void OpenCalls(FunctionRewriter& rewriter);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_FUNCTION_FUNCTION_REWRITER_H_
