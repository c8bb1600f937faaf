// The outputs of every layer of a network: the function returns its intermediate tensors and the
// last one, and the program prints how large they are and how many units are off.
#include <algorithm>

#include "grapnel/exec/executor.h"
#include "grapnel/trace/nn_ops.h"
#include "grapnel/trace/random_ops.h"
#include "grapnel/trace/registration.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

// Weights from a seed: the same in every run.
static Value Dense(Tracer& t, Value x, int units, int seed) {
  int inputs = static_cast<int>(x.shape().dim(1));
  NormalOptions options;
  options.stddev = 0.5;
  Value weights = StatelessNormal(t, {inputs, units}, {seed, 1}, options);
  return BiasAdd(MatMul(x, weights), Zeros(t, {units}));
}

Values Layers(Tracer& t, Value x) {
  Value first = Relu(Dense(t, x, 8, 1));
  Value second = Relu(Dense(t, first, 6, 2));
  return {first, second, Softmax(Dense(t, second, 3, 3))};
}
GRAPNEL_TRACE(Layers, {{"x", proto::DT_FLOAT, {2, 4}}});

int main() {
  llvm::ExitOnError check("layer_outputs: ");
  std::unique_ptr<Module> module = check(Trace("layers", {{"x", proto::DT_FLOAT, {2, 4}}}, Layers));
  ThreadPool pool;
  ExecutorOptions options;
  options.feeds = {"x"};
  options.fetches = {"Identity", "Identity_1", "Identity_2"};
  options.pool = &pool;
  std::unique_ptr<Executor> executor = check(Executor::Compile(module->main, options));
  std::vector<float> values = {1, -2, 3, 0.5f, -1, 0, 2, 1};
  Literal input = Literal::Make(proto::DT_FLOAT, {2, 4},
                                {reinterpret_cast<const char*>(values.data()), values.size() * 4});
  int layer = 0;
  for (const Tensor& output : check(executor->Run({check(Tensor::FromLiteral(input))}))) {
    const float* elements = output.data<float>();
    int64_t count = output.num_elements(), off = std::count(elements, elements + count, 0.0f);
    llvm::outs() << llvm::formatv("layer {0}: [{1},{2}], {3} of {4} are off\n", ++layer,
                                  output.dims()[0], output.dims()[1], off, count);
  }
}
