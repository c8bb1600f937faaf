// Long short-term memory as a single op: a step or a sequence, and their gradients
// (tensorflow/core/kernels/rnn/lstm_ops.cc). half is computed in float and rounded at the end.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/linalg/gemm.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

struct Config {
  float forget_bias = 0, cell_clip = 0;
  bool peephole = false;
  int ci = 1, f = 2;  // indices of these gates in w and b; i is first, o is last
};

struct Sizes {
  int64_t batch = 0, inputs = 0, cells = 0;
  int64_t state() const { return batch * cells; }
};

// The inputs of one step that are not weights, as floats.
struct StepIn {
  const float *x, *cs_prev, *h_prev;
};
struct Weights {
  const float *w, *wci, *wcf, *wco, *b;
};
template <typename P>
struct Gates {
  P *i, *cs, *f, *o, *ci, *co, *h;
};

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// Copies [x, h_prev] row by row.
void JoinRows(const Sizes& n, const float* x, const float* h, float* xh) {
  for (int64_t r = 0; r < n.batch; ++r) {
    float* to = xh + r * (n.inputs + n.cells);
    std::copy_n(x + r * n.inputs, n.inputs, to);
    std::copy_n(h + r * n.cells, n.cells, to + n.inputs);
  }
}

// Scratch memory shared by the steps of one op.
struct Work {
  explicit Work(const Sizes& n)
      : xh(n.batch * (n.inputs + n.cells)),
        gates(n.batch * 4 * n.cells),
        xh_grad(xh.size()),
        dcs(n.state()) {}
  std::vector<float> xh, gates, xh_grad, dcs;
};

void ForwardStep(const Config& config, const Sizes& n, const StepIn& in, const Weights& weights,
                 Work& work, const Gates<float>& out) {
  int64_t k = n.inputs + n.cells, wide = 4 * n.cells;
  JoinRows(n, in.x, in.h_prev, work.xh.data());
  Gemm<float>({n.batch, wide, k, k, wide, wide}, work.xh.data(), weights.w, work.gates.data());
  bool peephole = config.peephole;
  for (int64_t at = 0; at < n.state(); ++at) {
    int64_t c = at % n.cells;
    const float* gates = work.gates.data() + at / n.cells * wide;
    auto gate = [&](int number) {
      return gates[number * n.cells + c] + weights.b[number * n.cells + c];
    };
    float previous = in.cs_prev[at];
    float i = Sigmoid(gate(0) + (peephole ? previous * weights.wci[c] : 0));
    float ci = std::tanh(gate(config.ci));
    float f =
        Sigmoid(gate(config.f) + config.forget_bias + (peephole ? previous * weights.wcf[c] : 0));
    float cs = i * ci + f * previous;
    if (config.cell_clip > 0) cs = std::clamp(cs, -config.cell_clip, config.cell_clip);
    float o = Sigmoid(gate(3) + (peephole ? cs * weights.wco[c] : 0));
    float co = std::tanh(cs);
    out.i[at] = i;
    out.cs[at] = cs;
    out.f[at] = f;
    out.o[at] = o;
    out.ci[at] = ci;
    out.co[at] = co;
    out.h[at] = o * co;
  }
}

struct PeepholeGrads {
  float *wci, *wcf, *wco;
};

// Computes the gradients of the gates (dicfo) and of the previous cell state from those of this
// step's cell state and output. Adds to the peephole gradients.
void BackwardStep(const Config& config, const Sizes& n, const float* cs_prev,
                  const Weights& weights, const Gates<const float>& out, const float* cs_grad,
                  const float* h_grad, float* dicfo, float* cs_prev_grad,
                  const PeepholeGrads& grads) {
  for (int64_t at = 0; at < n.state(); ++at) {
    int64_t c = at % n.cells;
    float* gates = dicfo + at / n.cells * 4 * n.cells + c;
    float i = out.i[at], f = out.f[at], o = out.o[at], ci = out.ci[at], co = out.co[at];
    float d_o = o * (1 - o) * h_grad[at] * co;
    float dcs = (1 - co * co) * h_grad[at] * o + cs_grad[at];
    if (config.peephole) dcs += d_o * weights.wco[c];
    float d_ci = (1 - ci * ci) * dcs * i;
    float d_f = f * (1 - f) * dcs * cs_prev[at];
    float d_i = i * (1 - i) * dcs * ci;
    gates[0] = d_i;
    gates[config.ci * n.cells] = d_ci;
    gates[config.f * n.cells] = d_f;
    gates[3 * n.cells] = d_o;
    float before = dcs * f;
    if (config.peephole) {
      before += d_i * weights.wci[c] + d_f * weights.wcf[c];
      grads.wci[c] += d_i * cs_prev[at];
      grads.wcf[c] += d_f * cs_prev[at];
      grads.wco[c] += d_o * out.cs[at];
    }
    cs_prev_grad[at] = before;
  }
}

