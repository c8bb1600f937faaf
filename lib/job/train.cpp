#include "lib/job/train.h"

#include <cmath>
#include <optional>

#include "lib/exec/saved_state.h"
#include "lib/io/signature.h"
#include "lib/io/value.h"
#include "lib/io/write.h"
#include "lib/ir/find.h"
#include "lib/job/batches.h"
#include "lib/job/gradient_variables.h"
#include "lib/job/name_resolver.h"
#include "lib/job/optimize.h"
#include "lib/support/file.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "lib/trace/optimizers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

// A checkpoint folder in the format of tf.train.latest_checkpoint: ckpt-100.index, its data, and
// the file "checkpoint", which lists the checkpoints.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string folder, int keep)
      : folder_(std::move(folder)), keep_(keep) {}

  Error Open(bool resume) {
    if (FileExists(folder_) && !IsDirectory(folder_))
      return MakeError("{0}: is a file; a folder for checkpoints was expected", folder_);
    RETURN_IF_ERROR(CreateDirectories(folder_));
    if (!FileExists(List())) return Error::success();
    ASSIGN_OR_RETURN(auto file, FileBytes::Open(List()));
    llvm::SmallVector<llvm::StringRef> lines;
    file->bytes().split(lines, '\n');
    for (llvm::StringRef line : lines) {
      line = line.trim();
      if (!line.consume_front("all_model_checkpoint_paths:")) continue;
      names_.push_back(line.trim().trim('"').str());
    }
    if (!names_.empty() && !resume) {
      return MakeError(
          "{0}: contains checkpoints of an earlier training, such as '{1}': use --resume to "
          "continue it, or name another folder",
          folder_, names_.back());
    }
    return Error::success();
  }

  // Returns the last checkpoint; "" if there are no checkpoints.
  std::string Last() const { return names_.empty() ? "" : JoinPath(folder_, names_.back()); }

  Error Write(const Session& session, llvm::ArrayRef<VariableInfo> variables, int64_t step) {
    std::string name = "ckpt-" + std::to_string(step);
    RETURN_IF_ERROR(WriteCheckpoint(session, variables, step, JoinPath(folder_, name)));
    names_.erase(std::remove(names_.begin(), names_.end(), name), names_.end());
    names_.push_back(name);
    std::vector<std::string> old;
    while (static_cast<int>(names_.size()) > keep_) {
      old.push_back(names_.front());
      names_.erase(names_.begin());
    }
    // Writes the list before deleting old checkpoints, so that the files in the list always exist.
    std::string text = "model_checkpoint_path: \"" + names_.back() + "\"\n";
    for (const std::string& each : names_) text += "all_model_checkpoint_paths: \"" + each + "\"\n";
    RETURN_IF_ERROR(WriteFile(List(), text));
    for (const std::string& each : old) {
      llvm::sys::fs::remove(JoinPath(folder_, each + ".index"));
      llvm::sys::fs::remove(JoinPath(folder_, each + ".data-00000-of-00001"));
    }
    return Error::success();
  }

 private:
  std::string List() const { return JoinPath(folder_, "checkpoint"); }
  std::string folder_;
  int keep_;
  std::vector<std::string> names_;  // oldest first
};

// Adds gradients and an optimizer to the graph.
class StepMaker {
 public:
  StepMaker(const OpenedGraph& opened, const MakeStep& make, const std::string& signature)
      : opened_(opened), make_(make), signature_(signature) {}

