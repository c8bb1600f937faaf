// Asks expressions of the tensors of a run while it goes on.
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

// Each expression is asked when all of its tensors are there: of one call of their body, and of one
// iteration, where a tensor outside of a loop counts in each of its iterations. Nothing but those
// tensors is looked at. Nodes are known by their names, so that a graph that was copied or split
// may run.
class ExpressionHook : public RunHook {
 public:
  // Gives the number of the expression, from 0. Before the plan is made.
  size_t Watch(ExpressionPlace place);
  // A value that is given in this run, of a tensor of the main graph that no node then makes.
  // Before the run.
  Error SetFed(Port port, const Tensor& value);
  // Before each run: what was seen is forgotten.
  void Clear();

  bool Wants(const Node& node) override;
  bool SeesInputs() const override { return sees_inputs_; }
  bool EditsOutputs() const override { return false; }
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;
  void OnCall(const CallFrame& call) override;

  // Of its tensors in the main graph, one that neither a node of a plan makes nor anybody gave;
  // empty: there is none, or they are of a function, which is compiled when it is called.
  std::string NotComputed(size_t expression) const;
  const ExpressionPlace& place(size_t expression) const { return watched_[expression].place; }

 protected:
  // All tensors of the expression are there, in the order of its names. On any thread. `maker`: the
  // node that made the last of them; none: it was fed.
  virtual Error OnValues(size_t expression, const Node& maker, llvm::ArrayRef<Tensor> values) = 0;

 private:
  // Where a tensor was made: in which call, in which iterations of loops there, outermost first.
  struct Moment {
    const CallFrame* call = nullptr;
    std::vector<std::pair<std::string, int64_t>> iterations;
    bool operator<(const Moment& other) const {
      return std::tie(call, iterations) < std::tie(other.call, other.iterations);
    }
  };
  struct Watched {
    ExpressionPlace place;
    std::string function;  // of the body; empty: main
    std::vector<std::string> makers;
    std::vector<Tensor> lasting;  // fed values and constants, by tensor
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
  bool sees_inputs_ = false;  // arguments of functions, which no node makes
  mutable std::mutex mutex_;
  Uses outputs_, inputs_;
  llvm::DenseMap<const Graph*, std::string> functions_;
  std::set<std::tuple<const Graph*, size_t, size_t>> read_;  // arguments that have a reader
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_HOOK_H_
