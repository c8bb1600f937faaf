// Tensors as TensorFlow's printing ops write them. Tests compare logs, so every space counts.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_TENSOR_TEXT_H_
#define GRAPNEL_KERNELS_CPU_TEXT_TENSOR_TEXT_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

// The shortest of %.6g and %.9g (for double %.15g and %.17g) that reads back as the same number.
std::string FloatText(float value);
std::string FloatText(double value);

// As Assert and Print show it: at most `limit` elements in all (-1: every one), rows in brackets
// without commas, no outer brackets: `[0 1 2][3...]...`.
std::string SummaryText(const Tensor& tensor, int64_t limit);

// As StringFormat (tf.print) shows it: the first and last `edge` entries of each dimension (-1:
// every one), one row a line, strings in quotes: `[0 1 2 ... 7 8 9]`.
std::string EdgesText(const Tensor& tensor, int64_t edge);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_TENSOR_TEXT_H_
