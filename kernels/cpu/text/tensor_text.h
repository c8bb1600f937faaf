// Tensors as TensorFlow's printing ops format them. Tests compare logs, so every space matters.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_TENSOR_TEXT_H_
#define GRAPNEL_KERNELS_CPU_TEXT_TENSOR_TEXT_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

// Returns the shorter of %.6g and %.9g (for double %.15g and %.17g) that parses back to the same
// number.
std::string FloatText(float value);
std::string FloatText(double value);

// Formats as Assert and Print do: at most `limit` elements (-1: all), rows in brackets, no commas
// and no outer brackets: `[0 1 2][3...]...`.
std::string SummaryText(const Tensor& tensor, int64_t limit);

// Formats as StringFormat (tf.print) does: the first and last `edge` entries of each dimension (-1:
// all), one row per line, strings quoted: `[0 1 2 ... 7 8 9]`.
std::string EdgesText(const Tensor& tensor, int64_t edge);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_TENSOR_TEXT_H_
