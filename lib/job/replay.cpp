#include "lib/job/replay.h"

#include <algorithm>
#include <chrono>

#include "lib/check/comparison.h"
#include "lib/io/value.h"
#include "lib/job/case_on_model.h"
#include "lib/job/optimize.h"
#include "lib/job/run_taps.h"
#include "lib/job/source.h"
#include "lib/watch/tap.h"

namespace grapnel {
namespace {

Expected<OpenedGraph> OpenCase(llvm::StringRef path) {
  ASSIGN_OR_RETURN(Model model, OpenModel(path));
  if (!model.case_info)
    return MakeError("{0}: is not a case folder (graph.pb, case.json, .npy files)", path);
  if (model.case_info->fetches.empty()) return MakeError("{0}: the case fetches nothing", path);
  return OpenedGraph(std::make_shared<Model>(std::move(model)), 0);
}

Error OptimizeFirst(OpenedGraph& opened, const ReplayRequest& request) {
  OptimizeRequest passes;
  passes.device = *request.optimize_for;
  passes.options.without = request.without;
  passes.options.pool = request.run.pool;
  passes.onednn = request.run.onednn;
  passes.signature = request.run.signature;
  for (const FeedSource& feed : request.run.feeds) passes.feeds.push_back({feed.tensor, "", {}});
  passes.options.fetches = request.run.fetches;
  ASSIGN_OR_RETURN(Optimized done, Optimize(opened, passes));
  return done.AsError();
}

// Compares output `i`. `step` is 0 for the first step, whose files are in Case::Fetch::file.
Error CheckFetch(const CaseOfModel& replays, size_t step, size_t i, const Tensor& output,
                 Replayed* replayed) {
  const Case& values = replays.values;
  const Case::Fetch& fetch = values.fetches[i];
  const std::string& name = replays.fetch_names[i];
  const std::string& file = step == 0 ? fetch.file : values.steps[step - 1].fetches[i];
  if (!output) return MakeError("output '{0}' has no value", name);
  if (output.HoldsObjects())
    return MakeError("output '{0}' is {1}, which cannot be compared", name, output.ToString());
  auto expected = LoadNpyLiteral(file, output.dtype());
  if (!expected) return Annotate("output '" + name + "'", expected.takeError());
  Comparison comparison = Compare(output.ToLiteral(), *expected, values.rtol, fetch.atol);
  replayed->max_error = std::max(replayed->max_error, comparison.max_error);
  if (!comparison.same && replayed->status == Replayed::kPass) {
    replayed->status = Replayed::kFail;
    replayed->fetch = name;
    replayed->message = "'" + name + "' " + comparison.message;
    if (!values.steps.empty())
      replayed->message = "step " + std::to_string(step + 1) + ": " + replayed->message;
  }
  return Error::success();
}

// Runs the steps after the first, until a fetch differs from its expected value.
Error RunSteps(RunJob& job, const CaseOfModel& replays, Replayed* replayed) {
  const Case& values = replays.values;
  for (size_t step = 1; step <= values.steps.size() && replayed->status == Replayed::kPass;
       ++step) {
    std::vector<Tensor> feeds;
    for (size_t i = 0; i < values.feeds.size(); ++i) {
      ASSIGN_OR_RETURN(Literal value, LoadNpyLiteral(values.steps[step - 1].feeds[i],
                                                     job.feed_values()[i].dtype()));
      ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromLiteral(value));
      feeds.push_back(std::move(tensor));
    }
    auto outputs = job.Run(std::move(feeds));
    if (!outputs) return Annotate("step " + std::to_string(step + 1), outputs.takeError());
    for (size_t i = 0; i < outputs->size(); ++i)
      RETURN_IF_ERROR(CheckFetch(replays, step, i, (*outputs)[i], replayed));
  }
  return Error::success();
}

// Returns slightly different values for each repeat: floats and doubles are scaled by 1 + (repeat
// mod 64) / 4096, so that a kernel cannot reuse values of the last run. Feeds of other dtypes stay
// the same, since changing an index or a length would change its meaning.
Expected<Tensor> Vary(const Tensor& feed, int repeat) {
  if (feed.dtype() != proto::DT_FLOAT && feed.dtype() != proto::DT_DOUBLE) return feed;
  ASSIGN_OR_RETURN(Tensor varied, Tensor::Allocate(feed.dtype(), feed.dims()));
  double scale = 1 + repeat % 64 / 4096.0;
  for (int64_t i = 0; i < feed.num_elements(); ++i) {
    if (feed.dtype() == proto::DT_FLOAT) {
      varied.data<float>()[i] = feed.data<float>()[i] * static_cast<float>(scale);
    } else {
      varied.data<double>()[i] = feed.data<double>()[i] * scale;
    }
  }
  return varied;
}

Error Repeat(RunJob& job, int repeat, Replayed* replayed) {
  std::vector<double> times;
  for (int i = 0; i < repeat; ++i) {
    std::vector<Tensor> varied;
    for (const Tensor& feed : job.feed_values()) {
      ASSIGN_OR_RETURN(Tensor tensor, Vary(feed, i + 1));
      varied.push_back(std::move(tensor));
    }
    auto began = std::chrono::steady_clock::now();
    auto outputs = job.Run(std::move(varied));
    if (!outputs) return outputs.takeError();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
            .count());
  }
  std::sort(times.begin(), times.end());
  replayed->median_ms = times[times.size() / 2];
  return Error::success();
}

