// A job: an opened graph is run, on one device or split over several.
#ifndef GRAPNEL_LIB_JOB_RUN_H_
#define GRAPNEL_LIB_JOB_RUN_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/exec/session.h"
#include "lib/job/feed_source.h"
#include "lib/job/opened_graph.h"
#include "lib/job/run_plan.h"
#include "lib/job/run_watch.h"
#include "lib/place/words.h"
#include "lib/support/onednn.h"
#include "lib/support/public.h"
#include "lib/watch/hook_chain.h"
#include "lib/watch/step_hook.h"

namespace grapnel {

// What the person who asks for a run calls the things that it is told, for errors that say what to
// change; see PlacerFlagNames.
struct GRAPNEL_PUBLIC RunFlagNames {
  PlacerFlagNames placer;
  std::string fetches = "as fetches";  // "name tensors ..."
  std::string device = "the device";   // "... CPU"
  std::string placement_log = "a log of the placement";
};

struct GRAPNEL_PUBLIC RunRequest {
  std::vector<FeedSource> feeds;     // each with a value
  std::vector<std::string> fetches;  // tensors, or nodes without outputs that are to run
  // Whether the signature's keys may name feeds and fetches, and the case or signature fills in
  // those that are not given; in a plain graph of neither the nodes that nobody reads are fetched,
  // and `sink` told so. Else the request is taken as it is written.
  bool completes = true;
  std::string signature;
  std::string variables;  // a checkpoint to begin from, PREFIX; empty: the model's own

  Device* device = nullptr;  // for nodes that name none and have a kernel there; null: the CPU
  // Set: the graph is placed on these CPUs ("cpu:4", or names), split, and the parts run side by
  // side.
  std::string devices;
  bool may_read = true;  // whether `devices` may be the path of a cluster file
  bool hard = false;     // a device's request that cannot be met is an error
  llvm::raw_ostream* placement_log = nullptr;  // set: gets where each node runs, as TensorFlow's

  ThreadPool* pool = nullptr;  // null: one of the job's own, with a thread a core
  MessageSink sink;            // what is wrong with the graph and yet no error
  MessageSink print;           // what the graph itself prints
  // Called around each run, in order; those of them that see nodes do before `hook`.
  std::vector<StepHook*> steps;
  // Both see each node; `watch` is told of the feeds too, and stops the run from another thread.
  // One of them at most, and `watch` without `steps`.
  RunHook* hook = nullptr;
  RunWatch* watch = nullptr;
  RunProfiler* profiler = nullptr;
  const CancelFlag* cancel = nullptr;  // ends a run from another thread
  bool winograd = false;               // ExecutorOptions::winograd
  OneDnn onednn = OneDnn::kAuto;       // which TensorFlow to imitate: see ExecutorOptions::onednn
  // Nobody reads values of the graph's constants after Prepare(): those that kernels have packed
  // may leave it (ValueTaker). Not with hooks, steps, a profiler or placement, for which they stay.
  bool gives_up_values = false;
  bool keeps_variables = false;  // for SaveAsCase, as they were before the last run
  RunFlagNames words;

  // The same on the CPU and on one device, watched by nobody, on a pool of the job's own.
  RunRequest ByItself() const;
};

// Made, prepared once, then run as often as one likes. What the request and the graph point to
// outlives it. One run at a time: Prepare(), any number of Run(), End().
class GRAPNEL_PUBLIC RunJob {
 public:
  // Finds and loads what is fed and fetched. Errors: the graph is broken; a name or a file is not
  // there; nothing is fetched.
  static Expected<RunJob> Make(OpenedGraph& opened, RunRequest request);
  // For a graph that must not change: where `devices` are asked for, a copy of it is run.
  static Expected<RunJob> MakeApart(const OpenedGraph& opened, RunRequest request);
  RunJob(RunJob&&) = default;

  // Restores what the model saved, or the request's checkpoint, and compiles. With `devices` or a
  // log the graph is placed: its nodes get their devices, calls may give way to their functions'
  // nodes. Errors: RestoreSession's, Executor::Compile's, what cannot be placed, with the reasons;
  // a device that is no CPU, since only those can be played; those of hooks.
  Error Prepare();
  // Values of the fetches; see Executor::Run. Variables keep what each run made of them.
  Expected<std::vector<Tensor>> Run() { return Run(values_); }
  // The same on other values, in the order of feeds().
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> values);
  // Whether a hook asked that no run follows.
  bool stops() const { return step_.stops; }
  // After the last run, or one that failed: lets the hooks write what they keep. Gives the first
  // error of theirs.
  Error End();

  const std::vector<std::string>& feeds() const { return feeds_; }
  const std::vector<Tensor>& feed_values() const { return values_; }
  // The same as they were given: of a variable's handle what the variable held at first.
  const std::vector<Tensor>& given_values() const { return given_; }
  const std::vector<std::string>& fetches() const { return request_.fetches; }
  // What a person calls them: a signature's keys, else as fetches() has them.
  const std::vector<std::string>& fetch_names() const { return fetch_names_; }

  // After Prepare:
  int num_nodes() const { return plan_->whole ? plan_->whole->num_nodes() : 0; }  // 0: it is split
  bool runs_copy() const { return apart_ != nullptr; }
  // Variables and tables as the last run left them.
  const Session& session() const { return *session_; }
  // How it is spread over a device and the CPU, or over how many devices; nothing of one that is
  // for the CPU alone.
  void ReportSpread(const MessageSink& sink) const;
  // Writes the variables as a checkpoint; see lib/exec/saved_state.h.
  Error SaveVariables(llvm::StringRef prefix);
  // Writes the graph, the feeds, the variables (see RunRequest::keeps_variables) and `outputs`,
  // which a run gave, as a case folder. What no file holds (a queue, a dataset) and what has no
  // value is left out.
  Error SaveAsCase(llvm::StringRef folder, llvm::ArrayRef<Tensor> outputs) const;

 private:
  RunJob(const OpenedGraph& opened, RunRequest request);
  Error LoadFeeds();
  Error Restore();
  Error Complete();
  Error FetchEnds();
  RunHook* ChainHooks();
  void BeginStep(llvm::ArrayRef<Tensor> values);
  void KeepVariables();
  Error Tell(Error (StepHook::*event)(StepContext&));
  Expected<RunPlan*> PlanFor(const std::vector<std::string>& more);

  RunRequest request_;
  const OpenedGraph* opened_;
  Module* placed_ = nullptr;            // what may be placed
  std::unique_ptr<OpenedGraph> apart_;  // a copy, if one was needed
  std::unique_ptr<ThreadPool> own_pool_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<HookChain> hooks_;
  std::vector<std::string> feeds_, fetch_names_;
  std::vector<Tensor> values_, given_;
  std::unique_ptr<PlacerSetup> setup_;  // set: the graph is placed
  ExecutorOptions options_;
  std::map<std::vector<std::string>, RunPlan> plans_;  // by what is fetched beside the request's
  RunPlan* plan_ = nullptr;                            // of what every run fetches
  std::vector<std::string> always_;                    // that, beside the request's
  StepContext step_;
  std::vector<std::pair<std::string, Tensor>> before_;  // of variables: node, value
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_RUN_H_
