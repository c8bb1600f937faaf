// State of a Tracer in eager mode: one kernel for each signature of an op, and the ops that tapes
// and hooks see. Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_EAGER_RUNNER_H_
#define GRAPNEL_LIB_TRACE_EAGER_RUNNER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/bound_kernel.h"
#include "lib/exec/executor.h"
#include "lib/exec/session.h"
#include "lib/support/cancel.h"
#include "lib/trace/body.h"
#include "lib/trace/eager.h"
#include "lib/trace/gradient_rule.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

struct FunctionGradient;  // lib/trace/function_gradient.h

// One output of an op that has run, or a tensor that the user gave.
class EagerTensor : public EagerObject {
 public:
  EagerTensor(TraceBody* body, Tensor tensor, const SourceLocation& where)
      : EagerObject(body, /*is_operation=*/false), tensor(std::move(tensor)), where(where) {}

  Tensor tensor;
  Node made_by;  // the node of its op's signature; no node: the user gave the tensor
  SourceLocation where;
  uint32_t frame = 0;      // the branch or loop body call outside which it is not visible; 0: none
  uint32_t recording = 0;  // number of the recording that contains it; 0: not recorded
  Port recorded;           // its port in the recording
  std::string error;       // if not empty, there is no tensor
};

// The outputs of an op that has none or several.
class EagerOperation : public EagerObject {
 public:
  explicit EagerOperation(TraceBody* body) : EagerObject(body, /*is_operation=*/true) {}
  Values outputs;
  Node made_by;
};

// An eager program as tapes and hooks see it: a node for each op and, while a tape records, the
// values that the op read and made.
struct EagerRecording {
  // `into` is the empty graph that receives the nodes; null: the recording makes its own.
  EagerRecording(TraceState* state, TraceBody* outer, uint32_t number, Graph* into);

  std::unique_ptr<Graph> own;
  Graph& graph;
  TraceBody body;
  const uint32_t number;
  int tapes = 0;  // tapes that are recording; EagerOptions::records counts as one
  // The number of tapes that may still need the recording; a hook or EagerOptions::records counts
  // as one.
  int owners = 0;
  llvm::DenseMap<std::pair<NodeId, int32_t>, Value> values;
  // For the node of each call: the gradient of the function that the call ran.
  llvm::DenseMap<NodeId, const FunctionGradient*> calls;
};

class EagerRunner {
 public:
  EagerRunner(TraceState& state, const EagerOptions& options);
  ~EagerRunner();

  // Runs the op. The result is not ok() after an error, which is reported; if an input is not ok(),
  // the result has that input's error and the op does not run.
  Operation Run(const OpRequest& request, const SourceLocation& where);
  Value Give(Tensor tensor, const SourceLocation& where);
  Value Constant(const Literal& literal, const SourceLocation& where);
  // Reports the error and returns a value that has it.
  Value Fail(const SourceLocation& where, const std::string& text);
  // Returns a value that has the error that was just reported.
  Value FailedAlready();

  // --- Calls of branches and loop bodies. A value made during such a call is visible outside only
  // if the branch or body returns it.
  class Call {
   public:
    explicit Call(EagerRunner& runner) : runner_(runner) {
      runner.frames_.push_back(++runner.num_frames_);
    }
    ~Call() { runner_.frames_.pop_back(); }
    Call(const Call&) = delete;
    void GiveOut(const Values& results) const;

   private:
    EagerRunner& runner_;
  };
  bool IsSeen(const EagerTensor& tensor) const;
  bool IsCancelled() const { return options_.cancel && options_.cancel->is_set(); }
  // Returns a value with the error that the run is cancelled; reports that error once.
  Value Cancelled(const SourceLocation& where);

  // --- Recordings.
  bool records() const { return recording_ && (recording_->tapes > 0 || options_.hook); }
  // The current recording, or null.
  EagerRecording* recording() const { return recording_.get(); }
  // Starts recording for a tape, or joins the recording of other tapes. The recording stays until
  // Leave() has been called once for each Join().
  EagerRecording& Join();
  void Pause() { --recording_->tapes; }
  void Leave();
  // Returns the value's port in the recording; adds a Placeholder for a tensor that is not recorded
  // yet: one that the user gave, or that was made before the recording began.
  Port PortIn(const Value& value, llvm::StringRef name = {});
  // Returns the gradients of the inputs of a recorded call. The call has also returned the tensors
  // that `of` captures.
  InputGradients GradientOfCall(GradientContext& g, const FunctionGradient& of);
  std::string UniqueName(llvm::StringRef name, const std::string& scope);

