#include "lib/doctor/diagnose.h"

#include <set>

#include "lib/doctor/loss_curves.h"
#include "lib/doctor/observer.h"
#include "lib/io/bundle.h"
#include "lib/io/layers/layer_names.h"
#include "lib/io/scalar_log.h"
#include "lib/io/value.h"
#include "lib/ir/find.h"
#include "lib/job/source.h"
#include "lib/support/file.h"
#include "lib/support/text.h"
#include "lib/tfdbg/debug_folder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

CheckStage StageOf(llvm::StringRef check) {
  for (const CheckInfo* info : Checks()) {
    if (check == info->name) return info->stage;
  }
  return CheckStage::kStep;
}

// The requested checks, and which evidence is missing for them.
class Examination {
 public:
  static Expected<Examination> Make(const DoctorRequest& request) {
    const std::vector<Glob>& wanted = request.checks;
    Examination made;
    made.least_ = request.least;
    for (const CheckInfo* info : Checks()) {
      if (wanted.empty() || FitsAny(wanted, info->name))
        made.checks_.push_back({info, info->make(), ""});
    }
    if (!made.checks_.empty()) return made;
    std::vector<std::string> names;
    for (const CheckInfo* info : Checks()) names.push_back(info->name);
    return NotFound("check", wanted.front().text(), names);
  }

  // Records why `evidence` is missing, as the reason why checks that need it do not run; "": the
  // evidence is available.
  void Settle(Evidence evidence, std::string missing) { missing_[evidence] = std::move(missing); }
  // Records that the kind of input that the user passed cannot have this evidence, but another
  // kind, `input` ("a model"), has it. The text report does not list the checks that need it.
  void SettleForOther(llvm::ArrayRef<Evidence> evidence, llvm::StringRef input) {
    for (Evidence one : evidence) {
      missing_[one] = (input + " shows it").str();
      other_.insert(one);
    }
  }

  void Watch(const DoctorContext& context, TensorWatches& watches) {
    for (One& one : checks_) one.check->Watch(context, watches);
  }

  Diagnosis Run(const DoctorContext& context) {
    Diagnosis diagnosis;
    for (One& one : checks_) {
      CheckOutcome outcome{one.info, CheckOutcome::kRun, WhatIsMissing(*one.info)};
      if (outcome.reason.empty()) {
        outcome.reason = one.check->Run(context);
        if (!outcome.reason.empty()) {
          outcome.status =
              one.check->lacks_evidence ? CheckOutcome::kNotRun : CheckOutcome::kNothingThere;
        }
        for (Finding& finding : one.check->findings) {
          if (finding.confidence > least_) continue;
          finding.check = one.info->name;
          diagnosis.findings.push_back(std::move(finding));
        }
      } else {
        bool is_other = IsOfOtherInput(*one.info);
        outcome.status = is_other ? CheckOutcome::kOtherInput : CheckOutcome::kNotRun;
      }
      diagnosis.outcomes.push_back(std::move(outcome));
    }
    llvm::stable_sort(diagnosis.findings, [](const Finding& a, const Finding& b) {
      CheckStage first = StageOf(a.check), second = StageOf(b.check);
      return first != second ? first < second : a.confidence < b.confidence;
    });
    diagnosis.steps = context.steps;
    diagnosis.checkpoints = context.checkpoints.size();
    return diagnosis;
  }

 private:
  struct One {
    const CheckInfo* info;
    std::unique_ptr<Check> check;
    std::string reason;
  };

  // Returns "" if any of the kinds of evidence in `info.needs` is available; else why the first of
  // them is missing.
  std::string WhatIsMissing(const CheckInfo& info) const {
    std::string first;
    for (Evidence evidence : info.needs) {
      auto missing = missing_.find(evidence);
      if (missing == missing_.end() || missing->second.empty()) return "";
      if (first.empty()) first = missing->second;
    }
    return first;
  }

  bool IsOfOtherInput(const CheckInfo& info) const {
    return llvm::all_of(info.needs, [&](Evidence evidence) { return other_.count(evidence) > 0; });
  }

