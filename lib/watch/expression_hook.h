// Evaluates expressions over the tensors of a run while it runs.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_HOOK_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_HOOK_H_

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/watch/expression_place.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// Evaluates each expression once all of its tensors are available, in each call of the function
// that has them and in each iteration; the value of a tensor outside of a loop is used in every
// iteration of the loop. Only these tensors are observed. Nodes are identified by name, so that a
// copied or partitioned graph works too.
class ExpressionHook : public RunHook {
 public:
  // Adds an expression to evaluate. Returns its index, from 0. Call it before the plan is made.
  size_t Watch(ExpressionPlace place);
  // Sets the value of a fed tensor of the main graph for this run, since no node computes it. Call
  // it before the run. Errors: those of OnValues().
  Error SetFed(Port port, const Tensor& value);
  // Forgets the values seen so far. Call it before each run.
  void Clear();

  bool Wants(const Node& node) override;
  bool SeesInputs() const override { return sees_inputs_; }
  bool EditsOutputs() const override { return false; }
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;
  void OnCall(const CallFrame& call) override;

  // Returns a tensor of the expression in the main graph that is neither computed by a node of a
  // plan nor fed; empty if there is no such tensor, or the expression is over tensors of a function
  // (functions are compiled later, when they are called).
  std::string NotComputed(size_t expression) const;
  const ExpressionPlace& place(size_t expression) const { return watched_[expression].place; }

 protected:
  // Called on any thread with the values of the expression's tensors, in the order of
  // ExpressionPlace::names. `maker` is the node that computed the last of these values; null if
  // that was fed.
  virtual Error OnValues(size_t expression, const Node& maker, llvm::ArrayRef<Tensor> values) = 0;

 private:
  // Identifies when a tensor was computed: in which call of a function, and in which iterations of
  // the loops in the function's body, outermost first.
  struct Moment {
    const CallFrame* call = nullptr;
    std::vector<std::pair<std::string, int64_t>> iterations;
    bool operator<(const Moment& other) const {
      return std::tie(call, iterations) < std::tie(other.call, other.iterations);
    }
  };
  struct Watched {
    ExpressionPlace place;
    std::string function;  // the function that has the tensors; empty: main
    std::vector<std::string> makers;
    std::vector<Tensor> lasting;  // by tensor: its value if it is fed or constant
    std::map<Moment, std::vector<Tensor>> seen;
    std::vector<bool> is_planned;
  };
  // Output or input `index` of a node is tensor `tensor` of `expression`.
  struct Use {
    size_t expression, tensor;
    int index;
  };
  using Uses = llvm::DenseMap<std::pair<const Graph*, NodeId>, std::vector<Use>>;

  static Moment Now();
  const std::string& FunctionNameOf(const Graph& body);  // under the lock; empty: main
  bool WantsInputs(const Node& node);
  Error Take(const Use& use, const Node& maker, const Tensor& value, bool lasts);
  static void ForgetOldIterations(Watched& watched, const Moment& now);
  bool Complete(Watched& watched, const Use& use, const Tensor& value, bool lasts,
                std::vector<Tensor>* values);

  std::vector<Watched> watched_;
  bool sees_inputs_ = false;  // some tensors are arguments of functions
  mutable std::mutex mutex_;
  Uses outputs_, inputs_;
  llvm::DenseMap<const Graph*, std::string> functions_;
  std::set<std::tuple<const Graph*, size_t, size_t>> read_;  // arguments whose reader is known
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_HOOK_H_
