// Finds the cross-entropies of a network: single ops, or the ops that
// tf.nn.sigmoid_cross_entropy_with_logits makes.
#ifndef GRAPNEL_LIB_DOCTOR_CROSS_ENTROPY_H_
#define GRAPNEL_LIB_DOCTOR_CROSS_ENTROPY_H_

#include <vector>

#include "lib/doctor/network.h"

namespace grapnel {

struct CrossEntropy {
  enum Kind : uint8_t {
    kSparse,  // labels are class indices
    kDense,   // labels are rows of probabilities
    kBinary,  // each label is an independent probability
  };
  Kind kind = kSparse;
  Node node;  // the op; for kBinary the Log1p
  BodyPort logits, labels;
};

// Returns the cross-entropies among network.nodes(), in that order. Cost: linear in the number of
// nodes.
std::vector<CrossEntropy> CrossEntropiesOf(const Network& network);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_CROSS_ENTROPY_H_
