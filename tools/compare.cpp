// `grapnel compare A B`: finds the first tensor at which two runs diverge.
#include "lib/job/case_on_model.h"
#include "lib/job/compare_text.h"
#include "lib/job/graph_path.h"
#include "lib/support/file.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/run_flags.h"
#include "tools/time_limit.h"

namespace grapnel {
namespace {

struct Flags {
  std::string a, b, graph_b, values, ledger, device, precision, run;
  RunFlags model;
  double rtol = -1, atol = -1;  // -1: not given
  int threads_b = 0, step = -1;
  bool optimized = false;
  TimeLimit limit;
};

// True if B is another graph than A: one from its own file, or another graph of A's file.
bool HasB(const Flags& flags) { return !flags.b.empty() || !flags.graph_b.empty(); }

// Returns an error for a flag that belongs to another kind of comparison and would be ignored
// silently.
Error CheckOneKind(const Flags& flags, bool is_folder) {
  bool has_b = HasB(flags);
  bool is_other_run = !flags.device.empty() || flags.threads_b > 0;
  if (!has_b && !flags.optimized && !is_other_run && flags.precision.empty())
    return MakeError(
        "nothing to compare with: pass B, --graph-b, --optimized, --device, --threads-b or "
        "--precision");
  if (has_b && (flags.optimized || !flags.precision.empty()))
    return MakeError("{0} compares A with itself: do not pass B or --graph-b",
                     flags.optimized ? "--optimized" : "--precision");
  if (!flags.precision.empty() && (flags.optimized || is_other_run))
    return MakeError("--precision cannot be combined with --optimized, --device or --threads-b");
  if (is_folder && (is_other_run || !flags.ledger.empty()))
    return MakeError("{0} is a debug folder: --device, --threads-b and --ledger are for graphs",
                     flags.b);
  if (!is_folder && (flags.step >= 0 || !flags.run.empty()))
    return MakeError("--step and --run require a debug folder as B");
  if (!has_b && !flags.ledger.empty())
    return MakeError("--ledger describes how B was made: pass B");
  return Error::success();
}

// For --case: feeds A the values of the case; B gets them by the same keys.
Error TakeCase(const OpenedGraph& a, const Flags& flags, CompareRequest* request) {
  if (flags.values.empty()) return Error::success();
  if (a.model().case_info)
    return MakeError("{0} is a case and has its own values: --case is for a model", flags.a);
  ASSIGN_OR_RETURN(Case values, LoadCase(flags.values));
  if (values.rtol > 0) request->tolerance.rtol = values.rtol;
  ASSIGN_OR_RETURN(CaseOfModel on_a, CaseOnModel(std::move(values), a));
  return FillFromCase(on_a, a, &request->run);
}

// Sets the tolerance from the case, if A is one, and from the flags. A case gives its tolerance for
// outputs; here it applies to all tensors.
void FillTolerance(const OpenedGraph& a, const Flags& flags, CompareRequest* request) {
  if (const auto& values = a.model().case_info; values && values->rtol > 0)
    request->tolerance.rtol = values->rtol;
  if (flags.rtol >= 0) request->tolerance.rtol = flags.rtol;
  if (flags.atol >= 0) request->tolerance.atol = flags.atol;
}

Expected<DebugRun*> ChooseRun(DebugFolder& folder, llvm::StringRef id) {
  if (id.empty()) return &folder.runs.back();
  std::vector<std::string> ids;
  for (DebugRun& run : folder.runs) {
    if (run.id == id) return &run;
    ids.push_back(run.id);
  }
  return Annotate(folder.path, NotFound("run", id, ids));
}

Expected<RunComparison> CompareFolder(OpenedGraph& a, const Flags& flags,
                                      const CompareRequest& request) {
  ASSIGN_OR_RETURN(DebugFolder folder, ReadDebugFolder(flags.b));
  for (const std::string& problem : folder.problems) request.run.sink(Severity::kWarning, problem);
  ASSIGN_OR_RETURN(DebugRun * run, ChooseRun(folder, flags.run));
  return CompareWithRecord(a, folder, *run, std::max(flags.step, 0), request);
}

Expected<RunComparison> CompareGraphs(OpenedGraph& a, const Flags& flags, CompareRequest& request) {
  if (flags.optimized) return CompareOptimized(a, request);
  if (!HasB(flags)) return CompareRuns(a, a, request);
  std::string path = flags.b.empty() ? ReadGraphPath(flags.a).path : flags.b;
  ASSIGN_OR_RETURN(OpenedGraph b, OpenInput(path, flags.graph_b, request.run.sink));
  // A graph without objects, as `opt` writes it, runs as it is, like a graph without signatures.
  if (!b.file().object_graph.empty()) RETURN_IF_ERROR(flags.model.Use(&b));
  std::optional<Provenance> provenance;
  if (!flags.ledger.empty()) {
    ASSIGN_OR_RETURN(std::shared_ptr<const FileBytes> file, FileBytes::Open(flags.ledger));
    auto parsed = Provenance::Parse(file->bytes());
    if (!parsed) return Annotate(flags.ledger, parsed.takeError());
    provenance = std::move(*parsed);
    request.provenance = &*provenance;
  }
  return CompareRuns(a, b, request);
}

Expected<int> RunPrecision(OpenedGraph& a, const Flags& flags, const CompareRequest& request,
                           Invocation& invocation) {
  DataType format = flags.precision == "float16" ? proto::DT_HALF : proto::DT_BFLOAT16;
  ASSIGN_OR_RETURN(PrecisionReport report, ComparePrecision(a, request, format, flags.rtol >= 0));
  if (invocation.flags.json) {
    WriteDocument(invocation.out(),
                  [&](llvm::json::OStream& json) { WritePrecisionJson(report, json); },
                  {.format = 2});
  } else if (!invocation.flags.quiet || !report.Agrees()) {
    WritePrecisionText(report, invocation.out());
  }
  return report.Agrees() ? kExitOk : kExitNo;
}

Expected<int> CompareAndPrint(OpenedGraph& a, const Flags& flags, CompareRequest& request,
                              bool is_folder, Invocation& invocation) {
  ASSIGN_OR_RETURN(RunComparison comparison,
                   is_folder ? CompareFolder(a, flags, request) : CompareGraphs(a, flags, request));
  if (invocation.flags.json) {
    WriteDocument(invocation.out(),
                  [&](llvm::json::OStream& json) { WriteComparisonJson(comparison, json); });
  } else if (!invocation.flags.quiet || !comparison.Agrees()) {
    WriteComparisonText(comparison, invocation.out());
  }
  return comparison.Agrees() ? kExitOk : kExitNo;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (flags.a == "-" && flags.b == "-")
    return MakeError("only one of the two graphs can come from standard input");
  if (IsDebugFolder(flags.a))
    return MakeError("{0} is a debug folder: pass it second, after the recorded model", flags.a);
  bool is_folder = !flags.b.empty() && IsDebugFolder(flags.b);
  RETURN_IF_ERROR(CheckOneKind(flags, is_folder));
  ASSIGN_OR_RETURN(OpenedGraph a, OpenInput(flags.a, flags.model.graph, invocation.sink()));
  RETURN_IF_ERROR(flags.model.Use(&a));
  CompareRequest request;
  ASSIGN_OR_RETURN(request.run, flags.model.Request());
  request.run.sink = invocation.sink();
  request.run.print = [&](Severity, llvm::StringRef text) { invocation.err() << text << "\n"; };
  RETURN_IF_ERROR(TakeCase(a, flags, &request));
  FillTolerance(a, flags, &request);
  request.threads_b = std::max(flags.threads_b, 1);
  if (!flags.device.empty()) {
    ASSIGN_OR_RETURN(request.device_b, Devices::Get().Find(flags.device));
  }
  CancelFlag& cancel = invocation.cancel();
  request.run.cancel = &cancel;
  Deadline deadline = flags.limit.Begin(cancel, flags.a, invocation);
  auto exit = flags.precision.empty() ? CompareAndPrint(a, flags, request, is_folder, invocation)
                                      : RunPrecision(a, flags, request, invocation);
  if (!exit && cancel.is_set()) return Annotate(flags.limit.Text(), exit.takeError());
  return exit;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("A", flags->a, "a model, or a case folder with its feeds; runs on one CPU thread")
      .Required();
  line.Option(
      "B", flags->b,
      "another model; it gets A's feeds, by the keys of a common signature, unless A and B are "
      "cases; or a debug folder of TensorFlow with tensor_debug_mode=\"FULL_TENSOR\"");
  flags->model.AddTo(line, "a tensor that both runs compute; default: as in `run`", "NAME");
  line.Option("--graph-b", flags->graph_b,
              "the title of B's graph, or without B of a second graph in A's file")
      .ShownAs("TITLE");
  flags->model.AddVariablesTo(line);
  line.Option("--case", flags->values,
              "a case folder with the feeds of both; if it was captured from a signature, its keys "
              "select the inputs of each model")
      .ShownAs("DIR");
  line.Option("--ledger", flags->ledger, "the file that `opt --ledger` wrote when it made B from A")
      .ShownAs("FILE");
  line.Flag("--optimized", flags->optimized, "B is A after the default passes");
  line.Option(
      "--device", flags->device,
      "device for B's nodes that request no device and have a kernel for it: CPU, GPU, GPU:1");
  line.Option("--threads-b", flags->threads_b, "number of threads for B").Positive();
  line.Option("--precision", flags->precision,
              "B is A with every float32 number rounded to this format: shows what overflows, "
              "vanishes or cancels, and what to keep in float32")
      .OneOf({"float16", "bfloat16"});
  line.Option(
          "--rtol", flags->rtol,
          "values agree if |b - a| <= max(atol + rtol * |a|, 2 ulp); default: the case's, else "
          "1e-4; 64 times that for 16-bit dtypes; with --precision 8 times the format's epsilon")
      .NotNegative();
  line.Option("--atol", flags->atol,
              "see --rtol; default: for each tensor, rtol times its median magnitude, as in cases")
      .NotNegative();
  line.Option("--step", flags->step,
              "in a debug folder: the number of the call, from 0; default: the first call")
      .NotNegative();
  line.Option("--run", flags->run, "in a debug folder: the id of the run; default: the newest run")
      .ShownAs("ID");
  flags->limit.AddTo(line, "stop with an error after this time; default: never");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("compare", "finds the first tensor at which two runs diverge",
                "compare model.pb optimized.pb --feed x=x.npy", SetUp);

}  // namespace
}  // namespace grapnel
