// The activations of a network: elementwise functions, of one op or several.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_ACTIVATION_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_ACTIVATION_H_

#include <string>
#include <vector>

#include "lib/check/doctor/network.h"

namespace grapnel {

struct Activation {
  Node node;         // the node that computes its result
  std::string name;  // the op, or "GELU"
  BodyPort input;
  BodyPort output() const { return {node, 0}; }
};

// Returns the activations that run, in the order of nodes. A GELU (x/2 times 1 + erf(x/√2),
// erfc(-x/√2), or 1 + tanh of x and its cube) takes the place of the Erf, Erfc or Tanh in it, which
// is not listed itself. Linear in nodes.
std::vector<Activation> ActivationsOf(const Network& network);

// True if it is between two layers. An activation whose result is multiplied is a gate, as in an
// LSTM, which may well be open or shut.
bool IsHiddenActivation(const Network& network, const Activation& activation);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_ACTIVATION_H_
