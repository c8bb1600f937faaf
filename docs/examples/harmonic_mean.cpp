// The harmonic mean of a vector, traced, optimised and run, once plain and once with a Print.
//
// Nothing reads the minimum: the optimised graph has no Min any more, unless it is printed. As a
// program it says so; `grapnel trace harmonic_mean.cpp:HarmonicMean` prints the graph.
#include "grapnel/exec/evaluator.h"
#include "grapnel/exec/executor.h"
#include "grapnel/pass/pass_manager.h"
#include "grapnel/trace/ops.h"
#include "grapnel/trace/registration.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

Value HarmonicMean(Tracer&, Value x) {
  ReduceMin(x);
  Value n = Cast(Size(x), proto::DT_FLOAT);
  return n / ReduceSum(1.0f / x);
}
GRAPNEL_TRACE(HarmonicMean, {{"x", proto::DT_FLOAT, {3}}});

Value HarmonicMeanPrint(Tracer& t, Value x) {
  t.Print("min: {}", {ReduceMin(x)});
  Value n = Cast(Size(x), proto::DT_FLOAT);
  return n / ReduceSum(1.0f / x);
}
GRAPNEL_TRACE(HarmonicMeanPrint, {{"x", proto::DT_FLOAT, {3}}});

// Grappler's passes, over the graph in place.
static Error Optimize(Module& module, ThreadPool& pool) {
  std::unique_ptr<Evaluator> evaluator = MakeCpuEvaluator(pool);  // folds constants
  OptimizeOptions options;
  options.feeds = {"x"};
  options.fetches = {"Identity"};
  options.config.set_min_graph_nodes(-1);  // small graphs too
  options.evaluator = evaluator.get();
  PassManager passes;
  passes.Add(MakeVerifyInstrumentation());
  return passes.Run(module, options).takeError();
}

static Expected<Tensor> Run(const Module& module, const std::vector<float>& x, ThreadPool& pool) {
  ExecutorOptions options;
  options.feeds = {"x"};
  options.fetches = {"Identity"};
  options.pool = &pool;
  options.print = [](Severity, llvm::StringRef text) { llvm::outs() << text << "\n"; };
  ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::Compile(module.main, options));
  ASSIGN_OR_RETURN(Tensor value,
                   Tensor::Allocate(proto::DT_FLOAT, {static_cast<int64_t>(x.size())}));
  std::copy(x.begin(), x.end(), value.data<float>());
  ASSIGN_OR_RETURN(std::vector<Tensor> results, executor->Run({value}));
  return results[0];
}

int main() {
  llvm::ExitOnError check("harmonic_mean: ");
  ThreadPool pool;
  for (const TracedFunction& function : TracedFunctions()) {
    std::unique_ptr<Module> module = check(function.trace());
    int before = module->main.num_nodes();
    check(Optimize(*module, pool));
    bool has_min = static_cast<bool>(module->main.Find("Min"));
    Tensor mean = check(Run(*module, {1, 2, 4}, pool));
    llvm::outs() << function.name << ": " << mean.ToString() << ", " << before << " -> "
                 << module->main.num_nodes() << " nodes, "
                 << (has_min ? "Min is kept" : "Min is gone") << "\n";
  }
}