  Confidence least_ = Confidence::kPossible;
  std::vector<One> checks_;
  std::map<Evidence, std::string> missing_;
  std::set<Evidence> other_;
};

// Examines the graph of one model by running it.
class GraphDoctor {
 public:
  GraphDoctor(OpenedGraph& opened, const DoctorRequest& request)
      : opened_(opened), request_(request), run_(request.run.ByItself()) {
    run_.pool = request.run.pool;
  }

  Expected<Diagnosis> Examine() {
    ASSIGN_OR_RETURN(Examination examination, Examination::Make(request_));
    RETURN_IF_ERROR(FindEnds());
    Network network(opened_.file(), opened_.module(), ends_);
    DoctorContext context;
    context.network = &network;
    TensorWatches watches;
    RunIfPossible(examination, watches, &context);
    Settle(examination, context);
    Diagnosis diagnosis = examination.Run(context);
    diagnosis.path = opened_.model().path;
    diagnosis.failure = failure_;
    const LineTable lines = LinesOf(opened_);
    for (Finding& finding : diagnosis.findings) {
      auto line = lines.LineOf(lines.Find(finding.function, finding.node));
      if (line) finding.made_at = FrameText(*line);
    }
    if (!diagnosis.findings.empty()) NameLayers(&diagnosis.findings);
    return diagnosis;
  }

 private:
  const Graph& main() const { return opened_.module().main; }

  void NameLayers(std::vector<Finding>* findings) const {
    const LayerNames layers(opened_.file());
    if (layers.empty()) return;
    for (Finding& finding : *findings) {
      int variable = finding.function.empty() ? layers.FindVariable(finding.node) : -1;
      finding.layer = variable >= 0 ? layers.OfVariable(finding.node)
                                    : layers.Of(finding.function, finding.node);
      if (variable >= 0) finding.variable = layers.table().variables()[variable].name;
    }
  }

  Error Add(llvm::StringRef tensor, std::vector<BodyPort>* ports) {
    ASSIGN_OR_RETURN(Port port, FindTensor(main(), tensor));
    BodyPort made(main(), port);
    if (!llvm::is_contained(*ports, made)) ports->push_back(made);
    return Error::success();
  }

  // Finds the feeds, fetches and losses. If the request names no feed, fetch or signature, and the
  // default fetches cannot run or do not exist (in a case whose graph has changed), the whole graph
  // is examined without a run.
  Error FindEnds() {
    auto job = RunJob::Make(opened_, run_);
    Error error = job ? FindEndsOf(*job) : job.takeError();
    if (error) {
      bool is_asked = !run_.feeds.empty() || !run_.fetches.empty() || !run_.signature.empty();
      Error invalid = CheckValid(opened_, nullptr);
      if (is_asked || invalid) {
        llvm::consumeError(std::move(invalid));
        return error;
      }
      why_not_run_ = TextOf(std::move(error));
      ends_ = {};
    }
    if (request_.loss.empty()) return Error::success();
    return Add(request_.loss, &ends_.losses);
  }

  Error FindEndsOf(const RunJob& job) {
    for (const std::string& feed : job.feeds()) RETURN_IF_ERROR(Add(feed, &ends_.feeds));
    given_ = ends_.feeds;
    for (const std::string& fetch : job.fetches()) RETURN_IF_ERROR(Add(fetch, &ends_.fetches));
    ASSIGN_OR_RETURN(auto named, FeedsAndFetchesOf(opened_, {}, run_.fetches, run_.signature));
    for (const std::string& feed : named.feeds) RETURN_IF_ERROR(Add(feed, &ends_.feeds));
    return Error::success();
  }

