// What a Tracer keeps in eager mode: kernels by signature, and the ops that tapes and hooks see.
// Private to lib/trace.
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

// One output of an op that has run, or a value that was given.
class EagerTensor : public EagerObject {
 public:
  EagerTensor(TraceBody* body, Tensor tensor, const SourceLocation& where)
      : EagerObject(body, /*is_operation=*/false), tensor(std::move(tensor)), where(where) {}

  Tensor tensor;
  Node made_by;  // the node of its signature; none: it was given
  SourceLocation where;
  uint32_t frame = 0;      // the call of a branch or loop that it was made in; 0: none
  uint32_t recording = 0;  // the recording that it is in, by number; 0: none
  Port recorded;           // there
  std::string error;       // not empty: there is no tensor
};

// An op with another number of outputs than one.
class EagerOperation : public EagerObject {
 public:
  explicit EagerOperation(TraceBody* body) : EagerObject(body, /*is_operation=*/true) {}
  Values outputs;
  Node made_by;
};

// What tapes and hooks see of an eager program: a node for each op, beside the values that it read
// and made as long as a tape looks.
struct EagerRecording {
  // `into`: the empty graph that nodes go to; null: one of its own.
  EagerRecording(TraceState* state, TraceBody* outer, uint32_t number, Graph* into);

  std::unique_ptr<Graph> own;
  Graph& graph;
  TraceBody body;
  const uint32_t number;
  int tapes = 0;   // that see what is made now
  int owners = 0;  // tapes that may still ask
  llvm::DenseMap<std::pair<NodeId, int32_t>, Value> values;
  // Of calls: the gradient that goes with the forward function that has run.
  llvm::DenseMap<NodeId, const FunctionGradient*> calls;
};

class EagerRunner {
 public:
  EagerRunner(TraceState& state, const EagerOptions& options);
  ~EagerRunner();

  // Runs the op. Not ok() after an error, which is reported; the value of an input that is not ok()
  // stands for the result then.
  Operation Run(const OpRequest& request, const SourceLocation& where);
  Value Give(Tensor tensor, const SourceLocation& where);
  Value Constant(const Literal& literal, const SourceLocation& where);
  // Reports the error, and gives a value that has it.
  Value Fail(const SourceLocation& where, const std::string& text);
  // The same of an error that has just been reported.
  Value FailedAlready();

  // --- Calls of branches and bodies: values that they made are seen outside where they are given
  // as results.
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
  // What stands for a result then.
  Value Cancelled(const SourceLocation& where);

  // --- Recordings.
  bool records() const { return recording_ && (recording_->tapes > 0 || options_.hook); }
  // The one that there is; null: none.
  EagerRecording* recording() const { return recording_.get(); }
  // For a tape: records from now on. The recording stays until Leave().
  EagerRecording& Join();
  void Pause() { --recording_->tapes; }
  void Leave();
  // SourceLocation the value is in the recording; one that is not there becomes a node that is given.
  Port PortIn(const Value& value, llvm::StringRef name = {});
  // Gradients of the inputs of a call that is recorded, which has handed out what `of` captures.
  InputGradients GradientOfCall(GradientContext& g, const FunctionGradient& of);
  std::string UniqueName(llvm::StringRef name, const std::string& scope);

  const EagerOptions& options() const { return options_; }

 private:
  // What ops of one name, attributes and dtypes share.
  struct Signature {
    Node node;
    BoundKernel kernel;
    llvm::SmallVector<DataType, 2> outputs;
    // By operand: what a number is made; DT_INVALID of values.
    llvm::SmallVector<DataType, 4> literals;
    bool is_call = false;  // runs a function of the library
  };
  using Inputs = llvm::SmallVector<Value, 4>;

  // Whether all operands are there to be seen; `result` is what stands for the result if not.
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
  TraceBody& body_;  // the main one
  EagerOptions options_;
  std::unique_ptr<ThreadPool> own_pool_;
  Session own_session_;
  std::unique_ptr<Allocator> allocator_;
  RunServices services_;
  // A node for each signature, whose inputs are stand-ins of their dtypes.
  Graph signature_graph_;
  TraceBody signature_body_;
  llvm::DenseMap<int, NodeId> stand_ins_;
  llvm::StringMap<std::unique_ptr<Signature>> signatures_;
  std::vector<std::unique_ptr<Signature>> named_;  // of ops that make a resource of their own
  // By function; and by "function:" and which of its results have gradients.
  llvm::StringMap<std::unique_ptr<FunctionGradient>> gradients_;
  llvm::StringMap<bool> needs_name_;  // by op
  std::vector<uint32_t> frames_;
  uint32_t num_frames_ = 0, num_recordings_ = 0;
  bool has_said_cancelled_ = false;
  std::unique_ptr<EagerRecording> recording_;
};

// The eager tensor of a value that is ok(); null of a traced one.
EagerTensor* EagerOf(const Value& value);

// Tracer::WhileLoop, IfElse and SwitchCase where the current body is eager.
Values RunWhile(TraceState& state, llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond,
                llvm::function_ref<Values(llvm::ArrayRef<Value>)> body,
                llvm::ArrayRef<Operand> init, const SourceLocation& where);
Values RunIf(TraceState& state, const Operand& cond, llvm::function_ref<Values()> then,
             llvm::function_ref<Values()> otherwise, const SourceLocation& where);
Values RunCase(TraceState& state, const Operand& index,
               llvm::ArrayRef<llvm::function_ref<Values()>> branches, const SourceLocation& where);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_EAGER_RUNNER_H_
