// Checks a function's inputs: rank and dtype while tracing, the range when the graph runs.
#include "grapnel/exec/executor.h"
#include "grapnel/trace/check_ops.h"
#include "grapnel/trace/ops.h"
#include "grapnel/trace/registration.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

Value GeometricMean(Tracer&, Value x) {
  AssertRank(x, 1, {.message = "a vector"});
  AssertType(x, proto::DT_FLOAT);
  AssertPositive(x, {.message = "a geometric mean is of positive numbers"});
  return Exp(ReduceMean(Log(x)));
}
GRAPNEL_TRACE(GeometricMean, {{"x", proto::DT_FLOAT, {3}}});

static void Run(const Graph& graph, std::vector<float> values) {
  llvm::ExitOnError check("assertions: ");
  ThreadPool pool;
  ExecutorOptions options;
  options.feeds = {"x"};
  options.fetches = {"Identity"};
  options.pool = &pool;
  std::unique_ptr<Executor> executor = check(Executor::Compile(graph, options));
  Literal input = Literal::Make(proto::DT_FLOAT, {3},
                                {reinterpret_cast<const char*>(values.data()), values.size() * 4});
  Expected<std::vector<Tensor>> mean = executor->Run({check(Tensor::FromLiteral(input))});
  if (mean) {
    llvm::outs() << llvm::formatv("mean {0:F4}\n", (*mean)[0].data<float>()[0]);
  } else {
    llvm::outs() << "the run ends: " << TextOf(mean.takeError()) << "\n";
  }
}

int main() {
  auto module = Trace("mean", {{"x", proto::DT_FLOAT, {3}}}, GeometricMean);
  if (!module) return 1;
  Run((*module)->main, {1, 2, 4});
  Run((*module)->main, {1, -2, 4});
  // A matrix is refused while tracing, with the line of the assertion.
  auto refused = Trace("mean", {{"x", proto::DT_FLOAT, {3, 3}}}, GeometricMean);
  llvm::outs() << "not traced: " << TextOf(refused.takeError()) << "\n";
}
