#include "lib/policy/checked_model.h"

#include "lib/io/signature.h"
#include "lib/job/model_values.h"
#include "lib/policy/lost_fusions.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

namespace {

void AddOnce(Finding finding, std::vector<Finding>* findings) {
  bool is_there = llvm::any_of(*findings, [&](const Finding& other) {
    return other.check == finding.check && other.function == finding.function &&
           other.node == finding.node;
  });
  if (!is_there) findings->push_back(std::move(finding));
}

}  // namespace

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
  auto examine = [&]() -> Error {
    OpenedGraph copy = opened_.Copy();
    ASSIGN_OR_RETURN(Diagnosis diagnosis, ExamineGraph(copy, request));
    if (!diagnosis_) {
      diagnosis_ = std::move(diagnosis);
      return Error::success();
    }
    for (Finding& finding : diagnosis.findings) AddOnce(std::move(finding), &diagnosis_->findings);
    return Error::success();
  };
  for (std::string& signature : Signatures()) {
    request.run.signature = std::move(signature);
    RETURN_IF_ERROR(examine());
  }
  return &*diagnosis_;
}

const ModuleShapes& CheckedModel::shapes() {
  if (!shapes_) shapes_.emplace(module());
  return *shapes_;
}

std::vector<std::string> CheckedModel::Signatures() const {
  std::vector<std::string> names;
  for (const Signature* signature : DistinctSignatures(opened_.file()))
    names.push_back(signature->name);
  if (names.empty()) names.emplace_back();
  return names;
}

Expected<llvm::MutableArrayRef<ModelRun>> CheckedModel::Runs() {
  if (runs_.empty()) {
    for (const std::string& signature : Signatures()) {
      ASSIGN_OR_RETURN(ModelRun run, ModelRun::Of(opened_, signature, /*assumed_batch=*/0));
      runs_.push_back(std::move(run));
    }
  }
  return llvm::MutableArrayRef(runs_);
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
    ASSIGN_OR_RETURN(lost_, FindLostFusions(*base_, opened_, changes(), onednn_, without_, pool_));
  }
  return &*lost_;
}

}  // namespace grapnel
