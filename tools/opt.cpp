// `grapnel opt MODEL`: optimises a graph as Grappler does, and keeps a record.
#include "google/protobuf/text_format.h"
#include "lib/check/bisect.h"
#include "lib/check/reproducer.h"
#include "lib/check/value_check.h"
#include "lib/exec/evaluator.h"
#include "lib/io/write.h"
#include "lib/ir/text.h"
#include "lib/pass/near_misses.h"
#include "lib/pass/pass_manager.h"
#include "lib/shape/inference.h"
#include "lib/support/text.h"
#include "tools/input.h"
#include "tools/pipeline.h"
#include "tools/rewrite_text.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, output, dump_dir, ledger, device;
  PipelineFlags pipeline;
  bool print = false, timing = false, explain = false, why_not = false, check_values = false;
};

void PrintTiming(llvm::raw_ostream& os, const OptimizeResult& result) {
  std::vector<std::vector<std::string>> rows = {{"pass", "iteration", "rewrites", "ms"}};
  double total = 0;
  for (const Stage& stage : result.stages) {
    double ms = stage.time.count() / 1e6;
    total += ms;
    std::string pass = stage.pass;
    if (!stage.function.empty()) pass += " in " + stage.function;
    rows.push_back({pass, std::to_string(stage.iteration), std::to_string(stage.rewrites),
                    llvm::formatv("{0:F2}", ms).str()});
  }
  rows.push_back(
      {"all passes", "", std::to_string(result.rewrites), llvm::formatv("{0:F2}", total).str()});
  os << Table(rows);
}

// Prints each rewrite as it happens.
class ExplainInstrumentation : public Instrumentation {
 public:
  ExplainInstrumentation(llvm::raw_ostream& os, bool comments) : os_(os), comments_(comments) {}
  void OnRewrite(const Rewrite& rewrite) override {
    // Beside a printed graph they are comments of its text.
    llvm::SmallVector<llvm::StringRef, 4> lines;
    std::string text = RewriteText(rewrite);
    llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef line : lines) os_ << (comments_ ? "# " : "") << line << "\n";
  }

 private:
  llvm::raw_ostream& os_;
  bool comments_;
};

// Where a rule's pattern was found and a condition failed.
void PrintNearMisses(const NearMisses& misses, bool as_comments, llvm::raw_ostream& os) {
  for (const Refusal& refusal : misses.Sorted()) {
    os << (as_comments ? "# " : "") << refusal.pass << "/" << refusal.rule << " refused '"
       << PlaceOf(refusal) << "': " << refusal.reason << "\n";
  }
}

Error PrintResult(const Module& module, llvm::raw_ostream& os) {
  ShapeMap shapes = InferShapes(module.main);
  TextOptions options;
  options.describe = [&](Port port) {
    DataType type = shapes.TypeOf(port);
    const Shape& shape = shapes.OfPort(port);
    return (type == proto::DT_INVALID ? "?" : DataTypeName(type).str()) +
           (shape.known_rank() ? shape.ToString() : "");
  };
  WriteGraphAsText(module, options, os);
  return Error::success();
}

