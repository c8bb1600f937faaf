// The cost of one run of a model. A file with several signatures never runs as a whole, and nodes
// that only load or save the model are not part of a run.
#ifndef GRAPNEL_LIB_JOB_MODEL_RUN_H_
#define GRAPNEL_LIB_JOB_MODEL_RUN_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/job/opened_graph.h"
#include "lib/shape/body_costs.h"

namespace grapnel {

// A run of a signature or, in a graph without signatures, of the whole graph. The graph is a copy.
class ModelRun {
 public:
  // `signature`: empty for the default one. `assumed_batch`: the size to assume for an unknown
  // first dimension of inputs; 0: the dimension stays unknown. Errors: those of TakeSignature and
  // FillSizes.
  static Expected<ModelRun> Of(const OpenedGraph& opened, llvm::StringRef signature,
                               int64_t assumed_batch);

  const std::string& signature() const { return signature_; }  // "": none was taken
  // The assumed batch size; 0: no batch size was assumed.
  int64_t assumed_batch() const { return assumed_batch_; }
  // Returns " of signature 'serving_default', with a batch of 1 (it is unknown: --batch)"; "" if no
  // signature was chosen and no batch size was assumed.
  std::string Text() const;

  RunCost Cost() { return costs_->OfBody(main()); }
  // Returns the nodes of the main graph that the outputs need.
  std::vector<NodeId> NodesThatRun() const { return costs_->NodesThatRun(main()); }
  const Graph& main() const { return opened_.module().main; }
  const Module& module() const { return opened_.module(); }
  const GraphInFile& file() const { return opened_.file(); }  // of the graph that runs
  RunCost OfNode(const Node& node) { return costs_->OfNode(node); }
  // Returns the node's name in the file: "function/node", in the main graph "node".
  std::string NameOf(const Node& node) const;

 private:
  explicit ModelRun(OpenedGraph opened) : opened_(std::move(opened)) {}

  OpenedGraph opened_;
  std::string signature_, function_;  // the function whose body is now the main graph
  int64_t assumed_batch_ = 0;
  std::unique_ptr<ModuleShapes> shapes_;
  std::unique_ptr<ModuleCosts> costs_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_MODEL_RUN_H_
