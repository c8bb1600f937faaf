// A hook that shows the tensors of a run to the checks that watch them.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_OBSERVER_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_OBSERVER_H_

#include <map>
#include <mutex>
#include <vector>

#include "lib/check/doctor/doctor.h"
#include "lib/exec/executor.h"

namespace grapnel {

// Observes runs of one graph in turn. The watches and the network must outlive it.
class Observer : public RunHook {
 public:
  Observer(const Network& network, const TensorWatches& watches);
  void BeginStep(int step) { step_ = step; }
  // Adds the fed value of a tensor of the main graph, in each step.
  void Feed(const BodyPort& port, const Tensor& value);

  bool Wants(const Node& node) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;

 private:
  using Key = std::pair<const Graph*, NodeId>;
  struct Wish {
    int index;  // of an output or an input
    const TensorWatches::See* see;
  };
  void Show(const Wish& wish, llvm::ArrayRef<Tensor> values);

  std::mutex mutex_;
  int step_ = 0;
  llvm::DenseMap<Key, std::vector<Wish>> inputs_, outputs_, feeds_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_OBSERVER_H_