  // Describes the placeholders that the run needs and that have no feed.
  std::string MissingFeeds(const Network& network) const {
    std::vector<llvm::StringRef> missing;
    size_t variables = 0;
    for (const Node& node : network.nodes()) {
      if (&node.graph() != &main() || node.op() != "Placeholder") continue;
      if (llvm::is_contained(given_, BodyPort(node, 0))) continue;
      bool is_variable = node.GetType("dtype") == proto::DT_RESOURCE;
      variables += is_variable;
      if (!is_variable) missing.push_back(node.name());
    }
    if (variables > 0)
      return Sentence("{0} of this partial graph have no value: pass the whole model",
                      Plural(variables, "variable"));
    if (missing.empty()) return "";
    if (missing.size() == 1) return Sentence("'{0}' has no value (--feed)", missing[0]);
    return Sentence("'{0}' and {1} have no value (--feed)", missing[0],
                    Plural(missing.size() - 1, "other input"));
  }

  void RunIfPossible(Examination& examination, TensorWatches& watches, DoctorContext* context) {
    const Network& network = *context->network;
    if (why_not_run_.empty()) why_not_run_ = MissingFeeds(network);
    if (!why_not_run_.empty()) return;
    examination.Watch(*context, watches);
    Observer observer(network, watches);
    run_.hook = &observer;
    run_.sink = [](Severity, llvm::StringRef) {};  // reported already
    auto job = RunJob::Make(opened_, run_);
    Error error = job ? job->Prepare() : job.takeError();
    if (error) {
      why_not_run_ = TextOf(std::move(error));
      return;
    }
    job_.emplace(std::move(*job));
    if (Error failed = RunSteps(*job_, observer, context)) failure_ = TextOf(std::move(failed));
  }

  Error RunSteps(RunJob& job, Observer& observer, DoctorContext* context) {
    const Network& network = *context->network;
    ASSIGN_OR_RETURN(auto batches, Batches(job));
    context->batches = static_cast<int>(batches.size());
    bool repeats = network.Trains() || network.inputs().size() > network.ends().feeds.size();
    int steps = repeats ? request_.steps : std::min<int>(request_.steps, batches.size());
    bool trains = network.Trains() && steps > 1;
    Remember(job, context);
    for (int step = 0; step < steps; ++step) {
      context->steps = step + 1;
      observer.BeginStep(step);
      const std::vector<Tensor>& feeds = batches[step % batches.size()];
      for (size_t i = 0; i < feeds.size(); ++i) observer.Feed(given_[i], feeds[i]);
      auto outputs = job.Run(feeds);
      if (!outputs) return Annotate("step " + std::to_string(step + 1), outputs.takeError());
      if (trains) Remember(job, context);
      context->trained = trains && step > 0;
    }
    return Error::success();
  }