// --- Inputs and outputs as floats

class FloatIn {
 public:
  explicit FloatIn(const Tensor& tensor) {
    if (tensor.dtype() == proto::DT_FLOAT) {
      data_ = tensor.data<float>();
      return;
    }
    wide_.resize(tensor.num_elements());
    Widen(tensor.data<Eigen::half>(), wide_.data(), tensor.num_elements());
    data_ = wide_.data();
  }
  const float* data() const { return data_; }

 private:
  std::vector<float> wide_;
  const float* data_;
};

// An output as floats, initially zeros; Finish() rounds them into the output tensor if that is
// half.
class FloatOut {
 public:
  static Expected<FloatOut> Make(KernelContext& ctx, int i, llvm::ArrayRef<int64_t> dims) {
    FloatOut out;
    ASSIGN_OR_RETURN(out.tensor_, ctx.Allocate(i, dims));
    int64_t count = out.tensor_->num_elements();
    if (out.tensor_->dtype() != proto::DT_FLOAT) out.wide_.resize(count);
    std::fill_n(out.data(), count, 0.f);
    return out;
  }
  float* data() { return wide_.empty() ? static_cast<float*>(tensor_->raw()) : wide_.data(); }
  void Finish() {
    if (!wide_.empty()) Narrow(wide_.data(), tensor_->data<Eigen::half>(), wide_.size());
  }

 private:
  Tensor* tensor_ = nullptr;
  std::vector<float> wide_;
};

Expected<std::vector<FloatOut>> MakeOutputs(KernelContext& ctx, llvm::ArrayRef<Dims> dims) {
  std::vector<FloatOut> outs;
  for (size_t i = 0; i < dims.size(); ++i) {
    ASSIGN_OR_RETURN(FloatOut out, FloatOut::Make(ctx, i, dims[i]));
    outs.push_back(std::move(out));
  }
  return outs;
}

std::vector<FloatIn> MakeInputs(const KernelContext& ctx, int first) {
  std::vector<FloatIn> ins;
  for (int i = first; i < ctx.num_inputs(); ++i) ins.emplace_back(ctx.input(i));
  return ins;
}

// Checks the shapes of x, cs_prev, h_prev, w, wci, wcf, wco, b from input `first` on (wci, wcf and
// wco only with `peephole`), then of `states` tensors of the cell state's shape; with `in_time`, x
// and these tensors have a leading time dimension.
Expected<Sizes> CheckSizes(const KernelContext& ctx, int first, bool in_time, int states,
                           bool peephole) {
  const Tensor &x = ctx.input(first), &cs = ctx.input(first + 1);
  if (x.rank() != (in_time ? 3 : 2) || cs.rank() != 2) {
    return MakeError("x of shape {0} and cs_prev of shape {1}: ranks {2} and 2 were expected",
                     DimsText(x.dims()), DimsText(cs.dims()), in_time ? 3 : 2);
  }
  Sizes n{x.dim(x.rank() - 2), x.dim(x.rank() - 1), cs.dim(1)};
  Dims cells = {n.cells}, state = {n.batch, n.cells}, states_dims = state;
  if (in_time) states_dims.insert(states_dims.begin(), x.dim(0));
  std::vector<Dims> expected = {Dims(x.dims().begin(), x.dims().end()),
                                state,
                                state,
                                {n.inputs + n.cells, 4 * n.cells},
                                cells,
                                cells,
                                cells,
                                {4 * n.cells}};
  for (int i = 0; i < states; ++i) expected.push_back(states_dims);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tensor& input = ctx.input(first + i);
    bool unused = i >= 4 && i <= 6 && !peephole;
    if (unused || input.dims() == llvm::ArrayRef<int64_t>(expected[i])) continue;
    return MakeError("input {0} is of shape {1}, {2} was expected", first + i,
                     DimsText(input.dims()), DimsText(expected[i]));
  }
  return n;
}

