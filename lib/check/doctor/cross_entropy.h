// The cross-entropies of a network: single ops, or those of
// tf.nn.sigmoid_cross_entropy_with_logits.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_CROSS_ENTROPY_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_CROSS_ENTROPY_H_

#include <vector>

#include "lib/check/doctor/network.h"

namespace grapnel {

struct CrossEntropy {
  enum Kind : uint8_t {
    kSparse,  // labels are class numbers
    kDense,   // labels are rows of probabilities
    kBinary,  // each label is a probability of its own
  };
  Kind kind = kSparse;
  Node node;  // the op; for a binary one its Log1p
  BodyPort logits, labels;
};

// Returns the cross-entropies that run, in the order of nodes. Linear in nodes.
std::vector<CrossEntropy> CrossEntropiesOf(const Network& network);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_CROSS_ENTROPY_H_