  // Returns the tensor to fetch: the loss, which an Identity passes on after the step's updates.
  // Adds new variables to `initial`.
  Expected<std::string> Run(std::unique_ptr<Module>* module, std::vector<VariableInfo>* initial) {
    ASSIGN_OR_RETURN(std::string name, NameResolver(opened_, signature_).MainTensor(make_.loss));
    Tracer t(opened_.module().Copy(), SourceLocation::Unknown());
    Value loss = t.Find(name);
    if (loss.ok()) RETURN_IF_ERROR(CheckLoss(loss));
    ASSIGN_OR_RETURN(std::vector<Variable> variables, Variables(t));
    auto optimizer = MakeOptimizer(t, make_.optimizer, make_.learning_rate);
    if (!optimizer) return NotFound("optimizer", make_.optimizer, OptimizerNames(), "");
    optimizer->Minimize(loss, variables);
    Operand operand(loss);
    Value end = t.Op("Identity", {operand}, {}, "train_step/loss");
    std::string reported = end.name();
    const NodeId node = end.port().node;
    auto finished = t.Finish({end});
    if (!finished) return finished.takeError();
    *module = std::move(*finished);
    *initial = VariableInfosOf(t);
    // Finds the node that Finish() adds for the loss and that runs after all updates.
    for (Node reader : (*module)->main.nodes()) {
      if (reader.op() == "Identity" && reader.num_inputs() == 1 && reader.input(0).node == node)
        return reader.name().str();
    }
    return reported;
  }

 private:
  Error CheckLoss(const Value& loss) const {
    Shape shape = loss.shape();
    if (IsReal(loss.dtype()) && (!shape.known_rank() || shape.rank() == 0)) return Error::success();
    return MakeError("the loss '{0}' is {1}{2}; a floating-point scalar was expected", make_.loss,
                     DataTypeName(loss.dtype()), shape.rank() == 0 ? "" : shape.ToString());
  }

  Expected<std::vector<Variable>> Variables(Tracer& t) const {
    std::vector<Variable> variables;
    std::vector<std::string> names;
    for (const VariableInfo& info : VariablesOfGraph(opened_.module().main)) {
      if (!IsReal(info.dtype) || opened_.module().main.Find(info.node).op() != "VarHandleOp")
        continue;
      names.push_back(info.name);
      if (make_.only.empty() || llvm::is_contained(make_.only, info.name))
        variables.push_back(Variable::Find(t, info.name));
    }
    for (const std::string& name : make_.only) {
      if (!llvm::is_contained(names, name)) return NotFound("variable", name, names, "");
    }
    if (variables.empty())
      return MakeError(
          "the graph has no variable to train: there is no floating-point VarHandleOp outside "
          "functions");
    return variables;
  }

  const OpenedGraph& opened_;
  const MakeStep& make_;
  const std::string& signature_;
};

class Trainer {
 public:
  Trainer(OpenedGraph& opened, const TrainRequest& request)
      : opened_(opened), request_(request), run_(request.run) {}

  Expected<Trained> Run(llvm::function_ref<bool(const TrainedStep&)> each) {
    if (!request_.checkpoint_dir.empty()) {
      folder_.emplace(request_.checkpoint_dir, request_.keep);
      RETURN_IF_ERROR(folder_->Open(request_.resume));
    }
    RETURN_IF_ERROR(Prepare());
    RETURN_IF_ERROR(Begin());
    for (int64_t step = trained_.first; step < request_.steps; ++step) {
      ASSIGN_OR_RETURN(bool goes_on, Step(step, each));
      if (!goes_on) break;
    }
    if (folder_ && trained_.bad.empty()) RETURN_IF_ERROR(Save());
    if (request_.finish && trained_.bad.empty()) RETURN_IF_ERROR(request_.finish(session()));
    return std::move(trained_);
  }

 private:
  // Prepares feeds, fetches, the training step and the plan.
  Error Prepare() {
    variables_ = VariablesOfGraph(opened_.module().main);
    if (!request_.make.optimizer.empty()) RETURN_IF_ERROR(AddStep());
    if (request_.optimize) RETURN_IF_ERROR(Optimize());
    ASSIGN_OR_RETURN(RunJob job, RunJob::Make(opened_, run_));
    job_.emplace(std::move(job));
    RETURN_IF_ERROR(job_->Prepare());
    ASSIGN_OR_RETURN(batches_, Batches::Make(opened_.module().main, job_->feeds(),
                                             job_->feed_values(), request_.batch_size));
    if (const auto& values = opened_.model().case_info) return AddStepsOf(*values);
    return Error::success();
  }

