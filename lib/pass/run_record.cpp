#include "lib/pass/run_record.h"

#include <algorithm>
#include <tuple>

#include "lib/io/ledger.h"
#include "lib/io/write.h"
#include "lib/pass/dump_index.h"
#include "lib/pass/registry.h"
#include "lib/support/file.h"
#include "lib/support/json.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr double kLongest = 1e12;  // ms; larger values do not fit into a duration

std::string Text(const llvm::json::Object& object, llvm::StringRef key) {
  return object.getString(key).value_or("").str();
}

Stage ParseStage(const llvm::json::Object& object) {
  Stage stage;
  stage.pass = Text(object, "pass");
  stage.function = Text(object, "function");
  stage.iteration = static_cast<int>(object.getInteger("iteration").value_or(0));
  stage.rewrites = static_cast<int>(object.getInteger("rewrites").value_or(0));
  stage.changed = object.getBoolean("changed").value_or(false);
  return stage;
}

bool SameStage(const Stage& a, const Stage& b) {
  return std::tie(a.pass, a.function, a.iteration) == std::tie(b.pass, b.function, b.iteration);
}

class RecordReader {
 public:
  explicit RecordReader(llvm::StringRef folder) : folder_(folder) {}

  RunRecord Read() {
    Try("index.json", [&](llvm::StringRef text) { return Index(text); });
    return std::move(record_);
  }

 private:
  // Reads and parses a file of the folder. If the file exists but cannot be read or parsed, records
  // a problem. Returns true if the file was read and parsed.
  bool Try(const std::string& name, llvm::function_ref<Error(llvm::StringRef)> parse) {
    std::string path = JoinPath(folder_, name);
    if (!FileExists(path)) return false;
    auto file = FileBytes::Open(path);
    Error error = file ? parse((*file)->bytes()) : file.takeError();
    if (!error) return true;
    record_.problems.push_back(name + ": " + TextOf(std::move(error)));
    return false;
  }

  Error Index(llvm::StringRef text) {
    ASSIGN_OR_RETURN(llvm::json::Value value, ParseJson(text));
    ASSIGN_OR_RETURN(std::vector<const llvm::json::Object*> runs, RunsOf(value));
    for (const llvm::json::Object* run : runs) ReadRun(*run);
    return Error::success();
  }

  // Adds the stages of one run. An interrupted run has none, and is skipped.
  void ReadRun(const llvm::json::Object& run) {
    std::vector<StageRecord> stages;
    for (const llvm::json::Value& stage : *run.getArray("stages")) {
      if (const llvm::json::Object* object = stage.getAsObject())
        stages.push_back({ParseStage(*object), Text(*object, "after"), {}});
    }
    if (stages.empty()) return;
    auto file = [&](const char* key, const char* usual) {
      return FileNamePart(run.getString(key).value_or(usual));
    };
    record_.has_times |= Try(file("timings", "timings.json"),
                             [&](llvm::StringRef text) { return Times(text, stages); });
    record_.has_rewrites |= Try(file("ledger", "ledger.jsonl"),
                                [&](llvm::StringRef text) { return Ledger(text, stages); });
    llvm::move(stages, std::back_inserter(record_.stages));
  }

  static Error Times(llvm::StringRef text, llvm::MutableArrayRef<StageRecord> stages) {
    ASSIGN_OR_RETURN(llvm::json::Value value, ParseJson(text));
    const llvm::json::Array* times = value.getAsArray();
    if (!times || times->size() != stages.size())
      return MakeError("it does not match the stages that index.json lists");
    for (size_t i = 0; i < times->size(); ++i) {
      const llvm::json::Object* object = (*times)[i].getAsObject();
      Stage& stage = stages[i].stage;
      if (!object || !SameStage(ParseStage(*object), stage))
        return MakeError("it does not match the stages that index.json lists");
      double ms = std::clamp(object->getNumber("ms").value_or(0), 0.0, kLongest);
      stage.time = std::chrono::nanoseconds(static_cast<int64_t>(ms * 1e6));
    }
    return Error::success();
  }

  // Assigns the rewrites of the ledger, in order, to the stages: to each as many as index.json says
  // it made.
  static Error Ledger(llvm::StringRef text, llvm::MutableArrayRef<StageRecord> stages) {
    ASSIGN_OR_RETURN(std::vector<Rewrite> rewrites, ParseLedger(text));
    auto next = rewrites.begin();
    for (StageRecord& record : stages) {
      auto left = static_cast<int>(rewrites.end() - next);
      record.rewrites.reserve(std::clamp(record.stage.rewrites, 0, left));
      for (int i = 0; i < record.stage.rewrites; ++i, ++next) {
        bool fits = next != rewrites.end() && next->pass == record.stage.pass &&
                    next->function == record.stage.function;
        if (!fits) return Forget(stages);
        record.rewrites.push_back(std::move(*next));
      }
    }
    return next == rewrites.end() ? Error::success() : Forget(stages);
  }

  static Error Forget(llvm::MutableArrayRef<StageRecord> stages) {
    for (StageRecord& record : stages) record.rewrites.clear();
    return MakeError("it does not match the stages that index.json lists");
  }

  std::string folder_;
  RunRecord record_;
};

}  // namespace

const StageRecord* RunRecord::StageOf(llvm::StringRef dump) const {
  auto found = llvm::find_if(
      stages, [&](const StageRecord& record) { return !dump.empty() && record.dump == dump; });
  return found == stages.end() ? nullptr : &*found;
}

RunRecord ReadRunRecord(llvm::StringRef folder) { return RecordReader(folder).Read(); }

Expected<std::vector<Rewrite>> ParseLedger(llvm::StringRef jsonl) {
  std::vector<Rewrite> rewrites;
  RETURN_IF_ERROR(ForEachLedgerEntry(jsonl, [&](int line, const LedgerEntry& entry) {
    Rewrite rewrite;
    rewrite.number = static_cast<int>(entry.Integer("rewrite").value_or(line));
    rewrite.iteration = static_cast<int>(entry.Integer("iteration").value_or(0));
    rewrite.pass = entry.Text("pass");
    rewrite.rule = entry.Text("rule");
    rewrite.function = entry.Text("function");
    rewrite.node = entry.Text("node");
    rewrite.used = entry.Names("used");
    rewrite.made = entry.Names("made");
    rewrite.changed = entry.Names("changed");
    rewrite.removed = entry.Names("removed");
    rewrite.functions = entry.Names("functions");
    rewrite.note = entry.Text("note");
    rewrites.push_back(std::move(rewrite));
  }));
  return rewrites;
}

std::string RuleHelp(llvm::StringRef pass, llvm::StringRef rule) {
  const PassRegistry::Entry* entry = PassRegistry::Get().Find(pass);
  if (!entry) return "";
  for (const PassStep& step : PassRegistry::Get().ReportedBy(*entry)) {
    if (rule == step.name) return step.help;
  }
  return "";
}

}  // namespace grapnel