// --- The ops

Error Cell(KernelContext& ctx, const Config& config) {
  ASSIGN_OR_RETURN(Sizes n, CheckSizes(ctx, 0, false, 0, config.peephole));
  std::vector<FloatIn> in = MakeInputs(ctx, 0);
  ASSIGN_OR_RETURN(auto out, MakeOutputs(ctx, std::vector<Dims>(7, Dims{n.batch, n.cells})));
  Work work(n);
  ForwardStep(config, n, {in[0].data(), in[1].data(), in[2].data()},
              {in[3].data(), in[4].data(), in[5].data(), in[6].data(), in[7].data()}, work,
              {out[0].data(), out[1].data(), out[2].data(), out[3].data(), out[4].data(),
               out[5].data(), out[6].data()});
  for (FloatOut& one : out) one.Finish();
  return Error::success();
}

Expected<int64_t> SequenceLength(const KernelContext& ctx) {
  const Tensor& length = ctx.input(0);
  int64_t steps = ctx.input(1).rank() == 3 ? ctx.input(1).dim(0) : 0;
  if (length.rank() != 0) return MakeError("seq_len_max must be a scalar");
  if (length.IntAt(0) < 0 || length.IntAt(0) > steps)
    return MakeError("seq_len_max is {0}, not in [0, {1}], as there are {1} steps", length.IntAt(0),
                     steps);
  return length.IntAt(0);
}

// Steps from seq_len_max on are zeros.
Error Sequence(KernelContext& ctx, const Config& config) {
  ASSIGN_OR_RETURN(Sizes n, CheckSizes(ctx, 1, true, 0, config.peephole));
  ASSIGN_OR_RETURN(int64_t length, SequenceLength(ctx));
  int64_t steps = ctx.input(1).dim(0);
  std::vector<FloatIn> in = MakeInputs(ctx, 1);
  ASSIGN_OR_RETURN(auto out, MakeOutputs(ctx, std::vector<Dims>(7, Dims{steps, n.batch, n.cells})));
  Work work(n);
  for (int64_t t = 0; t < length; ++t) {
    auto at = [&](int i, int64_t step) { return out[i].data() + step * n.state(); };
    ForwardStep(config, n,
                {in[0].data() + t * n.batch * n.inputs, t ? at(1, t - 1) : in[1].data(),
                 t ? at(6, t - 1) : in[2].data()},
                {in[3].data(), in[4].data(), in[5].data(), in[6].data(), in[7].data()}, work,
                {at(0, t), at(1, t), at(2, t), at(3, t), at(4, t), at(5, t), at(6, t)});
  }
  for (FloatOut& one : out) one.Finish();
  return Error::success();
}

// Inputs after the cell's: i, cs, f, o, ci, co, cs_grad, h_grad.
Error CellGradient(KernelContext& ctx, const Config& config) {
  ASSIGN_OR_RETURN(Sizes n, CheckSizes(ctx, 0, false, 8, config.peephole));
  std::vector<FloatIn> in = MakeInputs(ctx, 0);
  Dims cells = {n.cells};
  ASSIGN_OR_RETURN(auto out, MakeOutputs(ctx, {Dims{n.batch, n.cells}, Dims{n.batch, 4 * n.cells},
                                               cells, cells, cells}));
  BackwardStep(config, n, in[1].data(),
               {in[3].data(), in[4].data(), in[5].data(), in[6].data(), in[7].data()},
               {in[8].data(), in[9].data(), in[10].data(), in[11].data(), in[12].data(),
                in[13].data(), nullptr},
               in[14].data(), in[15].data(), out[1].data(), out[0].data(),
               {out[2].data(), out[3].data(), out[4].data()});
  for (FloatOut& one : out) one.Finish();
  return Error::success();
}