  Error AddStep() {
    StepMaker maker(opened_, request_.make, run_.signature);
    std::unique_ptr<Module> module;
    std::vector<VariableInfo> made;
    // Before the step is added, replaces keys by tensor names and adds the case's feeds: the file's
    // signature and fetches describe the graph without the step.
    NameResolver resolver(opened_, run_.signature);
    auto name = [&](std::string& key) -> Error {
      ASSIGN_OR_RETURN(key, resolver.MainTensor(key));
      return Error::success();
    };
    for (FeedSource& feed : run_.feeds) RETURN_IF_ERROR(name(feed.tensor));
    for (std::string& fetch : run_.fetches) RETURN_IF_ERROR(name(fetch));
    AddFeedsOfCase(opened_, &run_.feeds);
    run_.completes = false;
    ASSIGN_OR_RETURN(std::string fetch, maker.Run(&module, &made));
    opened_.WorkOn(std::move(module));
    variables_ = VariablesOfGraph(opened_.module().main);
    for (VariableInfo& info : made) {
      if (info.initial.dtype() != proto::DT_INVALID) initial_.push_back(std::move(info));
    }
    run_.fetches.insert(run_.fetches.begin(), fetch);
    return Error::success();
  }

  Error Optimize() {
    OptimizeRequest passes;
    passes.options.without = request_.without;
    passes.options.pool = run_.pool;
    passes.signature = run_.signature;
    passes.options.fetches = run_.fetches;
    passes.onednn = run_.onednn;
    ASSIGN_OR_RETURN(Optimized done, grapnel::Optimize(opened_, passes));
    RETURN_IF_ERROR(done.AsError());
    // A pass may remove an unread variable; its value then stays the same, and checkpoints no
    // longer have it.
    variables_ = VariablesOfGraph(opened_.module().main);
    return Error::success();
  }

  // Adds the case's steps after the first as batches.
  Error AddStepsOf(const Case& values) {
    for (const Case::Step& step : values.steps) {
      std::vector<Tensor> batch;
      for (const std::string& feed : job_->feeds()) {
        size_t i = 0;
        while (i < values.feeds.size() && values.feeds[i].tensor != feed) ++i;
        if (i == values.feeds.size() || i >= step.feeds.size()) return Error::success();
        ASSIGN_OR_RETURN(Tensor value, LoadFeed(opened_.module().main, feed, step.feeds[i]));
        batch.push_back(std::move(value));
      }
      batches_->Append(std::move(batch));
    }
    return Error::success();
  }

  Session& session() { return const_cast<Session&>(job_->session()); }

  // Sets the values of variables before the first step: those of a checkpoint, else of the file;
  // for variables that AddStep() made, else their initial values.
  Error Begin() {
    RETURN_IF_ERROR(SetInitialValues(session(), initial_));
    if (!folder_ || folder_->Last().empty()) return Error::success();
    trained_.checkpoint = folder_->Last();
    ASSIGN_OR_RETURN(trained_.first, ReadCheckpoint(session(), variables_, trained_.checkpoint));
    trained_.last = trained_.first;
    return Error::success();
  }

