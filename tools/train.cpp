// `grapnel train MODEL|CASE|FILE.cpp`: runs training steps with losses and checkpoints.
#include "lib/job/train.h"

#include <cmath>
#include <optional>

#include "lib/job/save_model.h"
#include "lib/job/traced_graphs.h"
#include "lib/support/json.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "lib/trace/eager.h"
#include "lib/trace/optimizers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/interruption.h"
#include "tools/progress.h"
#include "tools/run_flags.h"
#include "tools/without_flag.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, checkpoint_dir, save_model;
  RunFlags run;
  MakeStep make;
  int64_t steps = 100, batch_size = 0, checkpoint_every = 0, log_every = 10;
  int keep = 5;
  bool resume = false, optimize = false, eager = false;
  std::vector<std::string> without;
};

// The graph to train; `function`: the C++ function from which it was traced, if any.
struct Subject {
  OpenedGraph opened;
  std::optional<TracedFunction> function;
};

Expected<Subject> Open(const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(std::vector<TracedFunction> functions,
                   FunctionsNamed(flags.model, invocation.sink()));
  if (functions.empty()) {
    ASSIGN_OR_RETURN(OpenedGraph opened,
                     OpenInput(flags.model, flags.run.graph, invocation.sink()));
    RETURN_IF_ERROR(flags.run.Use(&opened));
    return Subject{std::move(opened), std::nullopt};
  }
  ASSIGN_OR_RETURN(OpenedGraph opened, OpenFunction(flags.model, functions, flags.run.graph));
  auto chosen = llvm::find_if(functions, [&](const TracedFunction& function) {
    return function.name == opened.file().title;
  });
  return Subject{std::move(opened), *chosen};
}

std::string Line(const TrainedStep& step) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "step " << step.step;
  for (const auto& [name, value] : step.scalars)
    os << "  " << name << " " << llvm::format("%.6g", value);
  return os.str();
}

// Writes a step as a JSON document on one line.
void WriteStep(const TrainedStep& step, llvm::raw_ostream& out) {
  auto write = [&](llvm::json::OStream& json) {
    json.attribute("step", step.step);
    json.attributeObject("scalars", [&] {
      for (const auto& [name, value] : step.scalars) json.attribute(name, NumberOrText(value));
    });
  };
  WriteDocument(out, write, {.on_one_line = true});
  out.flush();
}

int ReportBad(const Trained& trained, const Flags& flags, llvm::raw_ostream& err) {
  err << "grapnel: " << flags.model << ": step " << trained.last << ": '" << trained.bad
      << "' is not finite; ";
  if (trained.failing_case.empty())
    err << "with --checkpoint-dir that step is saved as a case, in which `grapnel blame` finds the "
           "op that made it so\n";
  else
    err << "`grapnel blame " << trained.failing_case << "` finds the op that made it so\n";
  return kExitNo;
}

// Returns a model with all functions of the C++ file or plugin that has `function`; they share the
// trained variables.
Expected<TracedModel> WholeModel(const TracedFunction& function) {
  ModelBuilder builder;
  for (const TracedFunction& other : TracedFunctions()) {
    if (llvm::StringRef(other.plugin) == function.plugin) other.add(builder);
  }
  return builder.Finish();
}

Expected<TrainRequest> RequestOf(const Flags& flags) {
  TrainRequest request;
  ASSIGN_OR_RETURN(request.run, flags.run.Request());
  request.make = flags.make;
  request.steps = flags.steps;
  request.batch_size = flags.batch_size;
  request.checkpoint_dir = flags.checkpoint_dir;
  request.checkpoint_every = flags.checkpoint_every;
  request.keep = flags.keep;
  request.resume = flags.resume;
  request.optimize = flags.optimize;
  request.without = flags.without;
  return request;
}

Error CheckCombination(const Flags& flags) {
  if (flags.checkpoint_dir.empty() && (flags.resume || flags.checkpoint_every > 0))
    return MakeError("{0} requires --checkpoint-dir",
                     flags.resume ? "--resume" : "--checkpoint-every");
  if (!flags.without.empty() && !flags.optimize) return MakeError("--without requires --opt");
  if (flags.make.optimizer.empty() != flags.make.loss.empty())
    return MakeError(
        "--optimizer and --loss require each other: they add a training step to a graph without "
        "one");
  if (flags.make.optimizer.empty() && !flags.make.only.empty())
    return MakeError("--train requires --optimizer");
  if (flags.eager && (flags.optimize || !flags.make.optimizer.empty()))
    return MakeError("--eager runs a program, but {0} requires a graph",
                     flags.optimize ? "--opt" : "--optimizer");
  if (!flags.make.optimizer.empty() && !llvm::is_contained(OptimizerNames(), flags.make.optimizer))
    return NotFound("optimizer", flags.make.optimizer, OptimizerNames(), "");
  return Error::success();
}

