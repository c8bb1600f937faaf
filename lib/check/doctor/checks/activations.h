// What checks of activations share. Private to lib/check.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_CHECKS_ACTIVATIONS_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_CHECKS_ACTIVATIONS_H_

#include "lib/check/doctor/network.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

// An activation between two layers. One whose result is multiplied is a gate, as an LSTM has them,
// and may well be open or shut.
inline bool IsHiddenActivation(const Network& network, const Node& node) {
  if (!Network::IsActivation(node.op()) || !network.IsForward(node)) return false;
  BodyPort output(node, 0);
  if (!network.IsHidden(output)) return false;
  return llvm::none_of(network.flow().Readers(output), [&](const auto& reader) {
    return reader.first.op() == "Mul" && network.IsForward(reader.first);
  });
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_CHECKS_ACTIVATIONS_H_
