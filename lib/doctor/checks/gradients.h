// Helpers for checks that observe gradients. Private to lib/doctor.
#ifndef GRAPNEL_LIB_DOCTOR_CHECKS_GRADIENTS_H_
#define GRAPNEL_LIB_DOCTOR_CHECKS_GRADIENTS_H_

#include <memory>
#include <vector>

#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"

namespace grapnel {

// The gradient of one variable, with its statistics in each step.
struct SeenGradient {
  const NetworkVariable* variable;
  int index;  // in Network::variables()
  Node node;  // the node that computes the gradient
  std::vector<NumberStatistics> steps;
};

// Watches the gradient of each trained variable for which Network found one.
inline std::vector<std::shared_ptr<SeenGradient>> WatchGradients(const Network& network,
                                                                 TensorWatches& watches) {
  std::vector<std::shared_ptr<SeenGradient>> seen;
  for (size_t i = 0; i < network.variables().size(); ++i) {
    const NetworkVariable& variable = network.variables()[i];
    if (!variable.IsTrained() || variable.updates.empty() || !variable.updates[0].gradient)
      continue;
    BodyPort port = variable.updates[0].gradient;
    auto gradient = std::make_shared<SeenGradient>();
    gradient->variable = &variable;
    gradient->index = static_cast<int>(i);
    gradient->node = port.node();
    watches.Add(port, [gradient](int step, const Tensor& value) {
      if (static_cast<int>(gradient->steps.size()) <= step) gradient->steps.resize(step + 1);
      gradient->steps[step] += StatisticsOf(value);
    });
    seen.push_back(gradient);
  }
  return seen;
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_CHECKS_GRADIENTS_H_