std::string Joined(llvm::ArrayRef<std::string> names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

// Saves what a pass failed on, and says how to see it fail again.
std::string ReproducerText(const Flags& flags, const OptimizeOptions& options,
                           const Stage& failed) {
  auto input = OpenedGraph::Open(flags.model, flags.graph);
  if (!input) return TextOf(input.takeError());
  if (Error error = SetMissingDevices(input->module(), flags.device))
    return TextOf(std::move(error));
  std::string path = input->name() + ".before_" + failed.pass + ".pb";
  if (Error error = SaveReproducer(input->module(), options, failed, path))
    return "its input could not be saved: " + TextOf(std::move(error));
  std::string command = "grapnel opt " + path + " --passes " + failed.pass;
  if (!options.feeds.empty()) command += " --feed " + Joined(options.feeds);
  if (!options.fetches.empty()) command += " --fetch " + Joined(options.fetches);
  if (!flags.pipeline.rewriter_config.empty())
    command += " --rewriter-config " + flags.pipeline.rewriter_config;
  return "its input is saved; to repeat it: " + command;
}

// The first rewrite that changed a value.
Error PrintCulprit(const Flags& flags, const OptimizeOptions& optimize, const ValueCheck& values) {
  std::unique_ptr<OpenedGraph> input;
  BisectOptions options;
  options.optimize = optimize;
  options.optimize.sink = nullptr;
  options.open = [&]() -> Expected<Module*> {
    ASSIGN_OR_RETURN(OpenedGraph opened, OpenedGraph::Open(flags.model, flags.graph));
    input = std::make_unique<OpenedGraph>(std::move(opened));
    RETURN_IF_ERROR(SetMissingDevices(input->module(), flags.device));
    return &input->module();
  };
  options.fails = [&](const Module& module) { return values.Differs(module); };
  ASSIGN_OR_RETURN(std::optional<Culprit> culprit, Bisect(options));
  if (culprit) llvm::errs() << "since " << RewriteText(culprit->rewrite);
  return Error::success();
}

Expected<int> RunOn(OpenedGraph& input, const Flags& flags, Invocation& invocation) {
  MessageSink sink = invocation.sink();
  RETURN_IF_ERROR(DemandValid(input, sink));
  Module& module = input.module();
  size_t nodes_before = module.main.num_nodes();
  RETURN_IF_ERROR(SetMissingDevices(module, flags.device));
  ThreadPool pool(invocation.flags.threads);
  std::unique_ptr<Evaluator> evaluator = MakeCpuEvaluator(pool);
  ASSIGN_OR_RETURN(OptimizeOptions options, flags.pipeline.Options(input));
  options.evaluator = evaluator.get();
  options.pool = &pool;
  options.sink = sink;

  NearMisses misses;
  if (flags.why_not) options.on_refusal = [&](const Refusal& refusal) { misses.Add(refusal); };

  PassManager manager;
  std::unique_ptr<AtomicFile> ledger;
  if (!flags.ledger.empty()) {
    ASSIGN_OR_RETURN(ledger, AtomicFile::Create(flags.ledger));
    manager.Add(MakeLedgerInstrumentation(ledger->os()));
  }
  if (flags.explain)
    manager.Add(std::make_unique<ExplainInstrumentation>(invocation.out(), flags.print));
  RETURN_IF_ERROR(AddDump({flags.dump_dir, input.name(), sink}, module, options, &manager));
  std::unique_ptr<ValueCheck> values;
  std::string difference;
  if (flags.check_values) {
    ASSIGN_OR_RETURN(ValueCheckOptions check, flags.pipeline.ValueOptions(input, options, pool));
    check.sink = sink;
    auto made = ValueCheck::Create(module, std::move(check));
    if (!made) return Annotate(flags.model, made.takeError());
    values = std::move(*made);
    manager.Add(MakeValueCheckInstrumentation(values.get(), &difference));
  }
  // After the value check, which asks last and whose failure is not the pass's.
  std::optional<Stage> failed;
  manager.Add(MakeFailureInstrumentation(&failed));
  manager.Add(MakeVerifyInstrumentation());
  auto result = manager.Run(module, options);
  if (!result && !difference.empty()) {
    llvm::errs() << "grapnel: " << flags.model << ": " << TextOf(result.takeError()) << "\n";
    RETURN_IF_ERROR(PrintCulprit(flags, options, *values));
    return kExitNo;
  }
  if (!result) {
    Error error = Annotate(flags.model, result.takeError());
    if (!failed) return error;
    return MakeError("{0}\n{1}", TextOf(std::move(error)), ReproducerText(flags, options, *failed));
  }
  if (options.fetches.empty() && !result->fetches.empty()) {
    sink(Severity::kWarning,
         llvm::formatv("no --fetch given: taken were the {0} that nobody reads, '{1}'{2}",
                       Plural(result->fetches.size(), "node"), result->fetches[0],
                       result->fetches.size() > 1 ? ", ..." : "")
             .str());
  }

  std::vector<NodeId> order = TopologicalOrder(module.main);
  if (ledger) RETURN_IF_ERROR(ledger->Commit());
  if (!flags.output.empty()) RETURN_IF_ERROR(WriteGraph(module, flags.output, order));
  PrintNearMisses(misses, flags.print, invocation.out());
  if (flags.print) RETURN_IF_ERROR(PrintResult(module, invocation.out()));
  bool stdout_is_free = flags.output != "-" && flags.ledger != "-" && !flags.print;
  llvm::raw_ostream& os = stdout_is_free ? invocation.out() : llvm::errs();
  if (flags.timing) PrintTiming(os, *result);
  if (!invocation.flags.quiet && stdout_is_free) {
    os << flags.model << ": " << WithCommas(nodes_before) << " -> "
       << Plural(module.main.num_nodes(), "node") << ", " << Plural(result->rewrites, "rewrite");
    if (values) os << ", " << Plural(values->num_compared(), "fetch") << " with the same values";
    if (flags.output.empty()) os << " (-o FILE writes the result)";
    os << "\n";
  }
  return kExitOk;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  return OnEachGraph(
      flags.model, flags.graph, invocation, [&](OpenedGraph& input) -> Expected<int> {
        bool several = input.model().graphs.size() > 1 && flags.graph.empty();
        if (!several) return RunOn(input, flags, invocation);
        for (const std::string* file : {&flags.output, &flags.ledger, &flags.dump_dir}) {
          if (!file->empty())
            return MakeError("{0}: cannot hold what comes of {1} graphs: name one by --graph",
                             *file, input.model().graphs.size());
        }
        Flags of_graph = flags;
        of_graph.graph = input.file().title;
        return RunOn(input, of_graph, invocation);
      });
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph to optimise").Required();
  line.Option("-o,--output", flags->output,
              "where the result goes: .pb, .pbtxt or .gtxt, each also .gz; - for standard output");
  line.Option("--graph", flags->graph,
              "which graph of a file with several: its title as `info` shows it");
  flags->pipeline.AddTo(line);
  line.Option("--device", flags->device, "device for nodes without one; fusions need one");
  line.Option("--dump-dir", flags->dump_dir,
              "dump before and after each pass that changed something (or TF_DUMP_GRAPH_PREFIX)");
  line.Option("--ledger", flags->ledger, "every rewrite as a line of JSON");
  line.Flag("--check-values", flags->check_values,
            "run the graph before and after each pass, and name the first rewrite that changes "
            "what is fetched (exit 1)");
  flags->pipeline.AddValuesTo(line);
  line.Flag("--explain", flags->explain, "print every rewrite");
  line.Flag("--why-not", flags->why_not,
            "print where a rule's pattern was found but a condition failed");
  line.Flag("--print", flags->print, "print the result, one line a node");
  line.Flag("--timing", flags->timing, "print the time of each pass");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("opt",
                "optimises a graph as TensorFlow's Grappler does, with a dump after each pass",
                "opt model.pb --fetch Identity --device /device:CPU:0 -o fast.pb --dump-dir dumps",
                SetUp);

}  // namespace
}  // namespace grapnel
