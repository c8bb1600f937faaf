// Converts tensors of a run to Python arrays, and back.
#ifndef GRAPNEL_PYTHON_SRC_VALUES_H_
#define GRAPNEL_PYTHON_SRC_VALUES_H_

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel::python {

// A C-contiguous array in host memory. Dtypes that DLPack lacks (bfloat16, float8, qint8) appear as
// the unsigned integer of the same size, int4 and int2 as int8; the caller knows the actual dtype.
using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

// Converts (dtype, dims, elements), as ValueOf returns them. Shares the array's memory if it is
// aligned; else, and for strings, copies the elements. Throws ValueError if `dtype`, TensorFlow's
// name, has another element size or does not exist.
Tensor TensorOf(const nanobind::tuple& value);

// Converts a tensor to (dtype, dims, elements). Elements are a numpy array that shares the tensor's
// memory, read-only if the tensor has other owners; for strings a list of bytes; for dtypes that
// exist only during a run (such as resource), a text that describes the value.
nanobind::tuple ValueOf(Tensor tensor);

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_VALUES_H_
