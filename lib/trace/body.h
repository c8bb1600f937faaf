// State that a Tracer keeps for each body it builds: the main graph, and each function that it
// traces. Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_BODY_H_
#define GRAPNEL_LIB_TRACE_BODY_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/device_name.h"
#include "lib/shape/inference.h"
#include "lib/trace/tracer.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// The VersionDef that TensorFlow 2.21 writes: `producer`, and `min_consumer`, which only a graph
// with functions has.
constexpr int kProducerVersion = 2474;
constexpr int kMinConsumerVersion = 12;
std::string VersionsOf(bool has_functions);  // a serialized VersionDef

class EagerRunner;      // lib/trace/eager_runner.h
struct EagerRecording;  // lib/trace/eager_runner.h

class TraceBody {
 public:
  // Nodes that are already in `graph` stay unchanged; new nodes get other names.
  TraceBody(TraceState* state, TraceBody* outer, Graph* graph, Function* function);

  // Returns an unused name in the open name scope (tf.Graph.unique_name). An eager program that is
  // not being recorded makes no nodes, so there the name may be in use.
  std::string UniqueName(llvm::StringRef name);
  // Opens a name scope in the open scope. "name/" reopens exactly the scope `name`; an empty name
  // changes nothing.
  void OpenScope(llvm::StringRef name);

  // Adds a node with the device, colocation and control inputs that the open guards (Device,
  // Colocate, ControlDependencies) require.
  NodeId AddNode(llvm::StringRef op, llvm::StringRef name, llvm::ArrayRef<Port> inputs,
                 const SourceLocation& where);
  // Call this once a node's attributes are set: later ops may need the node's shapes.
  void InferShapes(NodeId id) { shapes.Update(id); }

  // Returns the port that stands for `value` in this body. For a value of this body that is its own
  // port; for a value of an enclosing body it is a placeholder, which becomes an argument of this
  // function, or a copy of the constant if copies_constants is set.
  Port Capture(const Value& value, const SourceLocation& where);
  // Returns the placeholder that already captures `value`, or kNoNode.
  NodeId CaptureOf(const Value& value) const;
  // Call this for a node of this body that other nodes must run after: TensorFlow marks such a node
  // with an attribute.
  void MarkControl(NodeId id);
  // An attribute of a node: its key, and its value as a serialized AttrValue (lib/ir/attr.h).
  using Attribute = std::pair<llvm::StringRef, llvm::StringRef>;
  void SetAttrs(NodeId id, llvm::ArrayRef<Attribute> attrs);
  // Replaces all attributes of the node. Requires that SharesAttrs is true for the node, or that it
  // has no attributes.
  void ReplaceAttrs(NodeId id, llvm::ArrayRef<Attribute> attrs);
  NodeId AddPlaceholder(DataType dtype, const Shape& shape, llvm::StringRef name, bool keep_name,
                        const SourceLocation& where);
  bool IsInside(const TraceBody* other) const;  // true for this body too
  bool HasStatefulNodes() const;

  // Sets the node's call scope: the name scope that was open where the user called its op. The
  // scope of the op's gradient is named after it. For a node without a call scope (an imported
  // node), CallScope returns the scope that Python's function for the op would have opened, else
  // the scope of the node's name.
  void SetCallScope(NodeId id, llvm::StringRef path);
  std::string CallScope(NodeId id) const;
  // The source line that made the node; for an imported node, the line that imported it.
  const SourceLocation& LineOf(NodeId id) const {
    return id < lines.size() ? lines[id] : imported_at;
  }

  Value ValueOf(NodeId id, int index = 0) { return Value(this, {id, index}); }
  // Returns the Value for a port of this body, to pass to an op. If this body is a recording (the
  // ops that an eager program has run), returns the tensor that was recorded for the port, or a
  // value that is not ok() if there is none.
  Value At(Port port);

