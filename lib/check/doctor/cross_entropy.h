// Cross-entropies of a network: one op each, or those of tf.nn.sigmoid_cross_entropy_with_logits.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_CROSS_ENTROPY_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_CROSS_ENTROPY_H_

#include <vector>

#include "lib/check/doctor/network.h"

namespace grapnel {

struct CrossEntropy {
  enum Kind : uint8_t {
    kSparse,  // labels are numbers of classes
    kDense,   // labels are rows of probabilities
    kBinary,  // each label a probability of its own
  };
  Kind kind = kSparse;
  Node node;  // the op; of a binary one the Log1p
  BodyPort logits, labels;
};

// Those that run, in the order of nodes. Linear in nodes.
std::vector<CrossEntropy> CrossEntropiesOf(const Network& network);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_CROSS_ENTROPY_H_
