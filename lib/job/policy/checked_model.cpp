#include "lib/job/policy/checked_model.h"

#include "lib/job/model_values.h"
#include "lib/job/policy/lost_fusions.h"

namespace grapnel {

std::string FullNameOf(const Node& node) {
  const Function* function = FunctionOf(node.graph());
  return function ? (function->name() + "/" + node.name()).str() : node.name().str();
}

RunRequest CheckedModel::QuietRun() const {
  RunRequest run;
  run.pool = pool_;
  run.cancel = cancel_;
  run.sink = run.print = [](Severity, llvm::StringRef) {};
  return run;
}

Expected<const Diagnosis*> CheckedModel::Doctor() {
  if (diagnosis_) return &*diagnosis_;
  DoctorRequest request;
  request.run = QuietRun();
  request.steps = 1;
  ASSIGN_OR_RETURN(request.checks, Glob::ParseAll({"unused_input", "unguarded_op"}));
  OpenedGraph copy = opened_.Copy();
  ASSIGN_OR_RETURN(diagnosis_, ExamineGraph(copy, request));
  return &*diagnosis_;
}

const ModuleShapes& CheckedModel::shapes() {
  if (!shapes_) shapes_.emplace(module());
  return *shapes_;
}

ModuleCosts& CheckedModel::costs() {
  if (!costs_) costs_.emplace(module(), shapes());
  return *costs_;
}

const Diff& CheckedModel::changes() {
  DiffOptions options;
  options.side_by_side = false;
  if (!changes_) changes_ = DiffModules(base_->module(), module(), options);
  return *changes_;
}

Expected<const ValueReport*> CheckedModel::Values() {
  if (!values_) {
    ASSIGN_OR_RETURN(values_, CompareModelValues(*base_, opened_, changes()));
  }
  return &*values_;
}

Expected<const std::vector<LostFusion>*> CheckedModel::LostFusions() {
  if (!lost_) {
    ASSIGN_OR_RETURN(lost_, FindLostFusions(*base_, opened_, changes(), pool_));
  }
  return &*lost_;
}

}  // namespace grapnel
