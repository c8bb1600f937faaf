// A hook that calls the checks' callbacks with the tensors that they watch.
#ifndef GRAPNEL_LIB_DOCTOR_OBSERVER_H_
#define GRAPNEL_LIB_DOCTOR_OBSERVER_H_

#include <map>
#include <mutex>
#include <vector>

#include "lib/doctor/doctor.h"
#include "lib/exec/executor.h"

namespace grapnel {

// Observes consecutive runs of one graph. The watches and the network must outlive the observer.
class Observer : public RunHook {
 public:
  Observer(const Network& network, const TensorWatches& watches);
  void BeginStep(int step) { step_ = step; }
  // Passes the fed value of a tensor of the main graph to the checks. Call it in each step.
  void Feed(const BodyPort& port, const Tensor& value);

  bool Wants(const Node& node) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;

 private:
  using Key = std::pair<const Graph*, NodeId>;
  struct Wish {
    int index;  // index of an output or an input
    const TensorWatches::See* see;
  };
  void Show(const Wish& wish, llvm::ArrayRef<Tensor> values);

  std::mutex mutex_;
  int step_ = 0;
  llvm::DenseMap<Key, std::vector<Wish>> inputs_, outputs_, feeds_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_OBSERVER_H_
