#include "lib/job/model_run.h"

#include "lib/io/signature.h"
#include "lib/job/shape_overrides.h"
#include "lib/job/signature_graph.h"
#include "lib/support/printable.h"

namespace grapnel {

Expected<ModelRun> ModelRun::Of(const OpenedGraph& opened, llvm::StringRef name,
                                int64_t assumed_batch) {
  ModelRun run(opened.Copy());
  ShapeOverrides given;
  if (assumed_batch > 0 && HasOpenBatch(opened)) given.batch = run.assumed_batch_ = assumed_batch;
  ASSIGN_OR_RETURN(const Signature* signature,
                   ChooseOneSignature(opened.model(), opened.file(), name));
  if (signature) {
    ASSIGN_OR_RETURN(SignatureGraph taken, TakeSignature(name, given, &run.opened_));
    run.signature_ = taken.signature.name;
    run.function_ = taken.function;
  } else {
    RETURN_IF_ERROR(FillSizes(given, {}, &run.opened_));
  }
  run.shapes_ = std::make_unique<ModuleShapes>(run.module());
  run.costs_ = std::make_unique<ModuleCosts>(run.module(), *run.shapes_);
  return run;
}

std::string ModelRun::Text() const {
  std::string text;
  if (!signature_.empty()) text += " of signature '" + Printable(signature_) + "'";
  if (assumed_batch_ > 0)
    text += (text.empty() ? " with" : ", with") + std::string(" a batch of ") +
            std::to_string(assumed_batch_) + " (it is unknown: --batch)";
  return text;
}

std::string ModelRun::NameOf(const Node& node) const {
  std::string name = node.name().str();
  if (const Function* function = FunctionOf(node.graph()))
    return (function->name() + "/" + name).str();
  return function_.empty() ? name : function_ + "/" + name;
}

}  // namespace grapnel
