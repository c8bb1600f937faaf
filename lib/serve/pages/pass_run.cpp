#include "lib/serve/pages/pass_run.h"

#include "lib/job/node_question.h"
#include "lib/job/source.h"
#include "lib/support/json.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// An error if the client no longer waits for the result.
Error CheckNotGone(llvm::function_ref<bool()> is_gone, const Stage& stage) {
  if (!is_gone || !is_gone()) return Error::success();
  return MakeError("stopped before pass '{0}': the client has disconnected", stage.pass);
}

class StopIfGone : public Instrumentation {
 public:
  explicit StopIfGone(llvm::function_ref<bool()> is_gone) : is_gone_(is_gone) {}
  Error BeforePass(const Stage& stage, const Module&) override {
    return CheckNotGone(is_gone_, stage);
  }
  bool ReadsRewrites() const override { return false; }

 private:
  llvm::function_ref<bool()> is_gone_;
};

// Records the same graphs that the passes would write to a folder of dumps.
class Recorder : public Instrumentation {
 public:
  Recorder(std::string line, Timeline* timeline, RunRecord* record,
           llvm::function_ref<bool()> is_gone)
      : line_(std::move(line)), timeline_(*timeline), record_(*record), is_gone_(is_gone) {}

  Error BeforePipeline(const Module& module) override {
    return Keep("before graph_optimization", module);
  }

  Error BeforePass(const Stage& stage, const Module&) override {
    return CheckNotGone(is_gone_, stage);
  }

  void OnRewrite(const Rewrite& rewrite) override { rewrites_.push_back(rewrite); }

  Error AfterPass(const Stage& stage, const Module& module) override {
    StageRecord record{stage, "", std::move(rewrites_)};
    rewrites_.clear();
    if (stage.changed) {
      std::string title = "after " + stage.pass;
      if (!stage.function.empty()) title += " in " + stage.function;
      RETURN_IF_ERROR(Keep(title, module));
      record.dump = timeline_.stages.back().dump.file;
    }
    record_.stages.push_back(std::move(record));
    return Error::success();
  }

 private:
  Error Keep(const std::string& title, const Module& module) {
    int before = static_cast<int>(timeline_.stages.size()) - 1;
    std::string file = std::to_string(timeline_.stages.size());
    AddStage({file, line_, "", title}, module.Copy(), before, &timeline_);
    return Error::success();
  }

  std::string line_;
  Timeline& timeline_;
  RunRecord& record_;
  llvm::function_ref<bool()> is_gone_;
  std::vector<Rewrite> rewrites_;
};

// Parses "limit", a whole number that is not negative; -1 if it is missing or empty.
Expected<int> ParseLimit(const llvm::json::Object& object) {
  const llvm::json::Value* value = object.get("limit");
  if (!value) return -1;
  std::string text = value->getAsString().value_or("").str();
  if (auto number = value->getAsInteger()) text = std::to_string(*number);
  int limit = -1;
  if (value->getAsString() && text.empty()) return limit;
  if (llvm::StringRef(text).trim().getAsInteger(10, limit) || limit < 0)
    return MakeError("limit: expected a whole number, 0 or more{0}",
                     text.empty() ? "" : ", not '" + text + "'");
  return limit;
}

}  // namespace

Expected<OptimizeRequest> ParseOptimizeRequest(llvm::StringRef text) {
  ASSIGN_OR_RETURN(llvm::json::Value value, ParseJson(text));
  const llvm::json::Object* object = value.getAsObject();
  if (!object) return MakeError("a JSON object was expected");
  auto said = [&](const char* key) { return object->getString(key).value_or("").trim(); };
  OptimizeRequest request;
  for (const std::string& feed : SplitList(said("feed")))
    request.feeds.push_back({feed, "", Tensor()});
  request.options.fetches = SplitList(said("fetch"));
  request.signature = said("signature").str();
  request.options.passes = SplitList(said("passes"));
  request.options.without = SplitList(said("without"));
  request.rewriter_config = said("rewriter_config").str();
  request.may_read = false;
  ASSIGN_OR_RETURN(request.options.limit, ParseLimit(*object));
  if (llvm::StringRef device = said("device"); !device.empty()) request.device = device.str();
  if (llvm::StringRef word = said("onednn"); !word.empty()) {
    auto choice = ParseOneDnn(word);
    if (!choice) return MakeError("onednn: expected auto, on or off, not '{0}'", word);
    request.onednn = *choice;
  }
  return request;
}

Expected<PassRun> RunPasses(const OpenedGraph& opened, OptimizeRequest request,
                            const std::string& line, llvm::function_ref<bool()> is_gone) {
  RETURN_IF_ERROR(CheckValid(opened, nullptr));
  OpenedGraph work = opened.Copy();
  PassRun run;
  auto timeline = std::make_shared<Timeline>();
  Recorder recorder(line, timeline.get(), &run.record, is_gone);
  request.watcher = &recorder;
  request.wants_near_misses = true;
  ASSIGN_OR_RETURN(Optimized done, Optimize(work, request));
  RETURN_IF_ERROR(done.AsError());
  run.record.has_rewrites = run.record.has_times = true;
  run.timeline = std::move(timeline);
  run.near_misses = std::move(done.near_misses);
  run.knows_near_misses = true;
  run.notes.push_back(std::string("As TensorFlow with") + (done.onednn ? "" : "out") + " oneDNN.");
  if (std::string assumed = done.AssumedText(); !assumed.empty()) run.notes.push_back(assumed);
  if (std::string kept = done.KeptText(); !kept.empty())
    run.notes.push_back("No fetch was given: " + kept);
  return run;
}

Expected<std::string> WhyNotJson(const OpenedGraph& opened, llvm::StringRef text,
                                 llvm::function_ref<bool()> is_gone) {
  ASSIGN_OR_RETURN(OptimizeRequest request, ParseOptimizeRequest(text));
  ASSIGN_OR_RETURN(llvm::json::Value value, ParseJson(text));
  llvm::StringRef node = value.getAsObject()->getString("node").value_or("").trim();
  if (node.empty()) return MakeError("node: a node, a layer or a pattern was expected");
  RETURN_IF_ERROR(CheckValid(opened, nullptr));
  OpenedGraph work = opened.Copy();
  ASSIGN_OR_RETURN(std::unique_ptr<NodeQuestion> question,
                   NodeQuestion::About(work, node, /*rule=*/""));
  StopIfGone stop(is_gone);
  request.question = question.get();
  request.watcher = &stop;
  ASSIGN_OR_RETURN(Optimized done, Optimize(work, request));
  RETURN_IF_ERROR(done.AsError());
  ASSIGN_OR_RETURN(std::vector<NodeAnswer> answers,
                   question->Answers(work.module(), LinesOf(opened), /*all=*/false));
  std::string json;
  llvm::raw_string_ostream os(json);
  llvm::json::OStream document(os);
  document.object([&] { WriteNodeAnswersJson(answers, document); });
  return os.str();
}

}  // namespace grapnel
