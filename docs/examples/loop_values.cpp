// A loop step by step: the graph prints each step while it runs, and returns all values as one
// tensor, collected in a TensorArray. The loop is Newton's method for a square root.
#include "grapnel/exec/executor.h"
#include "grapnel/trace/array_ops.h"
#include "grapnel/trace/ops.h"
#include "grapnel/trace/registration.h"
#include "grapnel/trace/tensor_array.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

constexpr int kSteps = 5;

Values SquareRoot(Tracer& t, Value x) {
  TensorArray guesses(t, proto::DT_FLOAT, kSteps);
  auto not_done = [](Value i, Value, Value) { return i < kSteps; };
  auto step = [&](Value i, Value guess, Value array) {
    Value better = (guess + x / guess) / 2.0f;
    t.Print("step {}: {}", {i, better});  // runs in order, even though nothing reads it
    return Values{i + 1, better, guesses.With(array).Write(i, better)};
  };
  Value start = t.Constant(0), guess = t.Constant(1.0f);
  auto [steps, root, array] = t.While(not_done, step, {start, guess, guesses});
  return {root, guesses.With(array).Stack()};
}
GRAPNEL_TRACE(SquareRoot, {{"x", proto::DT_FLOAT, {}}});

int main() {
  llvm::ExitOnError check("loop_values: ");
  std::unique_ptr<Module> module =
      check(Trace("square_root", {{"x", proto::DT_FLOAT, {}}}, SquareRoot));
  ThreadPool pool;
  ExecutorOptions options;
  options.feeds = {"x"};
  options.fetches = {"Identity", "Identity_1"};
  options.pool = &pool;
  options.print = [](Severity, llvm::StringRef text) { llvm::outs() << text << "\n"; };
  std::unique_ptr<Executor> executor = check(Executor::Compile(module->main, options));
  Tensor two = check(Tensor::FromLiteral(Literal::Scalar(proto::DT_FLOAT, 2)));
  std::vector<Tensor> results = check(executor->Run({two}));
  llvm::outs() << llvm::formatv("root {0:F4} of", results[0].data<float>()[0]);
  for (int i = 0; i < kSteps; ++i)
    llvm::outs() << llvm::formatv(" {0:F4}", results[1].data<float>()[i]);
  llvm::outs() << "\n";
}