  struct Captured {
    Value outer;
    NodeId placeholder;
  };
  struct Controller {
    std::vector<NodeId> inputs;
    llvm::DenseSet<NodeId> made;  // nodes made since the guard was opened
  };
  TraceState* state;
  TraceBody* outer;  // null for the main graph
  Graph* graph;
  Function* function;  // null if this is not a function's body
  std::string scope;   // the open name scope, "a/b"
  // Where new nodes are placed: the Device and Colocate guards set this.
  struct Placing {
    DeviceSpec device;
    std::string colocation;  // the attribute _class; empty: none
  };
  Placing placing;
  std::vector<Controller> controllers;
  bool is_eager = false;                // ops run and create no nodes: TraceState::eager
  EagerRecording* recording = nullptr;  // the recording whose body this is
  bool copies_constants = false;        // constants of outer bodies are copied instead of captured
  // The shapes and axes of reductions whose gradient has made its unread nodes: see LeaveTiling in
  // gradients/reduction.cpp.
  std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> reduced_shapes;
  // The marks that a gradient sets on nodes: vectors as large as the graph. They are all clear
  // between two gradients, so that the cost of a gradient depends only on the nodes that it visits.
  // A gradient that is being made owns these vectors.
  struct GradientMarks {
    std::vector<bool> recorded;     // the tape has recorded the node
    std::vector<bool> pending;      // the node is not visited yet
    std::vector<uint32_t> slot_of;  // slot of the node's first output
    std::vector<uint32_t> missing;  // number of unvisited readers of the node's outputs
  };
  std::unique_ptr<GradientMarks> gradient_marks;
  std::string colocated_with;      // new nodes are colocated with this node (_class); may be empty
  std::vector<Captured> captures;  // added by Capture
  std::vector<Operation> outer_controls;  // outside operations that nodes here must run after
  std::vector<NodeId> must_run;           // set by AddAutomaticControls
  std::vector<SourceLocation> lines;      // by node id
  std::vector<uint32_t> calls;  // by node id, like `lines`: TraceState::call when it was made
  NodeId first_traced;          // nodes before it were imported, or copied with their function
  NodeId first_line;            // nodes before it have no line of their own
  SourceLocation imported_at;   // the line for nodes before first_line
  ShapeMap shapes;

 private:
  // Adds the control inputs that the open ControlDependencies require of a new node.
  void AddControls(NodeId id, llvm::ArrayRef<Port> inputs);
  Port AddCapture(const Value& value, NodeId placeholder);
  void CopyContent(NodeId id, const Value& value);
  llvm::DenseMap<std::pair<const TraceBody*, NodeId>, NodeId> constants_;  // copies
  // The placeholder for each captured value. Keys: the body of the value, or its EagerObject, and
  // its port.
  llvm::SmallDenseMap<std::pair<const void*, std::pair<NodeId, int32_t>>, NodeId, 4> captured_;
  // The use of a name, in lower case: `count` is how often it was requested, as tf.Graph counts;
  // "name_N" is taken for all N from `count` to below `free_from`.
  struct NameUse {
    int count = 0, free_from = 0;
  };
  llvm::StringMap<NameUse> names_in_use_;
  std::vector<StringId> call_scopes_;  // by node id; kNoString: not set
};

struct TracedVariables;  // lib/trace/traced_variables.h

struct TraceState {
  TraceState();
  ~TraceState();
  // Continues a graph that was read; all nodes of `imported` get `where` as their source line.
  TraceState(std::unique_ptr<Module> imported, const SourceLocation& where);
  TraceBody* Enter(llvm::StringRef function);  // makes a new function's body the current one
  // Like Enter, but for an existing function that is called from the current body.
  TraceBody* EnterExisting(Function* function);
  void Leave() { current = current->outer; }
  std::string FunctionName(llvm::StringRef scope, llvm::StringRef role);  // while_cond_12

