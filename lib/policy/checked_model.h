// The view of a model that policy checks use. Private to lib/policy.
#ifndef GRAPNEL_LIB_POLICY_CHECKED_MODEL_H_
#define GRAPNEL_LIB_POLICY_CHECKED_MODEL_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/diff/layer_changes.h"
#include "lib/diff/value_diff.h"
#include "lib/doctor/diagnose.h"
#include "lib/job/model_run.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

// The graph that one signature runs in both models, or the whole graphs.
struct ServedGraphs {
  std::shared_ptr<const OpenedGraph> before, now;
  bool of_signature = false;
  Diff diff;  // from `before`, with what IgnoredByLayers ignores
  std::shared_ptr<const LayerNames> layers_before, layers_now;
  DiffOfLayers OfLayers() const {
    return {before->module(), now->module(), diff, *layers_before, *layers_now, of_signature};
  }
};

// Finds a node of the main graph of `now` by its name, or by the end of a name that begins with
// those of calls or of a function; converts to false if there is none.
Node FindServed(const ServedGraphs& graphs, llvm::StringRef name);

// Ops that `opt` fuses in the base but not in the model.
struct LostFusion {
  std::string node;     // in the model, if it is there; "function/node"
  std::string rule;     // the rule that fuses the ops in the base
  std::string pattern;  // "MatMul + BiasAdd + Relu"
  std::string reason;   // why the rule does not fuse them in the model
};

// Computes each result below once, when a check first needs it. The graphs outlive this object and
// do not change.
class CheckedModel {
 public:
  // `without`: passes and rules that checks do not run.
  CheckedModel(const OpenedGraph& opened, const OpenedGraph* base, OneDnn onednn, ThreadPool* pool,
               const CancelFlag* cancel, std::vector<std::string> without = {})
      : opened_(opened),
        base_(base),
        onednn_(onednn),
        without_(std::move(without)),
        pool_(pool),
        cancel_(cancel) {}

  const OpenedGraph& opened() const { return opened_; }
  const OpenedGraph* base() const { return base_; }  // may be null
  const Module& module() const { return opened_.module(); }
  // Returns the names of the signatures that differ from each other, the default one first; ""
  // alone if there are none.
  std::vector<std::string> Signatures() const;
  // Returns a request that uses the pool and the cancel flag, and discards all messages.
  RunRequest QuietRun() const;

  // Returns the findings of `doctor`, for the checks that policies may enable.
  Expected<const Diagnosis*> Doctor();
  // Returns a run of each signature that differs from the others, the default one first; of a graph
  // without signatures the only run.
  Expected<llvm::MutableArrayRef<ModelRun>> Runs();
  // Returns the run of BASE that corresponds to one of Runs(); null if BASE lacks the signature.
  Expected<ModelRun*> BaseRun(const ModelRun& run);

  // The diff from the base to the model; there must be a base.
  const Diff& changes();
  // The graphs of the signatures that differ from each other and that both models have; without
  // any, the whole graphs. There must be a base.
  llvm::ArrayRef<ServedGraphs> Served();
  // The model's first graph of Signatures(), or the whole graph, against `reference`, a graph
  // without signatures that outlives the result.
  ServedGraphs ServedAgainst(const OpenedGraph& reference) const;
  // Returns the layer of a node, "function/node", in the graphs of Served(); "" if it is in none.
  // There must be a base.
  std::string LayerOf(llvm::StringRef name);
  Expected<const ValueReport*> Values();
  Expected<const std::vector<LostFusion>*> LostFusions();

 private:
  const OpenedGraph& opened_;
  const OpenedGraph* base_;
  const OneDnn onednn_;  // used, like without_, by checks that run passes
  const std::vector<std::string> without_;
  ThreadPool* pool_;
  const CancelFlag* cancel_;
  std::optional<Diagnosis> diagnosis_;
  std::vector<ModelRun> runs_;
  std::map<std::string, ModelRun> base_runs_;  // by signature
  std::optional<Diff> changes_;
  std::vector<ServedGraphs> served_;
  std::optional<ValueReport> values_;
  std::optional<std::vector<LostFusion>> lost_;
};

// Returns "function/node", in the main graph "node".
std::string FullNameOf(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_CHECKED_MODEL_H_
