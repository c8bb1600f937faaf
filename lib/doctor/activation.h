// The activations of a network: elementwise nonlinearities, which consist of one op or several.
#ifndef GRAPNEL_LIB_DOCTOR_ACTIVATION_H_
#define GRAPNEL_LIB_DOCTOR_ACTIVATION_H_

#include <string>
#include <vector>

#include "lib/doctor/network.h"

namespace grapnel {

struct Activation {
  Node node;         // the node that computes the activation's output
  std::string name;  // the op's type, or "GELU"
  BodyPort input;
  BodyPort output() const { return {node, 0}; }
};

// Returns the activations among the forward nodes in network.nodes(), in that order. A GELU (x/2
// times 1 + erf(x/√2), erfc(-x/√2), or 1 + tanh of x and its cube) is listed instead of the Erf,
// Erfc or Tanh in it. Cost: linear in the number of nodes.
std::vector<Activation> ActivationsOf(const Network& network);

// True if a layer reads the activation's output, directly or indirectly, and the activation is not
// a gate. An activation whose output is multiplied is a gate, as in an LSTM; a gate may
// legitimately be saturated.
bool IsHiddenActivation(const Network& network, const Activation& activation);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_ACTIVATION_H_