  // Returns the batches to feed: the run's feeds, followed by those of the case's steps if the case
  // has steps and the request has no feeds.
  Expected<std::vector<std::vector<Tensor>>> Batches(const RunJob& job) const {
    std::vector<std::vector<Tensor>> batches = {job.feed_values()};
    const auto& values = opened_.model().case_info;
    if (!values || !request_.run.feeds.empty()) return batches;
    for (const Case::Step& step : values->steps) {
      std::vector<Tensor> feeds;
      for (size_t i = 0; i < values->feeds.size() && i < batches[0].size(); ++i) {
        ASSIGN_OR_RETURN(Literal value, LoadNpyLiteral(step.feeds[i], batches[0][i].dtype()));
        ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromLiteral(value));
        feeds.push_back(std::move(tensor));
      }
      batches.push_back(std::move(feeds));
    }
    return batches;
  }

  // Adds the current values of variables to their histories in `context`.
  void Remember(const RunJob& job, DoctorContext* context) {
    std::map<std::string, Tensor> values;
    for (const auto& [name, resource] : job.session().Resources()) {
      auto* held = dynamic_cast<StoredVariable*>(resource.get());
      Tensor value = held ? held->Get() : Tensor();
      if (value && !value.device()) values.emplace(name, std::move(value));
    }
    const std::vector<NetworkVariable>& variables = context->network->variables();
    for (size_t i = 0; i < variables.size(); ++i) {
      auto value = values.find(variables[i].name);
      if (value == values.end()) continue;
      auto [place, is_new] = history_of_.try_emplace(i, context->variables.size());
      if (is_new) {
        context->variables.emplace_back();
        context->variables.back().name = variables[i].name;
        context->variables.back().variable = static_cast<int>(i);
      }
      AddMoment(value->second, &context->variables[place->second]);
    }
  }

  void Settle(Examination& examination, const DoctorContext& context) const {
    const Network& network = *context.network;
    std::string no_loss = "no loss was found: name it with --loss NODE, or --fetch it";
    examination.Settle(Evidence::kLoss, network.losses().empty() ? no_loss : "");
    std::string no_values = context.steps > 0 ? "" : why_not_run_.empty() ? failure_ : why_not_run_;
    examination.Settle(Evidence::kValues, no_values);
    std::string no_steps = no_values;
    if (no_steps.empty() && !context.trained && !failure_.empty()) no_steps = "the run failed";
    if (no_steps.empty() && !context.trained)
      no_steps = network.Trains()
                     ? "needs two steps: --steps"
                     : "the run does not train: name the training step with --fetch or --signature";
    examination.Settle(Evidence::kSteps, no_steps);
    examination.SettleForOther({Evidence::kCheckpoints}, "a folder of checkpoints");
    examination.SettleForOther({Evidence::kDebugFolder}, "a folder of TensorFlow's debugger");
    examination.SettleForOther({Evidence::kScalars}, "a folder of event files");
  }

  OpenedGraph& opened_;
  const DoctorRequest& request_;
  RunRequest run_;
  Network::Ends ends_;
  std::vector<BodyPort> given_;
  std::map<size_t, size_t> history_of_;  // index in DoctorContext::variables, by variable
  std::string why_not_run_, failure_;
  // Lives as long as the observed values, since these may lie in files that the job's session maps.
  std::optional<RunJob> job_;
};

const Evidence kOfGraph[] = {Evidence::kGraph, Evidence::kLoss, Evidence::kValues,
                             Evidence::kSteps};

// Returns checkpoint prefixes, sorted by their numbers.
std::vector<std::string> PrefixesAt(llvm::StringRef path) {
  constexpr llvm::StringLiteral kIndex = ".index";
  if (HasSuffix(path, kIndex)) return {path.drop_back(kIndex.size()).str()};
  if (FileExists((path + kIndex).str())) return {path.str()};
  std::vector<std::string> prefixes;
  auto files = ListDirectory(path);
  if (!files) {
    llvm::consumeError(files.takeError());
    return {};
  }
  for (const std::string& file : *files) {
    if (HasSuffix(file, kIndex))
      prefixes.push_back(JoinPath(path, llvm::StringRef(file).drop_back(kIndex.size())));
  }
  llvm::sort(prefixes, [](llvm::StringRef a, llvm::StringRef b) {
    int order = a.compare_numeric(b);
    return order != 0 ? order < 0 : a < b;
  });
  return prefixes;
}

// True for an optimizer's slot (its state for one variable, such as a moment of Adam). TensorFlow 2
// stores slots under ".OPTIMIZER_SLOT", Keras in a separate list, TensorFlow 1 under the variable's
// name: "dense/kernel/Adam_1".
bool IsSlot(llvm::StringRef key, const std::map<std::string, VariableHistory>& all) {
  if (key.contains(".OPTIMIZER_SLOT") || key.contains("optimizer/_variables/")) return true;
  return all.count(key.rsplit('/').first.str()) > 0 && key.contains('/');
}

