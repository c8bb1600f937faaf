// A job: Grappler's passes on an opened graph.
#ifndef GRAPNEL_LIB_JOB_OPTIMIZE_H_
#define GRAPNEL_LIB_JOB_OPTIMIZE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/check/bisect.h"
#include "lib/job/feed_source.h"
#include "lib/job/shape_overrides.h"
#include "lib/job/opened_graph.h"
#include "lib/pass/pass_manager.h"
#include "lib/support/onednn.h"
#include "lib/support/public.h"

namespace grapnel {

struct GRAPNEL_PUBLIC OptimizeRequest {
  // Of the main graph, by key of the signature or by name; for those not given the case, the text
  // or the signature fills in. A feed's value is for check_values.
  std::vector<FeedSource> feeds;
  std::vector<std::string> fetches;
  std::string signature;
  // Passes know them, as they know all sizes of what a signature of a function is given.
  ShapeOverrides sizes;
  std::vector<std::string> passes;         // just these, in this order; empty: those of the config
  const PassRegistry* registry = nullptr;  // see OptimizeOptions; outlives the job
  // TensorFlow's RewriterConfig as text proto: a file, or the text itself. Empty: the default, with
  // small graphs optimized too.
  std::string rewriter_config;
  std::string config_name = "RewriterConfig";  // what its errors call a text
  bool may_read = true;                        // whether rewriter_config may name files
  int limit = -1;                              // rewrites in all; -1: no limit
  bool keep_nan = false;                       // see OptimizeOptions
  OneDnn onednn = OneDnn::kAuto;               // which TensorFlow to imitate
  // For nodes without a device: written into those of the main graph; empty: they have none. Not
  // said, and no rewriter_config given: all are taken to be on TensorFlow's first CPU, where its
  // own run would place them, and it is written into none.
  std::optional<std::string> device;
  // Variables become constants first: see lib/job/freeze.h.
  bool freeze = false;
  // Of a SavedModel that is to be written as one: all signatures, see lib/job/whole_model.h.
  bool whole_model = false;

  // Runs the graph before and after each pass, on the values of the feeds, else on the case's, else
  // on several made-up ones (lib/check/value_check.h). The first pass after which a fetch or an
  // effect is another, or the graph no longer runs, is a failure.
  bool check_values = false;
  double rtol = 1e-4, atol = 1e-5;  // see ValueCheckOptions
  double run_timeout_s = 0;         // the same

  ThreadPool* pool = nullptr;  // outlives the job; null: one of its own, with a thread a core
  MessageSink sink;
  // None: no dumps. Empty: where TF_DUMP_GRAPH_PREFIX says, if it does (lib/job/dump.h).
  std::optional<std::string> dump_folder;
  llvm::raw_ostream* ledger = nullptr;  // gets every rewrite as a line of JSON
  std::function<void(const Rewrite&)> on_rewrite;
  Instrumentation* watcher = nullptr;  // told of all stages; outlives the job
  bool wants_near_misses = false;      // costs little, but bodies go one after another
};

struct GRAPNEL_PUBLIC Optimized {
  FeedsAndFetches tensors;  // as asked for, with what was filled in
  OptimizeResult result;
  // If they were wanted, sorted: what is left undone at the end, and what rules refused on the way
  // there, of which something else may have been made.
  std::vector<Refusal> near_misses, intermediate;
  std::optional<int> values_compared;  // fetches, with check_values
  int effects_compared = 0;            // variables, files and the like that runs change
  std::vector<int64_t> open_sizes;     // that check_values tried; empty: there are none

  // Set when a pass failed or changed a value. The graph is then as that pass left it and must not
  // be used, and `result` is empty.
  std::optional<std::string> failure;
  std::optional<Stage> failed;  // of a pass that failed by itself: FailedInput saves its graph
  std::string difference;       // what check_values found: FindCulprit finds the rewrite

  bool onednn = true;     // which TensorFlow was imitated
  size_t assumed_of = 0;  // nodes without a device that were taken to be on the CPU
  // "53 nodes without a device: taken to be on /device:CPU:0"; empty where nothing was assumed.
  std::string AssumedText() const;

  // "the one node that nobody reads is kept: 'y'" where no fetch was given, nor a case or signature
  // had any; else empty.
  std::string KeptText() const;
  // `failure` as an error, for who has no more to say of it.
  Error AsError() const { return failure ? MakeError("{0}", *failure) : Error::success(); }
};

// Optimizes the graph in place, every pass verified. Errors: the graph is broken or, for
// check_values, cannot be run; what the request says cannot be read or is not there.
GRAPNEL_PUBLIC Expected<Optimized> Optimize(OpenedGraph& opened, const OptimizeRequest& request);

// Of a failed job. Both open the file of `opened` anew and run the passes on that.

// Saves the graph that the failed pass was given, as NAME.before_PASS.pb in the working folder;
// gives that path.
GRAPNEL_PUBLIC Expected<std::string> SaveFailedInput(const OpenedGraph& opened,
                                                     const OptimizeRequest& request,
                                                     const Stage& failed);
// The first rewrite after which `fails` says something, or, without it, what check_values finds;
// see Bisect. `open_sizes`, if not null, becomes the sizes that were tried.
GRAPNEL_PUBLIC Expected<std::optional<Culprit>> FindCulprit(
    const OpenedGraph& opened, const OptimizeRequest& request,
    std::function<Expected<std::optional<std::string>>(const Module&)> fails = nullptr,
    std::vector<int64_t>* open_sizes = nullptr);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_OPTIMIZE_H_
