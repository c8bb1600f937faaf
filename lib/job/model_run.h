// What one run of a model costs. A file with several signatures is never run as a whole, and what
// only loads and saves it is no part of a run.
#ifndef GRAPNEL_LIB_JOB_MODEL_RUN_H_
#define GRAPNEL_LIB_JOB_MODEL_RUN_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/job/opened_graph.h"
#include "lib/shape/body_costs.h"

namespace grapnel {

// A run of the signature that is the default, or, of a graph without signatures, of all of it. The
// graph is a copy.
class ModelRun {
 public:
  // `is_signature`: what is worked on is the graph of a signature already (TakeSignature).
  // `assumed_batch`: what the first size of the inputs is taken to be where it is open; 0: it stays
  // open. Errors: TakeSignature's.
  static Expected<ModelRun> Of(const OpenedGraph& opened, bool is_signature, int64_t assumed_batch);

  const std::string& signature() const { return signature_; }  // "": it has none
  // The batch that was assumed; 0: none, as it is not open.
  int64_t assumed_batch() const { return assumed_batch_; }
  // " of signature 'serving_default', with a batch of 1 (it is open: --batch)"; "" where there is
  // nothing to say.
  std::string Text() const;

  RunCost Cost() { return costs_->OfBody(main()); }
  const Graph& main() const { return opened_.module().main; }
  const Module& module() const { return opened_.module(); }
  RunCost OfNode(const Node& node) { return costs_->OfNode(node); }
  // As the node is called in the file: "function/node", in the main graph "node".
  std::string NameOf(const Node& node) const;

 private:
  explicit ModelRun(OpenedGraph opened) : opened_(std::move(opened)) {}

  OpenedGraph opened_;
  std::string signature_, function_;  // function_: whose body the main graph was
  int64_t assumed_batch_ = 0;
  std::unique_ptr<ModuleShapes> shapes_;
  std::unique_ptr<ModuleCosts> costs_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_MODEL_RUN_H_
