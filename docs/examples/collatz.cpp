// A While with an If in it: halves an even number and makes 3n + 1 of an odd one until it is 1, and
// counts the steps. The loop is in the graph, so one graph works for every number.
#include "grapnel/exec/executor.h"
#include "grapnel/trace/ops.h"
#include "grapnel/trace/registration.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

std::array<Value, 2> Collatz(Tracer& t, Value n) {
  auto not_done = [](Value n, Value) { return n > 1; };
  auto step = [&t](Value n, Value steps) {
    auto half = [&] { return FloorDiv(n, 2); };
    auto triple = [&] { return 3 * n + 1; };
    Value next = t.If(n % 2 == 0, half, triple);
    return Values{next, steps + 1};
  };
  return t.While(not_done, step, {n, t.Constant(0)});
}
GRAPNEL_TRACE(Collatz, {{"n", proto::DT_INT32, {}}});

int main() {
  llvm::ExitOnError check("collatz: ");
  std::unique_ptr<Module> module = check(Trace("collatz", {{"n", proto::DT_INT32, {}}}, Collatz));
  ThreadPool pool;
  ExecutorOptions options;
  options.feeds = {"n"};
  options.fetches = {"Identity_1"};  // the steps
  options.pool = &pool;
  std::unique_ptr<Executor> executor = check(Executor::Compile(module->main, options));
  for (int n : {1, 6, 27, 97}) {
    Tensor number = check(Tensor::FromLiteral(Literal::Scalar(proto::DT_INT32, n)));
    std::vector<Tensor> steps = check(executor->Run({number}));
    llvm::outs() << n << " takes " << steps[0].IntAt(0) << " steps\n";
  }
}
