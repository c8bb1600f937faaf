// The harmonic mean of a vector, traced, optimized and run, once plain and once with a Print.
//
// Nothing reads the minimum: the optimized graph has no Min, unless the program prints it. The
// program reports this, and the dump from which Min is gone: `./harmonic_mean FOLDER` writes the
// dumps there. `grapnel trace harmonic_mean.cpp:HarmonicMean` prints the graph.
#include "grapnel/exec/executor.h"
#include "grapnel/io/open.h"
#include "grapnel/job/optimize.h"
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

// Runs Grappler's passes, with a dump in the folder before and after each that changes the graph.
static Error Optimize(OpenedGraph& graph, const std::string& folder, ThreadPool& pool) {
  OptimizeRequest request;
  request.feeds = {{"x", "", Tensor()}};
  request.options.fetches = {"Identity"};
  request.dump_folder = folder;
  request.options.pool = &pool;
  ASSIGN_OR_RETURN(Optimized done, Optimize(graph, request));
  return done.AsError();
}

// Prints which of the dumps have a Min.
static Error ShowDumps(const std::string& folder) {
  ASSIGN_OR_RETURN(Model dumps, OpenModel(folder));
  for (const GraphInFile& dump : dumps.graphs) {
    ASSIGN_OR_RETURN(std::unique_ptr<Module> module, OpenGraph(dump.path));
    llvm::outs() << "  " << dump.title << ": " << module->main.num_nodes() << " nodes, "
                 << (module->main.Find("Min") ? "with Min" : "without Min") << "\n";
  }
  return Error::success();
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

static OpenedGraph Open(const TracedFunction& function, std::unique_ptr<Module> module) {
  auto model = std::make_shared<Model>();
  model->path = function.name;
  model->graphs.emplace_back();
  model->graphs[0].module = std::move(module);
  return OpenedGraph(std::move(model), 0);
}

int main(int argc, char** argv) {
  llvm::ExitOnError check("harmonic_mean: ");
  ThreadPool pool;
  for (const TracedFunction& function : TracedFunctions()) {
    OpenedGraph graph = Open(function, check(function.trace()));
    int before = graph.module().main.num_nodes();
    std::string folder = (argc > 1 ? argv[1] : "dumps") + ("/" + function.name);
    check(Optimize(graph, folder, pool));
    bool has_min = static_cast<bool>(graph.module().main.Find("Min"));
    Tensor mean = check(Run(graph.module(), {1, 2, 4}, pool));
    llvm::outs() << function.name << ": " << mean.ToString() << ", " << before << " -> "
                 << graph.module().main.num_nodes() << " nodes, "
                 << (has_min ? "Min is kept" : "Min is gone") << "\n";
    check(ShowDumps(folder));
  }
}
