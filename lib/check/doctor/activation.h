// Activations of a network: functions of single elements, of one op or of several.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_ACTIVATION_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_ACTIVATION_H_

#include <string>
#include <vector>

#include "lib/check/doctor/network.h"

namespace grapnel {

struct Activation {
  Node node;         // that gives its result
  std::string name;  // the op, or "GELU"
  BodyPort input;
  BodyPort output() const { return {node, 0}; }
};

// Those that run, in the order of nodes; of a GELU (x/2 times 1 + erf(x/√2), erfc(-x/√2), or
// 1 + tanh of x and its cube) that of the Erf, Erfc or Tanh in it, which is none by itself. Linear
// in nodes.
std::vector<Activation> ActivationsOf(const Network& network);

// Whether it is between two layers. One whose result is multiplied is a gate, as an LSTM has them,
// and may well be open or shut.
bool IsHiddenActivation(const Network& network, const Activation& activation);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_ACTIVATION_H_
