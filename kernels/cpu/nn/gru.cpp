// One step of a gated recurrent unit as a single op, and its gradient
// (tensorflow/core/kernels/rnn/gru_ops.cc).
#include <cmath>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/linalg/gemm.h"

namespace grapnel {
namespace {

struct Sizes {
  int64_t batch = 0, inputs = 0, cells = 0;
  int64_t both() const { return inputs + cells; }
  int64_t state() const { return batch * cells; }
};

// Checks inputs x, h_prev, w_ru, w_c, b_ru, b_c, followed by `states` tensors of the state's shape.
Expected<Sizes> CheckSizes(const KernelContext& ctx, int states) {
  const Tensor &x = ctx.input(0), &h = ctx.input(1);
  if (x.rank() != 2 || h.rank() != 2) {
    return MakeError("x of shape {0} and h_prev of shape {1}: matrices were expected",
                     DimsText(x.dims()), DimsText(h.dims()));
  }
  Sizes n{x.dim(0), x.dim(1), h.dim(1)};
  std::vector<Dims> expected = {{n.batch, n.inputs}, {n.batch, n.cells}, {n.both(), 2 * n.cells},
                                {n.both(), n.cells}, {2 * n.cells},      {n.cells}};
  for (int i = 0; i < states; ++i) expected.push_back({n.batch, n.cells});
  for (size_t i = 0; i < expected.size(); ++i) {
    if (ctx.input(i).dims() == llvm::ArrayRef<int64_t>(expected[i])) continue;
    return MakeError("input {0} is of shape {1}, {2} was expected", i,
                     DimsText(ctx.input(i).dims()), DimsText(expected[i]));
  }
  return n;
}

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// Returns [x, h] row by row; h is multiplied by `gate` unless that is null.
std::vector<float> Joined(const Sizes& n, const float* x, const float* h, const float* gate) {
  std::vector<float> rows(n.batch * n.both());
  for (int64_t r = 0; r < n.batch; ++r) {
    float* to = rows.data() + r * n.both();
    std::copy_n(x + r * n.inputs, n.inputs, to);
    for (int64_t c = 0; c < n.cells; ++c) {
      int64_t at = r * n.cells + c;
      to[n.inputs + c] = gate ? h[at] * gate[at] : h[at];
    }
  }
  return rows;
}

Error Cell(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Sizes n, CheckSizes(ctx, 0));
  auto in = [&](int i) { return ctx.input(i).data<float>(); };
  float* out[4];
  for (int i = 0; i < 4; ++i) {
    ASSIGN_OR_RETURN(Tensor * tensor, ctx.Allocate(i, {n.batch, n.cells}));
    out[i] = tensor->data<float>();
  }
  auto [r, u, c, h] = out;
  std::vector<float> gates(n.batch * 2 * n.cells);
  Gemm<float>({n.batch, 2 * n.cells, n.both(), n.both(), 2 * n.cells, 2 * n.cells},
              Joined(n, in(0), in(1), nullptr).data(), in(2), gates.data());
  for (int64_t at = 0; at < n.state(); ++at) {
    int64_t cell = at % n.cells;
    const float* row = gates.data() + at / n.cells * 2 * n.cells;
    r[at] = Sigmoid(row[cell] + in(4)[cell]);
    u[at] = Sigmoid(row[n.cells + cell] + in(4)[n.cells + cell]);
  }
  Gemm<float>({n.batch, n.cells, n.both(), n.both(), n.cells, n.cells},
              Joined(n, in(0), in(1), r).data(), in(3), c);
  for (int64_t at = 0; at < n.state(); ++at) {
    c[at] = std::tanh(c[at] + in(5)[at % n.cells]);
    h[at] = u[at] * in(1)[at] + (1 - u[at]) * c[at];
  }
  return Error::success();
}

// Inputs after the cell's: r, u, c, d_h. Outputs: d_x, d_h_prev, d_c_bar, d_r_bar_u_bar.
Error Gradient(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Sizes n, CheckSizes(ctx, 4));
  auto in = [&](int i) { return ctx.input(i).data<float>(); };
  const float *h_prev = in(1), *r = in(6), *u = in(7), *c = in(8), *d_h = in(9);
  ASSIGN_OR_RETURN(Tensor * d_x, ctx.Allocate(0, {n.batch, n.inputs}));
  ASSIGN_OR_RETURN(Tensor * d_h_prev, ctx.Allocate(1, {n.batch, n.cells}));
  ASSIGN_OR_RETURN(Tensor * d_c_out, ctx.Allocate(2, {n.batch, n.cells}));
  ASSIGN_OR_RETURN(Tensor * d_ru_out, ctx.Allocate(3, {n.batch, 2 * n.cells}));
  float *d_c = d_c_out->data<float>(), *d_ru = d_ru_out->data<float>();
  std::vector<float> d_xhr(n.batch * n.both()), d_xh(n.batch * n.both());
  for (int64_t at = 0; at < n.state(); ++at) d_c[at] = d_h[at] * (1 - u[at]) * (1 - c[at] * c[at]);
  Gemm<float>({n.batch, n.both(), n.cells, n.cells, n.cells, n.both(), false, true}, d_c, in(3),
              d_xhr.data());
  for (int64_t at = 0; at < n.state(); ++at) {
    int64_t row = at / n.cells, cell = at % n.cells;
    float d_hr = d_xhr[row * n.both() + n.inputs + cell];
    d_ru[row * 2 * n.cells + cell] = d_hr * h_prev[at] * r[at] * (1 - r[at]);
    d_ru[(row * 2 + 1) * n.cells + cell] = d_h[at] * (h_prev[at] - c[at]) * u[at] * (1 - u[at]);
  }
  Gemm<float>({n.batch, n.both(), 2 * n.cells, 2 * n.cells, 2 * n.cells, n.both(), false, true},
              d_ru, in(2), d_xh.data());
  for (int64_t row = 0; row < n.batch; ++row) {
    const float *a = d_xh.data() + row * n.both(), *b = d_xhr.data() + row * n.both();
    for (int64_t i = 0; i < n.inputs; ++i) d_x->data<float>()[row * n.inputs + i] = a[i] + b[i];
    for (int64_t cell = 0; cell < n.cells; ++cell) {
      int64_t at = row * n.cells + cell, k = n.inputs + cell;
      d_h_prev->data<float>()[at] = a[k] + b[k] * r[at] + d_h[at] * u[at];
    }
  }
  return Error::success();
}

GRAPNEL_CPU_KERNEL("GRUBlockCell", KernelOf<Cell>);
GRAPNEL_CPU_KERNEL("GRUBlockCellGrad", KernelOf<Gradient>);

}  // namespace
}  // namespace grapnel
