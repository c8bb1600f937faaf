// A job: runs an opened graph, on one device or split over several.
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

struct InnerFetches;  // lib/job/run.cpp

// The names of the caller's settings, for errors that say what to change; see PlacerFlagNames.
struct GRAPNEL_PUBLIC RunFlagNames {
  PlacerFlagNames placer;
  std::string fetches = "as fetches";  // "name tensors ..."
  std::string device = "the device";   // "... CPU"
  std::string placement_log = "a log of the placement";
};

struct GRAPNEL_PUBLIC RunRequest {
  std::vector<FeedSource> feeds;  // each feed has a value
  // Tensors, or nodes without outputs that are to run. Also tensors inside of function calls
  // (lib/job/name_resolver.h): then the calls on the way run.
  std::vector<std::string> fetches;
  // True: feeds and fetches may be keys of the signature, and the case or signature supplies
  // missing ones; in a graph without a case or signature, the nodes without consumers are fetched,
  // with a notice to `sink`. False: the request is used exactly as written.
  bool completes = true;
  std::string signature;
  // The checkpoint PREFIX, or file of Keras weights, to start from; empty: that of the model.
  std::string variables;

  Device* device = nullptr;  // for nodes that request no device and have a kernel there; null: the
                             // CPU
  // If set: places the graph on these CPUs and GPUs ("cpu:4", "gpu:2", or names). If RealGpuFor()
  // finds a GPU of this machine, runs the nodes of logical GPUs there, without splitting the graph;
  // else splits the graph, and runs the partitions in parallel on the CPU.
  std::string devices;
  bool may_read = true;  // true: `devices` may be the path of a cluster file
  // True: an unsatisfiable device request, and a simulated GPU, are errors.
  bool hard = false;
  llvm::raw_ostream* placement_log = nullptr;  // receives the device of each node in TensorFlow's
                                               // format; may be null

  ThreadPool* pool = nullptr;  // null: the job makes one with one thread per core
  MessageSink sink;            // warnings about the graph
  MessageSink print;           // receives what the graph prints
  // Hooks that are called before and after each run, in order; their node hooks are called before
  // `hook`.
  std::vector<StepHook*> steps;
  // `hook` and `watch` observe each node; `watch` also observes the feeds, and can stop the run
  // from another thread. At most one of them may be set, and `watch` only without `steps`.
  RunHook* hook = nullptr;
  RunWatch* watch = nullptr;
  RunProfiler* profiler = nullptr;
  const CancelFlag* cancel = nullptr;  // stops a run from another thread
  bool winograd = false;               // ExecutorOptions::winograd
  OneDnn onednn = OneDnn::kAuto;       // TensorFlow's oneDNN setting to imitate:
                                       // ExecutorOptions::onednn
  // True if the graph's constants are not read after Prepare(): values that kernels have packed may
  // then be moved out of the graph (ValueTaker). Ignored with hooks, steps, a watch, a profiler or
  // placement, and by MakeApart().
  bool gives_up_values = false;
  bool keeps_variables = false;  // true: keeps values from before the last run, for SaveAsCase
  RunFlagNames words;

  // Returns the same request for a run on the CPU alone, without `device`, a placement, hooks,
  // watch, profiler or pool; it does not keep variables.
  RunRequest ByItself() const;
};

// A run job. Call Make(), Prepare(), Run() any number of times (not concurrently), then End().
// Everything that the request and the graph point to outlives it.
class GRAPNEL_PUBLIC RunJob {
 public:
  // Finds the feeds and fetches and loads the feeds. Errors: the graph is broken; a name or a file
  // does not exist, or a name is ambiguous; nothing is fetched; those of LoadFeeds.
  static Expected<RunJob> Make(OpenedGraph& opened, RunRequest request);
  // Make() for a graph that must not change: runs a copy if `devices` or `placement_log` is set.
  static Expected<RunJob> MakeApart(const OpenedGraph& opened, RunRequest request);
  RunJob(RunJob&&) = default;