  Expected<bool> Step(int64_t step, llvm::function_ref<bool(const TrainedStep&)> each) {
    ASSIGN_OR_RETURN(std::vector<Tensor> batch, batches_->At(step));
    // While these tensors are held, updates allocate new buffers, so that the step can be repeated
    // with the old values to find the source of a NaN.
    std::vector<Tensor> before, fed;
    const bool is_first = step == trained_.first;
    if (folder_ || is_first) {
      for (const VariableInfo& variable : variables_)
        before.push_back(ValueOfVariable(session(), variable.container, variable.name));
      fed = batch;
    }
    ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                     request_.program ? request_.program(session(), std::move(batch))
                                      : job_->Run(std::move(batch)));
    TrainedStep made{step + 1, {}};
    RETURN_IF_ERROR(Report(outputs, &made));
    if (is_first) WarnIfSame(before);
    trained_.last = step + 1;
    bool goes_on = each(made);
    if (!trained_.bad.empty()) {
      if (folder_) RETURN_IF_ERROR(SaveFailing(before, fed, outputs));
      return false;
    }
    if (folder_ && request_.checkpoint_every > 0 && (step + 1) % request_.checkpoint_every == 0)
      RETURN_IF_ERROR(Save());
    return goes_on;
  }

  Error Report(llvm::ArrayRef<Tensor> outputs, TrainedStep* made) {
    bool has_loss = false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i] || outputs[i].HoldsObjects() || outputs[i].num_elements() != 1 ||
          outputs[i].dtype() == proto::DT_STRING)
        continue;
      double value = outputs[i].ToLiteral().AsDouble(0);
      std::string name = job_->fetch_names()[i];
      if (IsReal(outputs[i].dtype()) && !has_loss) {
        has_loss = true;
        if (!request_.make.loss.empty()) name = request_.make.loss;
        if (!request_.loss_name.empty()) name = request_.loss_name;
        if (!std::isfinite(value)) trained_.bad = name;
      }
      made->scalars.emplace_back(name, value);
    }
    if (has_loss) return Error::success();
    return MakeError("no fetch is a floating-point scalar: name the loss {0}", run_.words.fetches);
  }

  // Warns if the first step changed no variable: the graph then computes a loss but is not a
  // training step.
  void WarnIfSame(llvm::ArrayRef<Tensor> before) {
    for (size_t i = 0; i < before.size(); ++i) {
      Tensor after = ValueOfVariable(session(), variables_[i].container, variables_[i].name);
      if (after.buffer() != before[i].buffer()) return;
    }
    if (run_.sink)
      run_.sink(Severity::kWarning,
                "the first step changed no variable: do the fetches run a training step?");
  }

  Error Save() {
    if (saved_ == trained_.last && !trained_.checkpoint.empty()) return Error::success();
    RETURN_IF_ERROR(folder_->Write(session(), variables_, trained_.last));
    saved_ = trained_.last;
    trained_.checkpoint = folder_->Last();
    return Error::success();
  }

  Error SaveFailing(llvm::ArrayRef<Tensor> before, llvm::ArrayRef<Tensor> fed,
                    llvm::ArrayRef<Tensor> outputs) {
    std::string folder = JoinPath(request_.checkpoint_dir, "nan-" + std::to_string(trained_.last));
    RETURN_IF_ERROR(CreateDirectories(folder));
    Case saved;
    saved.folder = folder;
    saved.graph = JoinPath(folder, "graph.pb");
    saved.rtol = 1e-4;
    RETURN_IF_ERROR(WriteGraph(opened_.module(), saved.graph));
    auto save = [&](const std::string& name, const Tensor& value) -> Expected<std::string> {
      std::string file = JoinPath(folder, name + ".npy");
      RETURN_IF_ERROR(SaveNpyLiteral(file, value.ToLiteral()));
      return file;
    };
    for (size_t i = 0; i < fed.size(); ++i) {
      ASSIGN_OR_RETURN(std::string file, save("feed_" + std::to_string(i), fed[i]));
      saved.feeds.push_back({job_->feeds()[i], file});
    }
    for (size_t i = 0; i < before.size(); ++i) {
      if (!before[i]) continue;
      ASSIGN_OR_RETURN(std::string file, save("variable_" + std::to_string(i), before[i]));
      saved.variables.push_back({variables_[i].node, file});
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i] || outputs[i].HoldsObjects()) continue;
      ASSIGN_OR_RETURN(std::string file, save("out_" + std::to_string(i), outputs[i]));
      saved.fetches.push_back({job_->fetches()[i], file, 0});
    }
    RETURN_IF_ERROR(SaveCase(folder, saved));
    trained_.failing_case = folder;
    return Error::success();
  }

  OpenedGraph& opened_;
  const TrainRequest& request_;
  RunRequest run_;
  std::vector<VariableInfo> variables_, initial_;
  std::optional<CheckpointFolder> folder_;
  std::optional<RunJob> job_;
  std::optional<Batches> batches_;
  Trained trained_;
  int64_t saved_ = -1;
};

}  // namespace

Expected<Trained> Train(OpenedGraph& opened, const TrainRequest& request,
                        llvm::function_ref<bool(const TrainedStep&)> each) {
  return Trainer(opened, request).Run(each);
}

}  // namespace grapnel