  std::string name;  // the traced function's name, which precedes each error
  std::unique_ptr<Module> module;
  std::vector<std::unique_ptr<TraceBody>> bodies;
  llvm::DenseMap<const Graph*, TraceBody*> body_of;  // the bodies of functions
  TraceBody* current;
  std::vector<std::string> errors;
  int uid = 0;  // counts nodes and functions, as TensorFlow's ops.uid()
  bool is_imported = false;
  // The graph's GraphDef version; an op that is deprecated in this version is an error.
  int producer = kProducerVersion;
  std::shared_ptr<TracedVariables> variables;  // null: no variable yet
  // If set, the source line of every new node and error. While gradients are made, it is the line
  // of the forward op.
  std::optional<SourceLocation> line;
  // Besides its own line, a node has the lines of the calls around it: scopes, loops, branches and
  // gradients. Calls form a tree in which each call has the number of its parent. `call` is the
  // number of the open call; 0 means that no call is open.
  uint32_t call = 0;
  struct Call {
    SourceLocation where;
    uint32_t outer;
  };
  std::vector<Call> calls;  // call number i + 1 is calls[i]
  // Opens a call and returns the number of the call that was open; assigning that number to `call`
  // ends the new call.
  uint32_t EnterCall(const SourceLocation& where) {
    calls.push_back({where, call});
    return std::exchange(call, static_cast<uint32_t>(calls.size()));
  }
  // The arguments of CustomGradient(). The key is the IdentityN node that CustomGradient() makes;
  // its inputs are the results of the function followed by the function's inputs.
  struct CustomGradient {
    int num_results;
    std::function<Values(llvm::ArrayRef<Value>)> fn;
  };
  llvm::DenseMap<std::pair<const TraceBody*, NodeId>, CustomGradient> custom_gradients;

  // The number of gradients requested so far, which the attribute `source` of TensorArrayGradV3
  // contains, and the nesting depth of the gradients being made.
  int gradient_calls = 0, gradient_depth = 0;

  void Report(const SourceLocation& where, const std::string& text);

  // Keeps a copy of serialized attributes in the module; equal short ones are stored once.
  llvm::StringRef KeepAttrs(llvm::StringRef bytes);
  llvm::DenseSet<llvm::StringRef> kept_attrs;
  std::string attrs;  // a buffer for attributes being built

  // Objects with pointers into this state hold a weak_ptr to this, which expires with the state.
  std::shared_ptr<int> lifetime = std::make_shared<int>();
  std::unique_ptr<EagerRunner> eager;  // eager mode only; destroyed first
};

// --- These functions take a value that is ok(), traced or eager.
//
// Returns the node that made the value; for an eager value, the node of its op's signature
// (lib/trace/eager_runner.h). An empty Node if the user gave the value as a tensor.
Node NodeOf(const Value& value);
SourceLocation LineOf(const Value& value);
// The shape of what a handle refers to: the value of a variable, or an element of a TensorList. See
// ShapeMap::OfContent.
Shape ContentOf(const Value& value);
// The elements of a small integer tensor, if they are known while tracing; else nullopt.
std::optional<std::vector<int64_t>> IntegersOf(const Value& value);
// Returns an error text, " ('x:0', made at mean.cpp:12) belongs to another Tracer", or "" if the
// value belongs to `state`.
std::string ForeignText(const Value& value, const TraceState& state);

// A name scope for one op: the constants of its inputs get names in the scope, and its node gets
// the scope's own name. An empty name opens nothing.
class ScopeGuard {
 public:
  ScopeGuard(TraceBody* body, llvm::StringRef name) : body_(body), before_(body->scope) {
    body->OpenScope(name);
  }
  ~ScopeGuard() { body_->scope = before_; }
  ScopeGuard(const ScopeGuard&) = delete;
  const std::string& path() const { return body_->scope; }
  const std::string& before() const { return before_; }

 private:
  TraceBody* body_;
  std::string before_;
};

// While an object of this class lives, new nodes are within a call at the line `where`.
class CallGuard {
 public:
  CallGuard(TraceState& state, const SourceLocation& where)
      : state_(state), before_(state.EnterCall(where)) {}
  ~CallGuard() { state_.call = before_; }
  CallGuard(const CallGuard&) = delete;