// Reads the checkpoints at `path`, and the history of each floating-point variable that is in all
// of them.
Error ReadCheckpoints(llvm::StringRef path, DoctorContext* context) {
  constexpr llvm::StringLiteral kValue = "/.ATTRIBUTES/VARIABLE_VALUE";
  std::map<std::string, VariableHistory> histories;
  for (const std::string& prefix : PrefixesAt(path)) {
    ASSIGN_OR_RETURN(Bundle bundle, Bundle::Open(prefix));
    context->checkpoints.push_back(llvm::sys::path::filename(prefix).str());
    for (llvm::StringRef key : bundle.names()) {
      ASSIGN_OR_RETURN(Bundle::Entry entry, bundle.Describe(key));
      if (!IsFloating(entry.dtype)) continue;
      ASSIGN_OR_RETURN(Literal literal, bundle.Read(key));
      ASSIGN_OR_RETURN(Tensor value, Tensor::FromLiteral(literal));
      llvm::StringRef name = key;
      name.consume_back(kValue);
      VariableHistory& history = histories[name.str()];
      history.name = name.str();
      AddMoment(value, &history);
    }
  }
  for (auto& [name, history] : histories) {
    history.is_slot = IsSlot(name, histories);
    if (history.moments.size() == context->checkpoints.size())
      context->saved.push_back(std::move(history));
  }
  return Error::success();
}

// Checks that the log has the scalar that the user named as the loss.
Error CheckTag(llvm::StringRef path, const ScalarLog& log, llvm::StringRef tag) {
  std::vector<std::string> names;
  for (const ScalarSeries& series : log.series) {
    if (tag.empty() || tag == series.tag || tag == series.name()) return Error::success();
    names.push_back(series.name());
  }
  return Annotate(path.str(), NotFound("scalar", tag, names));
}

}  // namespace

Expected<Diagnosis> ExamineGraph(OpenedGraph& opened, const DoctorRequest& request) {
  return GraphDoctor(opened, request).Examine();
}

Expected<Diagnosis> ExamineDebugFolder(llvm::StringRef path, const DoctorRequest& request) {
  ASSIGN_OR_RETURN(Examination examination, Examination::Make(request));
  ASSIGN_OR_RETURN(DebugFolder folder, ReadDebugFolder(path));
  for (const std::string& problem : folder.problems) request.run.sink(Severity::kWarning, problem);
  examination.SettleForOther(kOfGraph, "a model");
  examination.SettleForOther({Evidence::kCheckpoints}, "a folder of checkpoints");
  examination.SettleForOther({Evidence::kScalars}, "a folder of event files");
  DoctorContext context;
  context.debug = &folder.runs.back();
  Diagnosis diagnosis = examination.Run(context);
  diagnosis.path = path.str();
  return diagnosis;
}

bool IsTrainingRecord(llvm::StringRef path) {
  bool is_model = FileExists(JoinPath(path, "saved_model.pb")) || IsCaseFolder(path);
  return !is_model && (!PrefixesAt(path).empty() || HasScalars(path));
}

Expected<Diagnosis> ExamineTrainingRecord(llvm::StringRef path, const DoctorRequest& request) {
  ASSIGN_OR_RETURN(Examination examination, Examination::Make(request));
  examination.SettleForOther(kOfGraph, "a model");
  examination.SettleForOther({Evidence::kDebugFolder}, "a folder of TensorFlow's debugger");
  DoctorContext context;
  RETURN_IF_ERROR(ReadCheckpoints(path, &context));
  ASSIGN_OR_RETURN(ScalarLog log, ReadScalarLog(path));
  for (const std::string& problem : log.problems) request.run.sink(Severity::kWarning, problem);
  if (context.checkpoints.empty())
    examination.SettleForOther({Evidence::kCheckpoints}, "a folder of checkpoints");
  if (log.series.empty()) {
    if (!request.loss.empty())
      return MakeError("{0}: has no scalars: --loss is for event files and models", path);
    examination.SettleForOther({Evidence::kScalars}, "a folder of event files");
  } else {
    RETURN_IF_ERROR(CheckTag(path, log, request.loss));
    context.scalars = &log;
    context.loss_tag = request.loss;
  }
  Diagnosis diagnosis = examination.Run(context);
  diagnosis.path = path.str();
  diagnosis.curves = LossCurvesOf(log, request.loss).size();
  for (Finding& finding : diagnosis.findings) finding.file = path.str();
  return diagnosis;
}

}  // namespace grapnel