// Returns a training step that calls the C++ function in eager mode, op by op.
decltype(TrainRequest::program) EagerStep(const TracedFunction& function, ThreadPool& pool,
                                          const MessageSink& print) {
  return [&function, &pool, print](Session& session, std::vector<Tensor> batch) {
    EagerOptions options;
    options.pool = &pool;
    options.session = &session;
    options.print = print;
    options.records = true;
    return RunEagerly(function.name, function.inputs, function.call, std::move(batch), options,
                      function.where);
  };
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(CheckCombination(flags));
  ASSIGN_OR_RETURN(Subject subject, Open(flags, invocation));
  ASSIGN_OR_RETURN(TrainRequest request, RequestOf(flags));
  ThreadPool pool(invocation.flags.threads);
  CancelFlag& cancel = invocation.cancel();
  request.run.pool = &pool;
  request.run.cancel = &cancel;
  request.run.sink = invocation.sink();
  request.run.print = [&](Severity, llvm::StringRef text) { invocation.err() << text << "\n"; };
  const std::vector<std::string>& results = subject.opened.file().fetches;
  if (subject.function && request.run.fetches.empty() && !results.empty()) {
    request.run.fetches = results;
    request.loss_name = "loss";
  }
  if (flags.eager) {
    if (!subject.function)
      return MakeError("--eager requires a function of a C++ file or a --plugin");
    if (request.run.fetches != results)
      return MakeError(
          "--fetch requires a graph and cannot be combined with --eager, which returns the "
          "function's results");
    request.program = EagerStep(*subject.function, pool, request.run.print);
  }
  std::optional<TracedModel> whole;  // created before training, to report its errors early
  if (!flags.save_model.empty()) {
    if (!subject.function)
      return MakeError("--save-model requires a function of a C++ file or a --plugin");
    ASSIGN_OR_RETURN(whole, WholeModel(*subject.function));
    request.finish = [&](Session& session) -> Error {
      RETURN_IF_ERROR(SetInitialValues(session, whole->variables));
      return SaveTracedModel(*whole, session, flags.save_model);
    };
  }
  std::optional<Interruption> interruption;
  if (!invocation.caller()) interruption.emplace(cancel, /*has_several_runs=*/true);
  auto each = [&](const TrainedStep& step) {
    invocation.ReportProgress("step", step.step, flags.steps);
    bool is_said = step.step % flags.log_every == 0 || step.step == 1 || step.step == flags.steps;
    for (const auto& scalar : step.scalars) is_said |= !std::isfinite(scalar.second);
    if (is_said && invocation.flags.json) {
      WriteStep(step, invocation.out());
    } else if (is_said && !invocation.flags.quiet) {
      invocation.out() << Line(step) << "\n";
      invocation.out().flush();
    }
    return !interruption || !interruption->is_asked();
  };
  auto trained = Train(subject.opened, request, each);
  Progress::End();
  if (!trained) {
    std::string text = TextOf(trained.takeError());
    return llvm::StringRef(text).starts_with(flags.model)
               ? MakeError("{0}", text)
               : MakeError("{0}: {1}", flags.model, text);
  }
  invocation.out().flush();
  if (!trained->bad.empty()) return ReportBad(*trained, flags, invocation.err());
  if (flags.resume && trained->first > 0 && trained->first >= flags.steps &&
      !invocation.flags.quiet)
    invocation.err() << "grapnel: " << trained->checkpoint << " is from step " << trained->first
                     << ": --steps " << flags.steps << " is already reached\n";
  else if (!trained->checkpoint.empty() && !invocation.flags.quiet)
    invocation.err() << "grapnel: step " << trained->last << " is in " << trained->checkpoint
                     << "\n";
  invocation.Wrote(flags.save_model);
  if (interruption && interruption->is_asked()) Interruption::Obey();
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model,
              "a graph that runs a training step: a case folder, with batches and variables; a "
              "SavedModel with --signature train_step; FILE.cpp or FILE.cpp:FUNCTION, which is "
              "compiled and traced; the name of a function of a --plugin")
      .Required();
  flags->run.AddTo(line,
                   "a tensor to compute in each step; the first floating-point scalar is the loss",
                   "NAME");
  flags->run.AddVariablesTo(line);
  line.Option("--steps", flags->steps,
              "total number of steps, including those before --resume; 0 with --checkpoint-dir "
              "writes the initial variables")
      .NotNegative()
      .ShowDefault();
  line.Option("--batch-size", flags->batch_size,
              "number of rows of the feeds per step, in order; without it a feed with one "
              "dimension more than its placeholder is a stack of batches")
      .Positive();
  line.Option("--log-every", flags->log_every, "print the loss every N steps")
      .Positive()
      .ShowDefault();
  line.Option("--optimizer", flags->make.optimizer,
              "add a training step to a graph that has none: adam, adamw, momentum, nesterov, "
              "rmsprop or sgd, on the gradients of --loss");
  line.Option("--learning-rate", flags->make.learning_rate, "the learning rate of --optimizer")
      .ShowDefault();
  line.Option("--loss", flags->make.loss, "the scalar that --optimizer minimizes")
      .ShownAs("TENSOR");
  line.Option("--train", flags->make.only,
              "the variables that --optimizer updates; default: all floating-point ones")
      .ShownAs("VARIABLE");
  line.Option("--checkpoint-dir", flags->checkpoint_dir,
              "write checkpoints here, as tf.train.load_checkpoint and --variables read them");
  line.Option("--checkpoint-every", flags->checkpoint_every,
              "write a checkpoint every N steps, not only at the end")
      .Positive();
  line.Option("--keep", flags->keep, "how many checkpoints to keep").Positive().ShowDefault();
  line.Option("--save-model", flags->save_model,
              "after training, write the functions of the C++ file or plugin and the variables as "
              "a SavedModel")
      .ShownAs("FOLDER");
  line.Flag("--resume", flags->resume,
            "continue from the last checkpoint in --checkpoint-dir, if any");
  line.Flag("--opt", flags->optimize, "optimize the graph first, as `opt` does");
  AddWithoutFlag(line, flags->without);
  line.Flag("--eager", flags->eager,
            "call the function for each step, op by op; the losses are those of the graph");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("train", "runs the training step of a graph again and again",
                "train mlp_case --steps 1000 --checkpoint-dir checkpoints", SetUp);

}  // namespace
}  // namespace grapnel
