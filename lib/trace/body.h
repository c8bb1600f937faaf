// What a Tracer keeps of each body that it builds: the main graph, and functions of control flow.
// Private to lib/trace.
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

// GraphDef versions as TensorFlow 2.21 writes them; the second only where there are functions.
constexpr int kProducerVersion = 2474;
constexpr int kMinConsumerVersion = 12;
std::string VersionsOf(bool has_functions);  // a serialized VersionDef

class EagerRunner;      // lib/trace/eager_runner.h
struct EagerRecording;  // lib/trace/eager_runner.h

class TraceBody {
 public:
  // What is in `graph` already stays as it is: its names are taken.
  TraceBody(TraceState* state, TraceBody* outer, Graph* graph, Function* function);

  // A name that is not taken, in the open name scope (tf.Graph.unique_name).
  std::string UniqueName(llvm::StringRef name);
  // The scope from now on; "name/" is exactly that one, none is made of an empty name.
  void OpenScope(llvm::StringRef name);

  // The node, with the control inputs that the open ControlDependencies ask for.
  NodeId AddNode(llvm::StringRef op, llvm::StringRef name, llvm::ArrayRef<Port> inputs,
                 const SourceLocation& where);
  // To be called when a node's attributes are set: what follows may ask for its shapes.
  void InferShapes(NodeId id) { shapes.Update(id); }

  // The port that stands for `value` here: its own, or that of a placeholder that is an argument of
  // this function. `value` is of this body or one around it.
  Port Capture(const Value& value, const SourceLocation& where);
  // The placeholder that stands for `value` already; kNoNode: none does.
  NodeId CaptureOf(const Value& value) const;
  // To be called for a node of this body that others are asked to run after: TensorFlow marks it.
  void MarkControl(NodeId id);
  // The attributes of a node that was just made, by key.
  using Attribute = std::pair<llvm::StringRef, llvm::StringRef>;
  void SetAttrs(NodeId id, llvm::ArrayRef<Attribute> attrs);
  // Instead of all that it has; SharesAttrs is true of it, or it has none.
  void ReplaceAttrs(NodeId id, llvm::ArrayRef<Attribute> attrs);
  NodeId AddPlaceholder(DataType dtype, const Shape& shape, llvm::StringRef name, bool keep_name,
                        const SourceLocation& where);
  bool IsInside(const TraceBody* other) const;  // the same, or around this one
  bool HasStatefulNodes() const;

  // The name scope that was open where the op was called, which its gradient's scope is named
  // after; with `own`, the one that Python's function for the op opened around it. Of a node that
  // nobody said it of (an imported one): what Python's function of that op would have opened.
  void SetCallScope(NodeId id, llvm::StringRef path);
  std::string CallScope(NodeId id) const;
  // The line that the node came from; of an imported one, the line that imported it.
  const SourceLocation& LineOf(NodeId id) const { return id < lines.size() ? lines[id] : imported_at; }

  Value ValueOf(NodeId id, int index = 0) { return Value(this, {id, index}); }
  // What a port of this body is to an op in the current one: of a recording, the tensor that it
  // had.
  Value At(Port port);

  struct Captured {
    Value outer;
    NodeId placeholder;
  };
  struct Controller {
    std::vector<NodeId> inputs;
    llvm::DenseSet<NodeId> made;  // since it was opened
  };
  TraceState* state;
  TraceBody* outer;  // null for the main graph
  Graph* graph;
  Function* function;  // null for the main graph
  std::string scope;   // the open one, "a/b"
  // Of the open Device and Colocate.
  struct Placing {
    DeviceSpec device;
    std::string colocation;  // the attribute _class; empty: none
  };
  Placing placing;
  std::vector<Controller> controllers;
  bool is_eager = false;                // ops run, and are no nodes: TraceState::eager
  EagerRecording* recording = nullptr;  // that this is the body of
  bool copies_constants = false;        // of bodies around it, instead of capturing them
  // Shapes and axes of reductions whose gradient was made: gradients/reduction.cpp.
  std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> reduced_shapes;
  // What a gradient marks nodes with, as large as the graph and clear between two gradients: each
  // takes as long as the nodes that it meets. The one at work has taken it.
  struct GradientMarks {
    std::vector<bool> recorded;     // the tape has it
    std::vector<bool> pending;      // it is still to be visited
    std::vector<uint32_t> slot_of;  // the first of its outputs' slots
    std::vector<uint32_t> missing;  // outputs that readers still have to visit
  };
  std::unique_ptr<GradientMarks> gradient_marks;
  std::string colocated_with;      // the node beside which new ones go (_class); or empty
  std::vector<Captured> captures;  // Capture adds to them
  std::vector<Operation>
      outer_controls;            // operations outside that nodes here were asked to run after
  std::vector<NodeId> must_run;  // set by AddAutomaticControls
  std::vector<SourceLocation> lines;      // by node id
  std::vector<uint32_t> calls;   // by node id, as lines: TraceState::call at the time
  NodeId first_traced;  // nodes before were there: imported, or a function's that was copied
  NodeId first_line;    // nodes before have no line of their own
  SourceLocation imported_at;    // the line of theirs
  ShapeMap shapes;

