// `grapnel doctor MODEL|CASE|LOGDIR|CHECKPOINTS`: finds what keeps a network from learning.
#include "lib/doctor/diagnosis_text.h"
#include "lib/support/text.h"
#include "lib/tfdbg/debug_folder.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/run_flags.h"
#include "tools/time_limit.h"

namespace grapnel {
namespace {

struct Flags {
  std::string path, loss, sure = "possible";
  RunFlags model;
  std::vector<std::string> checks;
  int steps = 5;
  bool strict = false, list = false;
  TimeLimit limit;
};

int List(Invocation& invocation) {
  if (invocation.flags.json)
    WriteDocument(invocation.out(), WriteChecksJson);
  else
    WriteChecksText(invocation.out());
  return kExitOk;
}

int Print(const Diagnosis& diagnosis, const Flags& flags, Invocation& invocation) {
  if (invocation.flags.json) {
    WriteDocument(invocation.out(),
                  [&](llvm::json::OStream& json) { WriteDiagnosisJson(diagnosis, json); });
  } else {
    WriteDiagnosisText(diagnosis, invocation.out());
  }
  return flags.strict && !diagnosis.IsClean() ? kExitNo : kExitOk;
}

Expected<DoctorRequest> RequestOf(const Flags& flags, Invocation& invocation) {
  DoctorRequest request;
  ASSIGN_OR_RETURN(request.run, flags.model.Request());
  request.run.sink = invocation.sink();
  request.run.print = [&](Severity, llvm::StringRef text) { invocation.err() << text << "\n"; };
  request.steps = flags.steps;
  request.loss = flags.loss;
  request.least = flags.sure == "certain"  ? Confidence::kCertain
                  : flags.sure == "likely" ? Confidence::kLikely
                                           : Confidence::kPossible;
  auto checks = Glob::ParseAll(flags.checks);
  if (!checks) return Annotate("--checks", checks.takeError());
  request.checks = std::move(*checks);
  return request;
}

Expected<int> OfGraph(OpenedGraph& opened, const Flags& flags, DoctorRequest request,
                      Invocation& invocation) {
  ThreadPool pool(invocation.flags.threads);
  request.run.pool = &pool;
  CancelFlag& cancel = invocation.cancel();
  request.run.cancel = &cancel;
  Deadline deadline = flags.limit.Begin(cancel, flags.path, invocation);
  auto diagnosis = ExamineGraph(opened, request);
  if (!diagnosis) {
    std::string text = TextOf(diagnosis.takeError());
    return MakeError("{0}", HasPrefix(text, flags.path) ? text : flags.path + ": " + text);
  }
  if (cancel.is_set()) return MakeError("{0}: {1}", flags.path, flags.limit.Text());
  return Print(*diagnosis, flags, invocation);
}

Error CheckFlagsOf(const char* kind, bool has_loss, const Flags& flags) {
  const RunFlags& model = flags.model;
  bool of_model = !model.graph.empty() || !model.signature.empty() || !model.function.empty() ||
                  !model.variables.empty() || !model.feeds.empty() || !model.fetches.empty() ||
                  flags.steps != Flags().steps;
  if (!flags.loss.empty() && !has_loss)
    return MakeError("{0} is {1}: --loss is for models and event files", flags.path, kind);
  if (!of_model) return Error::success();
  return MakeError(
      "{0} is {1}: --graph, --signature, --function, --feed, --fetch, --variables and --steps are "
      "for models",
      flags.path, kind);
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (flags.list) return List(invocation);
  if (flags.path.empty()) return MakeError("doctor: which model? (--list shows the checks)");
  ASSIGN_OR_RETURN(DoctorRequest request, RequestOf(flags, invocation));
  bool is_debug_folder = IsDebugFolder(flags.path);
  // With --graph, an event file that contains a graph is opened as a model, not as the record of a
  // training run.
  bool is_record = flags.model.graph.empty() && IsTrainingRecord(flags.path);
  if (!is_debug_folder && !is_record) {
    return OnEachGraph(flags.path, flags.model.graph, {}, invocation,
                       [&](OpenedGraph& opened) -> Expected<int> {
                         RETURN_IF_ERROR(flags.model.Use(&opened));
                         return OfGraph(opened, flags, request, invocation);
                       });
  }
  RETURN_IF_ERROR(CheckFlagsOf(is_debug_folder ? "a debug folder" : "the output of a training run",
                               !is_debug_folder, flags));
  ASSIGN_OR_RETURN(Diagnosis diagnosis, is_debug_folder
                                            ? ExamineDebugFolder(flags.path, request)
                                            : ExamineTrainingRecord(flags.path, request));
  return Print(diagnosis, flags, invocation);
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->path,
              "a model, or a case folder with its feeds; a debug folder of TensorFlow; a "
              "checkpoint, an event file with scalars, or a folder of them");
  flags->model.AddTo(line, "a tensor or op of the training step to run; default: as in `run`",
                     "NAME");
  flags->model.AddVariablesTo(line);
  line.Option("--loss", flags->loss,
              "the loss, or its tag in event files; default: scalars that are fetched and trained, "
              "tags with the word loss")
      .ShownAs("NODE");
  line.Option("--steps", flags->steps, "the most training steps to run").Positive().ShowDefault();
  line.Option("--checks", flags->checks, "run only these checks").ShownAs("GLOB");
  line.Option("--sure", flags->sure, "leave out findings with less confidence than this")
      .OneOf({"certain", "likely", "possible"})
      .ShowDefault();
  line.Flag("--list", flags->list, "list the checks, what each looks for and what it needs");
  line.Flag("--strict", flags->strict, "exit 1 if there is a finding, or the run fails");
  flags->limit.AddTo(line, "stop with an error after this time; default: never");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("doctor", "finds what keeps a network from learning",
                "doctor saved_model --signature train_step --feed x=x.npy --feed y=y.npy", SetUp);

}  // namespace
}  // namespace grapnel
