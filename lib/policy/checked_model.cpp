#include "lib/policy/checked_model.h"

#include "lib/diff/layer_changes.h"
#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "lib/job/model_values.h"
#include "lib/job/signature_graph.h"
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

// Returns the graph that a signature runs; null if the model lacks the signature, or if its graph
// cannot be taken out of the model.
std::shared_ptr<const OpenedGraph> GraphOf(const OpenedGraph& model, llvm::StringRef signature) {
  bool is_there = llvm::any_of(model.file().signatures,
                               [&](const Signature& one) { return one.name == signature; });
  if (!is_there) return nullptr;
  auto graph = std::make_shared<OpenedGraph>(model.Copy());
  auto taken = TakeSignature(signature, {}, graph.get());
  if (taken) return graph;
  llvm::consumeError(taken.takeError());
  return nullptr;
}

std::shared_ptr<const OpenedGraph> Unowned(const OpenedGraph& graph) {
  return {std::shared_ptr<void>(), &graph};
}

ServedGraphs Compared(std::shared_ptr<const OpenedGraph> before,
                      std::shared_ptr<const OpenedGraph> now, bool of_signature) {
  DiffOptions options;
  options.side_by_side = false;
  options.ignore = IgnoredByLayers();
  const Module &a = before->module(), &b = now->module();
  return {before,
          now,
          of_signature,
          DiffModules(a, b, options),
          std::make_shared<const LayerNames>(before->file()),
          std::make_shared<const LayerNames>(now->file())};
}

}  // namespace

Node FindServed(const ServedGraphs& graphs, llvm::StringRef name) {
  const Graph& main = graphs.now->module().main;
  while (!name.empty()) {
    if (Node node = main.Find(name)) return node;
    name = name.split('/').second;
  }
  return Node();
}

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
  for (const Signature* signature : DistinctSignatures(opened_.file())) {
    if (signature->outputs.empty()) continue;  // nothing runs
    request.run.signature = signature->name;
    RETURN_IF_ERROR(examine());
  }
  if (!diagnosis_) {
    request.run.signature.clear();
    RETURN_IF_ERROR(examine());
  }
  return &*diagnosis_;
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

Expected<ModelRun*> CheckedModel::BaseRun(const ModelRun& run) {
  const std::string& name = run.signature();
  bool is_there = llvm::any_of(base_->file().signatures,
                               [&](const Signature& signature) { return signature.name == name; });
  if (!name.empty() && !is_there) return nullptr;
  auto known = base_runs_.find(name);
  if (known == base_runs_.end()) {
    ASSIGN_OR_RETURN(ModelRun base, ModelRun::Of(*base_, name, /*assumed_batch=*/0));
    known = base_runs_.emplace(name, std::move(base)).first;
  }
  return &known->second;
}

const Diff& CheckedModel::changes() {
  DiffOptions options;
  options.side_by_side = false;
  if (!changes_) changes_ = DiffModules(base_->module(), module(), options);
  return *changes_;
}

llvm::ArrayRef<ServedGraphs> CheckedModel::Served() {
  if (!served_.empty()) return served_;
  for (const std::string& name : Signatures()) {
    std::shared_ptr<const OpenedGraph> before = GraphOf(*base_, name), now = GraphOf(opened_, name);
    if (before && now) served_.push_back(Compared(before, now, /*of_signature=*/true));
  }
  if (served_.empty())
    served_.push_back(Compared(Unowned(*base_), Unowned(opened_), /*of_signature=*/false));
  return served_;
}

ServedGraphs CheckedModel::ServedAgainst(const OpenedGraph& reference) const {
  std::shared_ptr<const OpenedGraph> now = GraphOf(opened_, Signatures().front());
  if (!now) now = Unowned(opened_);
  return Compared(Unowned(reference), now, /*of_signature=*/false);
}

std::string CheckedModel::LayerOf(llvm::StringRef name) {
  for (const ServedGraphs& graphs : Served())
    if (Node node = FindServed(graphs, name)) return graphs.layers_now->Of(node);
  const ServedGraphs& first = Served().front();
  auto node = FindNode(first.now->module(), name);  // in a function
  if (node) return first.layers_now->Of(*node);
  llvm::consumeError(node.takeError());
  return "";
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
