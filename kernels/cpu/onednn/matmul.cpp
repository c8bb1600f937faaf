// Matrix products, batched or single.
#include <algorithm>

#include "kernels/cpu/onednn/primitive.h"

namespace grapnel::onednn {
namespace {

using Dims = dnnl::memory::dims;

// Describes a batch of row-major matrices [rows, columns], or of their stored transposes. A single
// matrix has no batch dimension, for which oneDNN has faster code.
dnnl::memory::desc MatrixDesc(bool batched, int64_t batch, int64_t rows, int64_t columns,
                              int64_t stride, bool transposed) {
  Dims dims{rows, columns}, strides{stride, 1};
  if (transposed) strides = {1, stride};
  if (batched) {
    dims.insert(dims.begin(), batch);
    strides.insert(strides.begin(), rows * columns);
  }
  return {dims, dnnl::memory::data_type::f32, strides};
}

}  // namespace

GrapnelPrimitive* MakeMatMul(const GrapnelMatMulSpec& spec) {
  int64_t batch = std::max(spec.a_batch, spec.b_batch);
  bool batched = batch > 1;
  dnnl::memory::desc a =
      MatrixDesc(batched, spec.a_batch, spec.m, spec.k, spec.a_stride, spec.transpose_a);
  dnnl::memory::desc b =
      MatrixDesc(batched, spec.b_batch, spec.k, spec.n, spec.b_stride, spec.transpose_b);
  dnnl::memory::desc c = MatrixDesc(batched, batch, spec.m, spec.n, spec.c_stride, false);
  // Weights that are not constant are used in their own layout: reordering them would cost as much
  // as the product of a few rows.
  dnnl::memory::desc chosen_b =
      spec.constant_b ? dnnl::memory::desc(b.dims(), b.data_type(), dnnl::memory::format_tag::any)
                      : b;
  Dims bias_dims(batched ? 3 : 2, 1), bias_strides(batched ? 3 : 2, spec.n);
  bias_dims.back() = spec.n;
  bias_strides.back() = 1;
  dnnl::memory::desc bias(bias_dims, dnnl::memory::data_type::f32, bias_strides);
  dnnl::matmul::desc desc = spec.epilogue.bias ? dnnl::matmul::desc(a, chosen_b, bias, c)
                                               : dnnl::matmul::desc(a, chosen_b, c);
  dnnl::matmul::primitive_desc chosen(desc, Attributes(spec.epilogue), Engine());
  return new GrapnelPrimitive(chosen, b, spec.epilogue.bias, spec.constant_b, spec.parts);
}

}  // namespace grapnel::onednn