 private:
  // What the open ControlDependencies ask for of a node that was just made.
  void AddControls(NodeId id, llvm::ArrayRef<Port> inputs);
  Port AddCapture(const Value& value, NodeId placeholder);
  void CopyContent(NodeId id, const Value& value);
  llvm::DenseMap<std::pair<const TraceBody*, NodeId>, NodeId> constants_;  // that were copied
  // By home and port of the value.
  llvm::SmallDenseMap<std::pair<const void*, std::pair<NodeId, int32_t>>, NodeId, 4> captured_;
  // Of a name in lower case: how often it was asked for, as tf.Graph counts, and the number below
  // which all of its numbers from that count on are taken.
  struct NameUse {
    int count = 0, free_from = 0;
  };
  llvm::StringMap<NameUse> names_in_use_;
  std::vector<StringId> call_scopes_;  // by node id; kNoString: not said
};

struct TracedVariables;  // lib/trace/traced_variables.h

struct TraceState {
  TraceState();
  ~TraceState();
  // Goes on with a graph that is there; `where` is the line of all its nodes.
  TraceState(std::unique_ptr<Module> imported, const SourceLocation& where);
  TraceBody* Enter(llvm::StringRef function);  // a new function's body becomes the current one
  // The same for a function that is there already, seen from the current body.
  TraceBody* EnterExisting(Function* function);
  void Leave() { current = current->outer; }
  std::string FunctionName(llvm::StringRef scope, llvm::StringRef role);  // while_cond_12

  std::string name;  // of the function that is traced, said before each error
  std::unique_ptr<Module> module;
  std::vector<std::unique_ptr<TraceBody>> bodies;
  llvm::DenseMap<const Graph*, TraceBody*> body_of;  // of functions
  TraceBody* current;
  std::vector<std::string> errors;
  int uid = 0;  // counts nodes and functions, as TensorFlow's ops.uid()
  bool is_imported = false;
  int producer = kProducerVersion;  // of the graph: ops that were old by then are refused
  std::shared_ptr<TracedVariables> variables;  // null: none was made
  // Set: every node and error is of this line, whoever makes it (gradients, whose ops are of the
  // line of their forward op).
  std::optional<SourceLocation> line;
  // Scopes, loops, branches and gradients are calls around a node's own line: a tree, in which each
  // knows the one around it. What is open now; 0: none.
  uint32_t call = 0;
  struct Call {
    SourceLocation where;
    uint32_t outer;
  };
  std::vector<Call> calls;  // number i + 1
  // Opens one, and gives the one that was open, which ends it.
  uint32_t EnterCall(const SourceLocation& where) {
    calls.push_back({where, call});
    return std::exchange(call, static_cast<uint32_t>(calls.size()));
  }
  // What CustomGradient was given, by the IdentityN that stands for it: of the results, then the
  // inputs.
  struct CustomGradient {
    int num_results;
    std::function<Values(llvm::ArrayRef<Value>)> fn;
  };
  llvm::DenseMap<std::pair<const TraceBody*, NodeId>, CustomGradient> custom_gradients;

  // How many gradients were asked for, and how deep in one another those under way are: of
  // functions.
  int gradient_calls = 0, gradient_depth = 0;

  void Report(const SourceLocation& where, const std::string& text);