// Inputs after the sequence's: i, cs, f, o, ci, co, h, cs_grad, h_grad. Outputs: x_grad,
// cs_prev_grad, h_prev_grad, w_grad, wci_grad, wcf_grad, wco_grad, b_grad.
Error SequenceGradient(KernelContext& ctx, const Config& config) {
  ASSIGN_OR_RETURN(Sizes n, CheckSizes(ctx, 1, true, 9, config.peephole));
  ASSIGN_OR_RETURN(int64_t length, SequenceLength(ctx));
  std::vector<FloatIn> in = MakeInputs(ctx, 1);
  int64_t k = n.inputs + n.cells, wide = 4 * n.cells;
  Dims cells = {n.cells}, state = {n.batch, n.cells};
  ASSIGN_OR_RETURN(auto out,
                   MakeOutputs(ctx, {Dims{ctx.input(1).dim(0), n.batch, n.inputs}, state, state,
                                     Dims{k, wide}, cells, cells, cells, Dims{wide}}));
  Weights weights = {in[3].data(), in[4].data(), in[5].data(), in[6].data(), in[7].data()};
  Work work(n);
  std::vector<float> h_grad(n.state()), cs_grad(n.state()), w_step(k * wide);
  float *cs_carry = out[1].data(), *h_carry = out[2].data();
  for (int64_t t = length - 1; t >= 0; --t) {
    auto at = [&](int i, int64_t step) { return in[i].data() + step * n.state(); };
    const float* x = in[0].data() + t * n.batch * n.inputs;
    const float *cs_prev = t ? at(9, t - 1) : in[1].data(),
                *h_prev = t ? at(14, t - 1) : in[2].data();
    for (int64_t e = 0; e < n.state(); ++e) {
      cs_grad[e] = at(15, t)[e] + cs_carry[e];
      h_grad[e] = at(16, t)[e] + h_carry[e];
    }
    BackwardStep(config, n, cs_prev, weights,
                 {at(8, t), at(9, t), at(10, t), at(11, t), at(12, t), at(13, t), at(14, t)},
                 cs_grad.data(), h_grad.data(), work.gates.data(), cs_carry,
                 {out[4].data(), out[5].data(), out[6].data()});
    Gemm<float>({n.batch, k, wide, wide, wide, k, false, true}, work.gates.data(), weights.w,
                work.xh_grad.data());
    for (int64_t r = 0; r < n.batch; ++r) {
      const float* from = work.xh_grad.data() + r * k;
      std::copy_n(from, n.inputs, out[0].data() + (t * n.batch + r) * n.inputs);
      std::copy_n(from + n.inputs, n.cells, h_carry + r * n.cells);
    }
    JoinRows(n, x, h_prev, work.xh.data());
    Gemm<float>({k, wide, n.batch, k, wide, wide, true, false}, work.xh.data(), work.gates.data(),
                w_step.data());
    for (int64_t e = 0; e < k * wide; ++e) out[3].data()[e] += w_step[e];
    for (int64_t e = 0; e < n.batch * wide; ++e) out[7].data()[e % wide] += work.gates[e];
  }
  for (FloatOut& one : out) one.Finish();
  return Error::success();
}

// Unlike BlockLSTM, BlockLSTMV2 (`second`) has another gate order, no forget bias, and clips only
// on request.
template <Error (*kRun)(KernelContext&, const Config&), bool second>
Expected<KernelFn> MakeLstm(const KernelSetup& setup) {
  Config config;
  config.peephole = setup.node().GetBool("use_peephole");
  config.cell_clip = setup.node().GetFloat("cell_clip", second ? 0 : 3);
  if (second)
    std::swap(config.ci, config.f);
  else
    config.forget_bias = setup.node().GetFloat("forget_bias", 1);
  return KernelFn([config](KernelContext& ctx) { return kRun(ctx, config); });
}

using LstmTypes = TypeList<float, Eigen::half>;
#define GRAPNEL_LSTM_KERNEL(op, run, second) \
  GRAPNEL_CPU_KERNEL(op, (MakeLstm<run, second>), OfTypes("T", DataTypesOf(LstmTypes())))
GRAPNEL_LSTM_KERNEL("LSTMBlockCell", Cell, false);
GRAPNEL_LSTM_KERNEL("LSTMBlockCellGrad", CellGradient, false);
GRAPNEL_LSTM_KERNEL("BlockLSTM", Sequence, false);
GRAPNEL_LSTM_KERNEL("BlockLSTMGrad", SequenceGradient, false);
GRAPNEL_LSTM_KERNEL("BlockLSTMV2", Sequence, true);
GRAPNEL_LSTM_KERNEL("BlockLSTMGradV2", SequenceGradient, true);

}  // namespace
}  // namespace grapnel