  // Restores the model's saved state, or the request's checkpoint, and compiles the graph. With
  // `devices` or a placement log, places the graph: nodes get devices, and calls may be inlined.
  // Errors: those of RestoreSession; a needed variable without a value; those of PlaceForRun and
  // Executor::Compile; those of hooks.
  Error Prepare();
  // Runs the graph and returns the values of the fetches; see Executor::Run. Variables keep their
  // values between runs.
  Expected<std::vector<Tensor>> Run() { return Run(values_); }
  // Runs the graph with other values of the feeds, in the order of feeds().
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> values);
  // True if a hook asked to stop after this run.
  bool stops() const { return step_.stops; }
  // Called after the last run, or after a failed one: lets the hooks write their results. Returns
  // their first error.
  Error End();

  const std::vector<std::string>& feeds() const { return feeds_; }
  const std::vector<Tensor>& feed_values() const { return values_; }
  // The values of the feeds as the user gave them: for a variable's handle, the variable's initial
  // value.
  const std::vector<Tensor>& given_values() const { return given_; }
  // A tensor inside of calls has the name InnerFetch::Name().
  const std::vector<std::string>& fetches() const { return request_.fetches; }
  // The names of the fetches for display: a signature's keys, the names that the request has for
  // tensors inside of calls, else as in fetches().
  const std::vector<std::string>& fetch_names() const { return fetch_names_; }

  // The number of nodes to run; 0 if the graph is split over devices. Valid after Prepare().
  int num_nodes() const { return plan_->whole ? plan_->whole->num_nodes() : 0; }
  bool runs_copy() const { return apart_ != nullptr; }
  // The variables and tables, with their values after the last run.
  const Session& session() const { return *session_; }
  // Reports how many nodes run on a device and on the CPU, or over how many devices the graph is
  // split; reports nothing if only the CPU is used.
  void ReportSpread(const MessageSink& sink) const;
  // Writes the variables to a checkpoint with this prefix; see lib/exec/saved_state.h.
  Error SaveVariables(llvm::StringRef prefix);
  // Writes the graph, the feeds, the variables (see RunRequest::keeps_variables) and `outputs`, the
  // values of the fetches, as a case folder. Outputs without a value and outputs that cannot be
  // saved (a queue, a dataset) are left out. Errors: a feed that cannot be saved; a file that
  // cannot be written.
  Error SaveAsCase(llvm::StringRef folder, llvm::ArrayRef<Tensor> outputs) const;

 private:
  RunJob(const OpenedGraph& opened, RunRequest request);
  Error Load();
  Error Restore();
  Error Complete();
  Error CompleteFetches();
  Error FetchEnds();
  Error FindInnerFetches();
  RunHook* ChainHooks();
  void BeginStep(llvm::ArrayRef<Tensor> values);
  void KeepVariables();
  Error Tell(Error (StepHook::*event)(StepContext&));
  Expected<RunPlan*> PlanFor(const std::vector<std::string>& more);

  RunRequest request_;
  const OpenedGraph* opened_;
  Module* placed_ = nullptr;            // the module to place
  std::unique_ptr<OpenedGraph> apart_;  // a copy to run instead, if needed
  std::unique_ptr<ThreadPool> own_pool_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<HookChain> hooks_;
  std::shared_ptr<InnerFetches> inner_;  // null: no fetch is inside of calls
  std::vector<std::string> feeds_, fetch_names_;
  std::vector<Tensor> values_, given_;
  std::unique_ptr<PlacerSetup> setup_;  // set if the graph is placed
  ExecutorOptions options_;
  std::map<std::vector<std::string>, RunPlan> plans_;  // key: extra fetches
  RunPlan* plan_ = nullptr;                            // the plan for what every run fetches
  std::vector<std::string> always_;                    // extra fetches of every run
  StepContext step_;
  std::vector<std::pair<std::string, Tensor>> before_;  // node and value of each variable
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_RUN_H_
