// Dilation2D, grayscale morphology: the maximum of pixel plus filter value over a window, and its
// gradients, which go to the source of the first maximum.
#include <cstring>
#include <limits>

#include "kernels/common/dispatch.h"
#include "kernels/common/window.h"

namespace grapnel {
namespace {

struct Problem {
  Window window;
  int64_t batch, channels;
  int64_t positions() const { return batch * window[1].out * window[2].out; }
};

struct Attrs {
  WindowAttrs window;

  Expected<Problem> Resolve(const Tensor& input, const Tensor& filter) const {
    if (input.rank() != 4)
      return MakeError("the input must have rank 4, got shape {0}", DimsText(input.dims()));
    if (filter.rank() != 3)
      return MakeError("the filter must have rank 3, got shape {0}", DimsText(filter.dims()));
    if (input.dim(3) != filter.dim(2))
      return MakeError("input and filter must have the same number of channels, got {0} and {1}",
                       input.dim(3), filter.dim(2));
    ASSIGN_OR_RETURN(Window resolved, window.Resolve(input.dims(), filter.dims().take_front(2)));
    return Problem{resolved, input.dim(0), input.dim(3)};
  }
};

Expected<Attrs> ReadAttrs(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(WindowAttrs window, ReadWindowAttrs(setup, 2));
  std::vector<int64_t> rates = setup.node().GetInts("rates");
  RETURN_IF_ERROR(CheckWindowList("strides", window.strides, 4));
  RETURN_IF_ERROR(CheckWindowList("rates", rates, 4));
  for (const auto* list : {&window.strides, &rates}) {
    if ((*list)[0] != 1 || (*list)[3] != 1)
      return MakeError("strides and rates must be 1 for batch and channels");
  }
  window.dilations = rates;
  return Attrs{window};
}

template <typename T>
struct Best {
  T value;
  int64_t input, filter;  // elements
};

// Finds the maximum for channel `c` of output position `p`. If nothing exceeds the start value, as
// in a window that is empty or all NaN, the gradients go to the first pixel and the first filter
// position.
template <typename T>
Best<T> FindBest(const Problem& problem, int64_t p, int64_t c, const T* input, const T* filter) {
  const Window& w = problem.window;
  int64_t x = p % w[2].out, y = p / w[2].out % w[1].out, batch = p / w[2].out / w[1].out;
  auto [y0, y1] = w[1].Taps(y);
  auto [x0, x1] = w[2].Taps(x);
  auto pixel = [&](int64_t ky, int64_t kx) {
    int64_t row = y * w[1].stride - w[1].before + ky * w[1].dilation;
    int64_t column = x * w[2].stride - w[2].before + kx * w[2].dilation;
    return ((batch * w[1].in + row) * w[2].in + column) * problem.channels + c;
  };
  int64_t start_row = std::max<int64_t>(0, y * w[1].stride - w[1].before);
  int64_t start_column = std::max<int64_t>(0, x * w[2].stride - w[2].before);
  Best<T> best{std::numeric_limits<T>::lowest(),
               ((batch * w[1].in + start_row) * w[2].in + start_column) * problem.channels + c, c};
  for (int64_t ky = y0; ky < y1; ++ky) {
    for (int64_t kx = x0; kx < x1; ++kx) {
      int64_t at = pixel(ky, kx), tap = (ky * w[2].kernel + kx) * problem.channels + c;
      T sum = AddOf(input[at], filter[tap]);
      if (sum > best.value) best = {sum, at, tap};
    }
  }
  return best;
}

using DilationTypes = RealTypes;

template <typename F>
Error ForDilationType(const Tensor& tensor, F&& f) {
  bool known = ForType(tensor.dtype(), DilationTypes(), [&](auto tag) {
    f(tag);
    return true;
  });
  return known ? Error::success()
               : MakeError("no kernel for dtype {0}", DataTypeName(tensor.dtype()));
}

Expected<KernelFn> MakeDilation(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Attrs attrs, ReadAttrs(setup));
  return KernelFn([attrs](KernelContext& ctx) -> Error {
    const Tensor &input = ctx.input(0), &filter = ctx.input(1);
    ASSIGN_OR_RETURN(Problem problem, attrs.Resolve(input, filter));
    ASSIGN_OR_RETURN(
        Tensor * out,
        ctx.Allocate(0, attrs.window.OutputDims(problem.batch, problem.window, problem.channels)));
    if (out->num_elements() == 0) return Error::success();
    return ForDilationType(input, [&](auto tag) {
      using T = typename decltype(tag)::type;
      double cost = 2.0 * filter.num_elements();
      ctx.ParallelFor(problem.positions(), cost, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * problem.channels; i < end * problem.channels; ++i)
          out->data<T>()[i] = FindBest(problem, i / problem.channels, i % problem.channels,
                                       input.data<T>(), filter.data<T>())
                                  .value;
      });
    });
  });
}

// The gradient with respect to the input (the output then has the input's shape) or to the filter.
template <bool kOfInput>
Expected<KernelFn> MakeGradient(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Attrs attrs, ReadAttrs(setup));
  return KernelFn([attrs](KernelContext& ctx) -> Error {
    const Tensor &input = ctx.input(0), &filter = ctx.input(1), &grads = ctx.input(2);
    ASSIGN_OR_RETURN(Problem problem, attrs.Resolve(input, filter));
    Dims expected = attrs.window.OutputDims(problem.batch, problem.window, problem.channels);
    if (grads.dims() != llvm::ArrayRef<int64_t>(expected))
      return MakeError("out_backprop must have shape {0}, got {1}", DimsText(expected),
                       DimsText(grads.dims()));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, (kOfInput ? input : filter).dims()));
    if (out->byte_size() > 0) std::memset(out->raw(), 0, out->byte_size());
    if (out->num_elements() == 0) return Error::success();
    return ForDilationType(input, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t i = 0; i < grads.num_elements(); ++i) {
        Best<T> best = FindBest(problem, i / problem.channels, i % problem.channels,
                                input.data<T>(), filter.data<T>());
        T& to = out->data<T>()[kOfInput ? best.input : best.filter];
        to = AddOf(to, grads.data<T>()[i]);
      }
    });
  });
}

GRAPNEL_CPU_KERNEL("Dilation2D", MakeDilation, OfTypes("T", DataTypesOf(DilationTypes())));
GRAPNEL_CPU_KERNEL("Dilation2DBackpropInput", MakeGradient<true>,
                   OfTypes("T", DataTypesOf(DilationTypes())));
GRAPNEL_CPU_KERNEL("Dilation2DBackpropFilter", MakeGradient<false>,
                   OfTypes("T", DataTypesOf(DilationTypes())));

}  // namespace
}  // namespace grapnel
