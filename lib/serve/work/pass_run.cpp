#include "lib/serve/work/pass_run.h"

#include "lib/exec/evaluator.h"
#include "lib/ir/import.h"
#include "lib/pass/near_misses.h"
#include "lib/support/text.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

// Keeps what a folder of dumps would hold.
class Recorder : public Instrumentation {
 public:
  Recorder(std::string line, Timeline* timeline, RunRecord* record)
      : line_(std::move(line)), timeline_(*timeline), record_(*record) {}

  Error BeforePipeline(const Module& module) override {
    return Keep("before graph_optimization", module);
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
    ASSIGN_OR_RETURN(std::shared_ptr<const Module> copy, CopyModule(module, line_));
    AddStage({file, line_, "", title}, std::move(copy), before, &timeline_);
    return Error::success();
  }

  std::string line_;
  Timeline& timeline_;
  RunRecord& record_;
  std::vector<Rewrite> rewrites_;
};

std::string FetchNote(const std::vector<std::string>& taken) {
  std::string note = "No fetch was given: taken were the " + Plural(taken.size(), "node") +
                     " that nobody reads, '" + taken[0] + "'";
  return note + (taken.size() > 1 ? ", ..." : "");
}

}  // namespace

Expected<PassRunOptions> ParsePassRunOptions(llvm::StringRef text) {
  ASSIGN_OR_RETURN(llvm::json::Value value, llvm::json::parse(text));
  const llvm::json::Object* object = value.getAsObject();
  if (!object) return MakeError("a JSON object was expected");
  PassRunOptions options;
  options.ends.feeds = SplitList(object->getString("feed").value_or(""));
  options.ends.fetches = SplitList(object->getString("fetch").value_or(""));
  options.device = object->getString("device").value_or("").str();
  return options;
}

Expected<PassStory> RunPasses(const Module& module, const PassRunOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Module> work, CopyModule(module, options.line));
  RETURN_IF_ERROR(SetMissingDevices(*work, options.device));
  PassStory story;
  auto timeline = std::make_shared<Timeline>();
  ThreadPool pool;
  std::unique_ptr<Evaluator> evaluator = MakeCpuEvaluator(pool);
  NearMisses misses;
  OptimizeOptions optimize;
  optimize.feeds = options.ends.feeds;
  optimize.fetches = options.ends.fetches;
  optimize.config.set_min_graph_nodes(-1);  // small graphs are optimised too
  optimize.evaluator = evaluator.get();
  optimize.pool = &pool;
  optimize.on_refusal = [&](const Refusal& refusal) { misses.Add(refusal); };
  PassManager manager;
  manager.Add(std::make_unique<Recorder>(options.line, timeline.get(), &story.record));
  manager.Add(MakeVerifyInstrumentation());
  ASSIGN_OR_RETURN(OptimizeResult result, manager.Run(*work, optimize));
  story.record.has_rewrites = story.record.has_times = true;
  story.timeline = std::move(timeline);
  story.near_misses = misses.Sorted();
  story.knows_near_misses = true;
  if (optimize.fetches.empty() && !result.fetches.empty())
    story.notes.push_back(FetchNote(result.fetches));
  return story;
}

}  // namespace grapnel
