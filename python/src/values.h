// Tensors of a run as arrays of Python, and back.
#ifndef GRAPNEL_PYTHON_SRC_VALUES_H_
#define GRAPNEL_PYTHON_SRC_VALUES_H_

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel::python {

// C-contiguous, in the host's memory. Its bits are of a dtype that the other side knows: what
// DLPack does not have (bfloat16, float8) comes as the unsigned integer of its size.
using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

// Of (dtype, dims, elements), as ValueOf has them. The array's own memory where elements lie
// aligned in it, else a copy. Throws ValueError where `dtype`, TensorFlow's name, is of another
// size, or none.
Tensor TensorOf(const nanobind::tuple& value);

// (dtype, dims, elements): an array of numpy, read-only where others hold the tensor, that shares
// the tensor's memory, of strings a list of bytes, of what lives in a run alone the text that
// stands for it.
nanobind::tuple ValueOf(Tensor tensor);

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_VALUES_H_
