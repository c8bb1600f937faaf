// A job: runs Grappler's passes on an opened graph.
#ifndef GRAPNEL_LIB_JOB_OPTIMIZE_H_
#define GRAPNEL_LIB_JOB_OPTIMIZE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/check/bisect.h"
#include "lib/job/feed_source.h"
#include "lib/job/opened_graph.h"
#include "lib/job/shape_overrides.h"
#include "lib/pass/pass_manager.h"
#include "lib/support/onednn.h"
#include "lib/support/public.h"

namespace grapnel {

class NodeQuestion;  // lib/job/node_question.h

struct GRAPNEL_PUBLIC OptimizeRequest {
  // The caller sets `fetches`, `passes`, `without`, `most_runs`, `registry`, `limit`, `keep_nan`,
  // `pool` (null: the job makes one with one thread per core) and `sink`; the job sets all other
  // options.
  OptimizeOptions options;
  // Tensors of the main graph, like options.fetches by signature key or by name. If none are given,
  // the case, the text file or the signature supplies them, and likewise the fetches. Only
  // check_values uses the values of feeds.
  std::vector<FeedSource> feeds;
  std::string signature;
  // Sizes for unknown dimensions of inputs. If there are any, passes rely on the inputs' shapes, as
  // they do for functions of TensorFlow 2 anyway.
  ShapeOverrides sizes;
  // TensorFlow's RewriterConfig as a text proto: a file, or the text itself. Empty: TensorFlow's
  // default, but small main graphs are optimized too, and a dumped tf.data function is optimized
  // without constant folding and layout.
  std::string rewriter_config;
  std::string config_name = "RewriterConfig";  // how errors name the text
  bool may_read = true;                        // whether rewriter_config may name files
  OneDnn onednn = OneDnn::kAuto;               // TensorFlow's oneDNN setting to imitate
  // The device of main-graph nodes that request none; it is written into these nodes. Empty: these
  // nodes stay without a device. nullopt, and no rewriter_config: all nodes without a device are
  // assumed to be on TensorFlow's first CPU, where TensorFlow would place them, but nothing is
  // written.
  std::optional<std::string> device;
  // Converts variables to constants first: see lib/job/freeze.h.
  bool freeze = false;
  // Optimizes for all signatures, so that the result can be written as a SavedModel again: see
  // lib/job/whole_model.h.
  bool whole_model = false;

  // Runs the graph before and after each pass, on the values of the feeds, else on the case's, else
  // on several generated ones (lib/check/value_check.h). The first pass after which a fetch or an
  // effect differs, or the graph no longer runs, is a failure.
  bool check_values = false;
  double rtol = 1e-4, atol = 1e-5;  // see ValueCheckOptions
  double run_timeout_s = 0;         // see ValueCheckOptions

  // nullopt: no dumps. Empty: the folder in TF_DUMP_GRAPH_PREFIX, if set (lib/job/dump.h).
  std::optional<std::string> dump_folder;
  llvm::raw_ostream* ledger = nullptr;  // receives every rewrite as a line of JSON
  std::function<void(const Rewrite&)> on_rewrite;
  Instrumentation* watcher = nullptr;  // sees all stages; outlives the job
  bool wants_near_misses = false;      // cheap, but functions are then optimized one after another
  NodeQuestion* question = nullptr;    // hears of all stages and refusals; outlives the job
};

struct GRAPNEL_PUBLIC Optimized {
  FeedsAndFetches tensors;  // as requested, with defaults filled in
  OptimizeResult result;
  // If wants_near_misses, sorted: rewrites that rules refuse in the final graph; rewrites that
  // rules refused in intermediate graphs, whose nodes later rewrites may have optimized.
  std::vector<Refusal> near_misses, intermediate;
  std::optional<int> values_compared;  // number of fetches, with check_values
  int effects_compared = 0;            // variables, files and other state that runs change
  std::vector<int64_t> open_sizes;     // sizes that check_values tried; may be empty

  // Set if a pass failed or changed a value. The graph is then as that pass left it and must not be
  // used, and `result` is empty.
  std::optional<std::string> failure;
  std::optional<Stage> failed;  // if the pass itself failed: SaveFailedInput saves its input
  std::string difference;       // the finding of check_values: FindCulprit finds the rewrite

  bool onednn = true;     // the oneDNN setting that was imitated
  size_t assumed_of = 0;  // number of nodes without a device, assumed to be on the CPU
  // Returns "53 nodes without a device: assumed to be on /device:CPU:0"; "" if nothing was assumed.
  std::string AssumedText() const;

  // Returns "the one node without consumers is kept: 'y'" if neither the request nor a case or
  // signature gave fetches; else "".
  std::string KeptText() const;
  // Returns `failure` as an error, for callers that add nothing to it.
  Error AsError() const { return failure ? MakeError("{0}", *failure) : Error::success(); }
};

// Optimizes the graph in place and verifies it after every pass. Errors: the graph is broken or,
// with check_values, cannot run; the request cannot be applied to the graph, or names something
// unreadable or missing. A failing pass is not an error: see Optimized::failure.
GRAPNEL_PUBLIC Expected<Optimized> Optimize(OpenedGraph& opened, const OptimizeRequest& request);

// The functions below are for use after a failed job. Both open the file of `opened` again and run
// the passes on it.

// Saves the input graph of the failed pass as NAME.before_PASS.pb in the working directory; returns
// that path.
GRAPNEL_PUBLIC Expected<std::string> SaveFailedInput(const OpenedGraph& opened,
                                                     const OptimizeRequest& request,
                                                     const Stage& failed);
// Returns the first rewrite after which `fails` reports a failure or, without it, check_values
// does; see Bisect. `open_sizes`, if not null, is set to the sizes that were tried.
GRAPNEL_PUBLIC Expected<std::optional<Culprit>> FindCulprit(
    const OpenedGraph& opened, const OptimizeRequest& request,
    std::function<Expected<std::optional<std::string>>(const Module&)> fails = nullptr,
    std::vector<int64_t>* open_sizes = nullptr);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_OPTIMIZE_H_
