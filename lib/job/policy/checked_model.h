// A model as the checks of a policy look at it. Private to lib/job.
#ifndef GRAPNEL_LIB_JOB_POLICY_CHECKED_MODEL_H_
#define GRAPNEL_LIB_JOB_POLICY_CHECKED_MODEL_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/diff/value_diff.h"
#include "lib/job/doctor.h"
#include "lib/job/model_run.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

// Ops that `opt` fuses in the base and not in the model.
struct LostFusion {
  std::string node;     // of the model; "function/node"
  std::string rule;     // that fuses them in the base
  std::string pattern;  // "MatMul + BiasAdd + Relu"
  std::string reason;   // why not here
};

// What checks ask for is worked out once, when it is first asked for. The graphs are borrowed and
// do not change.
class CheckedModel {
 public:
  CheckedModel(const OpenedGraph& opened, const OpenedGraph* base, bool is_signature,
               ThreadPool* pool, const CancelFlag* cancel)
      : opened_(opened), base_(base), is_signature_(is_signature), pool_(pool), cancel_(cancel) {}

  const OpenedGraph& opened() const { return opened_; }
  const OpenedGraph* base() const { return base_; }  // null: there is none
  const Module& module() const { return opened_.module(); }
  // Where runs go, what ends them, and nothing of what they say.
  RunRequest QuietRun() const;

  // What `doctor` finds, of the checks that policies ask for.
  Expected<const Diagnosis*> Doctor();
  Expected<ModelRun*> Run();
  const ModuleShapes& shapes();

  // From the base to the model; there has to be a base.
  const Diff& changes();
  Expected<const ValueReport*> Values();
  Expected<const std::vector<LostFusion>*> LostFusions();

 private:
  const OpenedGraph& opened_;
  const OpenedGraph* base_;
  bool is_signature_;
  ThreadPool* pool_;
  const CancelFlag* cancel_;
  std::optional<Diagnosis> diagnosis_;
  std::optional<ModuleShapes> shapes_;
  std::optional<ModelRun> run_;
  std::optional<Diff> changes_;
  std::optional<ValueReport> values_;
  std::optional<std::vector<LostFusion>> lost_;
};

// "function/node", in the main graph "node".
std::string FullNameOf(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_POLICY_CHECKED_MODEL_H_