  // The same bytes, kept in the module: once where they are short.
  llvm::StringRef KeepAttrs(llvm::StringRef bytes);
  llvm::DenseSet<llvm::StringRef> kept_attrs;
  std::string attrs;  // that are being put together

  std::shared_ptr<int> lifetime = std::make_shared<int>();  // who keeps more of it looks at this
  std::unique_ptr<EagerRunner> eager;                       // of eager mode; goes first
};

// --- Of a value that is ok(), be it traced or eager.
// The node that made it; of an eager one, that of its signature. None: it was given.
Node NodeOf(const Value& value);
SourceLocation LineOf(const Value& value);
// The shape of what is in a variable or list, as ShapeMap::OfContent.
Shape ContentOf(const Value& value);
// The elements of a small integer tensor, where they are known.
std::optional<std::vector<int64_t>> IntegersOf(const Value& value);
// " ('x:0', made at mean.cpp:12) belongs to another Tracer"; "": it is of `state`.
std::string ForeignText(const Value& value, const TraceState& state);

// A name scope that a node and the constants of its inputs share; the node has the scope's own
// name. An empty name opens nothing.
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

// Nodes made while it lasts are within a call of that line.
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
  llvm::StringRef name;  // of a new scope; empty: the op's
  bool exact = false;    // the node has the name of the open scope
  bool own_scope =
      false;  // Python's function for it opens a scope of that name: TraceBody::CallScope
};
// Checks dtypes, finds attributes, makes constants and captures. Not ok() after an error.
Operation MakeOp(TraceState& state, const OpRequest& request, const SourceLocation& where);

// The literal in another dtype; nullopt when that would lose digits or mix kinds.
std::optional<Literal> ConvertNumbers(const Literal& literal, DataType dtype);
Value MakeConstant(TraceBody& body, const Literal& literal, llvm::StringRef name,
                   const SourceLocation& where);
// In its own dtype.
Value ToValue(TraceState& state, const Operand& operand, llvm::StringRef name = "Const");

// An Identity for each result, and the effects of the body ordered before it. Empty after an error.
std::vector<NodeId> EndBody(TraceBody& body, const Values& results, const SourceLocation& where);
// Whether a tensor of `shape` is all that `wanted` promises.
bool IsAsKnown(const Shape& shape, const Shape& wanted);
// What is known of a tensor that is one of the two.
Shape Common(const Shape& a, const Shape& b);
// "base_12", a name that no function has.
std::string FreeFunctionName(TraceState& state, const std::string& base);

// Tracer::WhileLoop and IfElse, in the current body.
Values MakeWhile(TraceState& state, llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond,
                 llvm::function_ref<Values(llvm::ArrayRef<Value>)> body,
                 llvm::ArrayRef<Operand> init, const SourceLocation& where);
Values MakeIf(TraceState& state, const Operand& cond, llvm::function_ref<Values()> then,
              llvm::function_ref<Values()> otherwise, const SourceLocation& where,
              llvm::StringRef name = "cond");

// What tf.function does when a body is complete: effects run in the order of the program, and
// before `results`.
void AddAutomaticControls(TraceBody& body, llvm::ArrayRef<NodeId> results);
// By place, which of these resources nothing in the body writes to: _read_only_resource_inputs of
// who calls it.
std::vector<bool> OnlyRead(const Graph& graph, llvm::ArrayRef<NodeId> resources);

// Turns the placeholders `args` into arguments and makes the signature; the function is complete
// then.
void FinishFunction(TraceBody& body, llvm::ArrayRef<NodeId> args, llvm::ArrayRef<Port> results);
// Gives a function that is complete more arguments and results: whoever calls it hands in more, and
// gets more. The signature has them when this goes.
class FunctionExtender {
 public:
  explicit FunctionExtender(TraceBody& body);
  ~FunctionExtender();
  FunctionExtender(const FunctionExtender&) = delete;
  // Both give its place.
  int AddArgument(DataType dtype, const Shape& shape, llvm::StringRef name);
  int AddResult(Port port, llvm::StringRef name);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A serialized GraphDebugInfo: the line of every node that was traced, within the calls around it,
// and what `imported`, one that the graph had, says of the others.
std::string DebugInfoOf(const TraceState& state, llvm::StringRef imported);

std::string TextOf(const SourceLocation& where);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_BODY_H_