  const EagerOptions& options() const { return options_; }

 private:
  // State shared by ops with the same name, attributes and dtypes.
  struct Signature {
    Node node;
    BoundKernel kernel;
    llvm::SmallVector<DataType, 2> outputs;
    // By operand: the dtype that C++ numbers are converted to; DT_INVALID if the operand is a
    // Value.
    llvm::SmallVector<DataType, 4> literals;
    bool is_call = false;  // calls a function of the library
  };
  using Inputs = llvm::SmallVector<Value, 4>;

  // True if all operands are ok() and visible in the current call; if not, `result` receives the
  // op's result.
  bool CheckOperands(const OpRequest& request, const SourceLocation& where, Operation* result);
  std::string ProblemOf(const Value& value) const;
  Signature* SignatureOf(const OpRequest& request, const SourceLocation& where);
  std::unique_ptr<Signature> MakeSignature(const OpRequest& request, const SourceLocation& where);
  Expected<std::unique_ptr<Signature>> BindKernel(const Operation& made);
  bool NeedsName(const OpRequest& request);
  Operation RunNamed(const OpRequest& request, const SourceLocation& where);
  bool TakeInputs(const OpRequest& request, const Signature& signature, const SourceLocation& where,
                  Inputs* inputs);
  Operation RunOn(const OpRequest& request, const Signature& signature, const Inputs& inputs,
                  const SourceLocation& where);
  Operation RunCall(const OpRequest& request, const Signature& signature, const Inputs& inputs,
                    const SourceLocation& where);
  Error CallKernel(const Signature& signature, llvm::MutableArrayRef<Tensor> inputs,
                   llvm::MutableArrayRef<Tensor> outputs, NodeId recorded);
  Operation Wrap(const Signature& signature, llvm::MutableArrayRef<Tensor> outputs, NodeId recorded,
                 const SourceLocation& where);
  NodeId Record(const OpRequest& request, const Signature& signature, const Inputs& inputs,
                const SourceLocation& where);
  void KeepOutputs(NodeId node, const Operation& made, size_t count);
  const FunctionGradient* GradientOf(const Signature& signature);
  Node StandInOf(DataType dtype);
  void LogPlacement(llvm::StringRef op);

  TraceState& state_;
  TraceBody& body_;  // the body of the eager program itself
  EagerOptions options_;
  std::unique_ptr<ThreadPool> own_pool_;
  Session own_session_;
  std::unique_ptr<Allocator> allocator_;
  RunServices services_;
  // Has a node for each signature. Placeholders, one for each dtype, stand for the Values among the
  // inputs of these nodes.
  Graph signature_graph_;
  TraceBody signature_body_;
  llvm::DenseMap<int, NodeId> stand_ins_;
  llvm::StringMap<std::unique_ptr<Signature>> signatures_;
  std::vector<std::unique_ptr<Signature>> named_;  // of ops that make a resource of their own
  // Key: the function's name; for a second derivative "name:" and, for each result, 1 if it has a
  // gradient, else 0.
  llvm::StringMap<std::unique_ptr<FunctionGradient>> gradients_;
  llvm::StringMap<bool> needs_name_;  // by op
  std::vector<uint32_t> frames_;
  uint32_t num_frames_ = 0, num_recordings_ = 0;
  bool has_said_cancelled_ = false;
  std::unique_ptr<EagerRecording> recording_;
};

// Returns the eager tensor of a value that is ok(); null for a traced value.
EagerTensor* EagerOf(const Value& value);

// Tracer::WhileLoop, IfElse and SwitchCase when the current body is eager.
Values RunWhile(TraceState& state, llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond,
                llvm::function_ref<Values(llvm::ArrayRef<Value>)> body,
                llvm::ArrayRef<Operand> init, const SourceLocation& where);
Values RunIf(TraceState& state, const Operand& cond, llvm::function_ref<Values()> then,
             llvm::function_ref<Values()> otherwise, const SourceLocation& where);
Values RunCase(TraceState& state, const Operand& index,
               llvm::ArrayRef<llvm::function_ref<Values()>> branches, const SourceLocation& where);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_EAGER_RUNNER_H_