Error RunCase(OpenedGraph& opened, const CaseOfModel& replays, const ReplayRequest& request,
              Replayed* replayed) {
  TapFilter taps{.names = request.taps};
  // Some of many cases may lack the nodes.
  Error unknown = ResolveTaps(opened, replays.signature, &taps);
  if (request.demands_taps && unknown) return unknown;
  llvm::consumeError(std::move(unknown));
  if (request.optimize_for) RETURN_IF_ERROR(OptimizeFirst(opened, request));
  Tap tap(std::move(taps), request.tap_mode);
  tap.CountOn(request.run.pool);
  RunRequest run = request.run;
  if (!request.taps.empty()) run.hook = &tap;
  run.gives_up_values = true;
  ASSIGN_OR_RETURN(RunJob job, RunJob::Make(opened, std::move(run)));
  if (Error error = job.Prepare()) return WithStack(opened, std::move(error));
  if (request.run.print) job.ReportSpread(request.run.print);
  auto ran = job.Run();
  if (!ran) return WithStack(opened, ran.takeError());
  std::vector<Tensor> outputs = std::move(*ran);
  replayed->taps = tap.tensors_tapped();
  for (size_t i = 0; i < outputs.size(); ++i)
    RETURN_IF_ERROR(CheckFetch(replays, 0, i, outputs[i], replayed));
  RETURN_IF_ERROR(RunSteps(job, replays, replayed));
  return request.repeat > 1 ? Repeat(job, request.repeat, replayed) : Error::success();
}

Error RunOwn(llvm::StringRef path, const ReplayRequest& request, Replayed* replayed) {
  ASSIGN_OR_RETURN(OpenedGraph opened, OpenCase(path));
  ASSIGN_OR_RETURN(CaseOfModel replays, CaseOnItself(*opened.model().case_info));
  return RunCase(opened, replays, request, replayed);
}

// Replays the case on `model`. If both have signatures, or the model is a SavedModel, the model
// restores its own variables, and signature keys, if any, find the case's feeds and fetches. Any
// other graph is run as if it were the case's graph.
Error RunOther(const OpenedGraph& model, llvm::StringRef path, ReplayRequest request,
               Replayed* replayed) {
  ASSIGN_OR_RETURN(OpenedGraph opened, OpenCase(path));
  // Reopens the file, without changes that the caller made to the graph, such as sizes of inputs:
  // they do not apply to the case.
  ASSIGN_OR_RETURN(OpenedGraph again, model.Reopen());
  // The passes change a copy, since the original graph is still needed: it has the nodes that
  // initialize and restore the model.
  OpenedGraph copy = request.optimize_for ? again.Copy() : std::move(again);
  ASSIGN_OR_RETURN(CaseOfModel replays, CaseOnModel(*opened.model().case_info, copy));
  Case& values = replays.values;
  if (request.rtol) values.rtol = *request.rtol;
  for (Case::Fetch& fetch : values.fetches) fetch.atol = request.atol.value_or(fetch.atol);
  if (replays.signature.empty() && copy.model().kind != FileKind::kSavedModel) {
    OpenedGraph with = opened.With(copy.module().Copy());
    return RunCase(with, replays, request, replayed);
  }
  RETURN_IF_ERROR(FillFromCase(replays, copy, &request.run));
  return RunCase(copy, replays, request, replayed);
}

Replayed Finished(Replayed replayed, Error error) {
  if (!error) return replayed;
  replayed.message = TextOf(std::move(error));
  llvm::StringRef message = replayed.message;
  bool unsupported = message.contains("kernel for ") || message.contains("has no CPU kernel");
  replayed.status = unsupported ? Replayed::kUnsupported : Replayed::kError;
  return replayed;
}

}  // namespace

Replayed Replay(llvm::StringRef path, const ReplayRequest& request) {
  Replayed replayed;
  Error error = RunOwn(path, request, &replayed);
  return Finished(std::move(replayed), std::move(error));
}

Replayed ReplayOn(const OpenedGraph& model, llvm::StringRef path, const ReplayRequest& request) {
  Replayed replayed;
  Error error = RunOther(model, path, request, &replayed);
  return Finished(std::move(replayed), std::move(error));
}

const char* StatusName(Replayed::Status status) {
  switch (status) {
    case Replayed::kPass:
      return "pass";
    case Replayed::kFail:
      return "fail";
    case Replayed::kUnsupported:
      return "unsupported";
    case Replayed::kError:
      return "error";
  }
  return "error";
}

}  // namespace grapnel