 private:
  TraceState& state_;
  uint32_t before_;
};

struct OpRequest {
  llvm::StringRef op;
  llvm::ArrayRef<Operand> inputs;
  std::vector<OpAttribute> attributes;
  llvm::StringRef name;  // name of a new scope; empty: the op's name
  bool exact = false;    // the node has the name of the open scope
  // Python's function for the op opens a scope named as `name` says, which is then the node's call
  // scope: see TraceBody::SetCallScope.
  bool own_scope = false;
};
// Makes the op: checks dtypes, infers attributes, makes constants and captures. The result is not
// ok() after an error.
Operation MakeOp(TraceState& state, const OpRequest& request, const SourceLocation& where);

// Converts the numbers of the literal to another dtype; nullopt if an integer does not fit, a float
// would become an integer, or one of the dtypes is bool or not numeric.
std::optional<Literal> ConvertNumbers(const Literal& literal, DataType dtype);
Value MakeConstant(TraceBody& body, const Literal& literal, llvm::StringRef name,
                   const SourceLocation& where);
// Returns the operand as a value; a literal becomes a constant of its own dtype.
Value ToValue(TraceState& state, const Operand& operand, llvm::StringRef name = "Const");

// Adds an Identity for each result, and makes the effects of the body (its stateful ops) run before
// the results. Returns the Identities; nothing after an error.
std::vector<NodeId> EndBody(TraceBody& body, const Values& results, const SourceLocation& where);
// True if `shape` has the rank of `wanted` and all dimensions that `wanted` knows.
bool IsAsKnown(const Shape& shape, const Shape& wanted);
// Returns the most specific shape that `a` and `b` both match: dimensions that differ are unknown,
// and so is the rank if the ranks differ.
Shape Common(const Shape& a, const Shape& b);
// Returns a name such as "base_12" that no function has yet.
std::string FreeFunctionName(TraceState& state, const std::string& base);

// Tracer::WhileLoop and Tracer::IfElse, for the current body of `state`.
Values MakeWhile(TraceState& state, llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond,
                 llvm::function_ref<Values(llvm::ArrayRef<Value>)> body,
                 llvm::ArrayRef<Operand> init, const SourceLocation& where);
Values MakeIf(TraceState& state, const Operand& cond, llvm::function_ref<Values()> then,
              llvm::function_ref<Values()> otherwise, const SourceLocation& where,
              llvm::StringRef name = "cond");

// Does what tf.function does with a complete body: makes its effects (stateful ops) happen in
// program order, and before `results`.
void AddAutomaticControls(TraceBody& body, llvm::ArrayRef<NodeId> results);
// Returns, for each of `resources`, whether nothing in the body writes to it. The node that calls
// the body lists the resources that are only read in its attribute _read_only_resource_inputs.
std::vector<bool> OnlyRead(const Graph& graph, llvm::ArrayRef<NodeId> resources);

// Makes the placeholders `args` arguments of the function, makes its signature and so completes the
// function.
void FinishFunction(TraceBody& body, llvm::ArrayRef<NodeId> args, llvm::ArrayRef<Port> results);
// Adds arguments and results to a complete function. The nodes that call it must then get these
// inputs and outputs, too. The destructor updates the signature.
class FunctionExtender {
 public:
  explicit FunctionExtender(TraceBody& body);
  ~FunctionExtender();
  FunctionExtender(const FunctionExtender&) = delete;
  // AddArgument and AddResult return the position of the new argument or result.
  int AddArgument(DataType dtype, const Shape& shape, llvm::StringRef name);
  int AddResult(Port port, llvm::StringRef name);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns a serialized GraphDebugInfo: the line and the enclosing calls of every traced node, and
// for imported nodes the content of `imported`, the GraphDebugInfo that the imported graph had.
std::string DebugInfoOf(const TraceState& state, llvm::StringRef imported);

std::string TextOf(const SourceLocation& where);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_BODY_H_
