// Dumps the graph before and after each pass that changed it, with TensorFlow's names:
// <graph>.NNNN.main.<tag>.pbtxt tags: before_graph_optimization, before_<pass>, after_<pass>, ...
// and writes index.json, which lists every stage in order, including the unchanged ones. With
// stages_alone, dumps the main graph before and after each pass, changed or not. A dump holds the
// whole module, also when the pass ran on a function's body; index.json names the function.
// ledger.jsonl has every rewrite. If other runs have dumped to the folder before, a number is added
// to <graph> if it is taken, and the other files are <graph>.ledger.jsonl and <graph>.timings.json.
#include "lib/io/write.h"
#include "lib/pass/dump_index.h"
#include "lib/pass/pass_manager.h"
#include "lib/support/file.h"
#include "lib/support/onednn.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

size_t NumEdges(const Graph& graph) {
  size_t edges = 0;
  for (Node node : graph.nodes()) edges += node.num_inputs() + node.num_controls();
  return edges;
}

class DumpInstrumentation : public Instrumentation {
 public:
  explicit DumpInstrumentation(DumpOptions options) : options_(std::move(options)) {}

  Error BeforePipeline(const Module& module) override {
    if (!ToLog()) {
      RETURN_IF_ERROR(CreateDirectories(options_.folder));
      if (run_.name.empty()) {  // the placer and the partitioner run one after the other
        ASSIGN_OR_RETURN(run_, ClaimDumpRun(options_.folder, options_.graph_name));
        options_.graph_name = run_.name;
      }
      ASSIGN_OR_RETURN(ledger_file_, AtomicFile::Create(JoinPath(options_.folder, run_.ledger)));
      ledger_ = MakeLedgerInstrumentation(ledger_file_->os(), options_.onednn);
      RETURN_IF_ERROR(ledger_->BeforePipeline(module));
    }
    return options_.stages_alone ? Error::success() : Dump("before_graph_optimization", module);
  }

  Error BeforePass(const Stage& stage, const Module& module) override {
    if (!stage.function.empty()) return Error::success();
    if (options_.write_beside && !ToLog()) {
      ASSIGN_OR_RETURN(std::vector<std::string> files, options_.write_beside(stage, run_.name));
      beside_.insert(beside_.end(), files.begin(), files.end());
    }
    return options_.stages_alone ? Dump("before_" + stage.pass, module) : Error::success();
  }

  Error AfterPass(const Stage& stage, const Module& module) override {
    const Function* function = module.FindFunction(stage.function);
    const Graph& graph = function ? function->body : module.main;
    Entry entry = {
        stage.pass, stage.function,    stage.iteration, stage.changed, stage.rewrites, "",
        "",         graph.num_nodes(), NumEdges(graph)};
    times_.push_back({stage.pass, stage.function, stage.iteration, stage.time});
    if (options_.stages_alone ? stage.function.empty() : stage.changed) {
      // No other pass has changed the graph since the last dump, so that dump is also the graph
      // before this pass.
      if (!options_.stages_alone) RETURN_IF_ERROR(DumpAgain("before_" + stage.pass));
      entry.before = last_;
      RETURN_IF_ERROR(Dump("after_" + stage.pass, module));
      entry.after = last_;
    }
    stages_.push_back(std::move(entry));
    return Error::success();
  }

  void OnRewrite(const Rewrite& rewrite) override {
    if (ledger_) ledger_->OnRewrite(rewrite);
  }

  void Failed(const Stage& stage, const Module& module) override {
    // Dumps the broken graph for the author of the pass. If this dump fails too, its error is
    // dropped: it would only hide the error of the pass.
    llvm::consumeError(Dump("failed_" + stage.pass, module));
    if (ledger_file_) llvm::consumeError(ledger_file_->Commit());
  }

  Error AfterPipeline(const Module& module) override {
    if (!options_.stages_alone) {
      RETURN_IF_ERROR(Dump("after_graph_optimization", module));
      RETURN_IF_ERROR(DumpAgain("after_MetaOptimizer"));
    }
    if (ToLog()) return Error::success();
    RETURN_IF_ERROR(ledger_file_->Commit());
    RETURN_IF_ERROR(WriteFile(JoinPath(options_.folder, run_.timings), Timings()));
    return FinishDumpRun(options_.folder, run_,
                         [this](llvm::json::OStream& json) { WriteStages(json); });
  }

 private:
  struct Entry {
    std::string pass, function;
    int iteration;
    bool changed;
    int rewrites;
    std::string before, after;
    size_t nodes, edges;
  };
  struct Time {
    std::string pass, function;
    int iteration;
    std::chrono::nanoseconds time;
  };

  bool ToLog() const { return options_.folder == "-"; }

  std::string NextName(llvm::StringRef tag) {
    std::string number = std::to_string(order_++);
    number.insert(0, std::max<int>(0, 4 - static_cast<int>(number.size())), '0');
    return FileNamePart((options_.graph_name + "." + number + ".main." + tag).str()) +
           (options_.binary ? ".pb" : ".pbtxt");
  }

  Error Dump(const std::string& tag, const Module& module) {
    last_ = NextName(tag);
    std::vector<NodeId> order = TopologicalOrder(module.main);
    if (ToLog()) {
      if (options_.sink) options_.sink(Severity::kInfo, last_ + "\n" + GraphText(module, order));
      return Error::success();
    }
    RETURN_IF_ERROR(WriteGraph(module, JoinPath(options_.folder, last_), order));
    files_.push_back(last_);
    return Error::success();
  }

  // Links or copies the last dump under another name.
  Error DumpAgain(const std::string& tag) {
    std::string name = NextName(tag);
    if (!ToLog()) {
      RETURN_IF_ERROR(LinkFile(JoinPath(options_.folder, last_), JoinPath(options_.folder, name)));
      files_.push_back(name);
    }
    last_ = name;
    return Error::success();
  }

  void WriteStages(llvm::json::OStream& json) const {
    if (!options_.stages_alone) json.attribute("onednn", OneDnnWord(options_.onednn));
    json.attributeArray("files", [&] {
      for (const std::string& file : files_) json.value(file);
      for (const std::string& file : beside_) json.value(file);
    });
    json.attributeArray("stages", [&] {
      for (const Entry& entry : stages_) {
        json.object([&] {
          json.attribute("pass", entry.pass);
          if (!entry.function.empty())
            json.attribute("function", llvm::json::fixUTF8(entry.function));
          json.attribute("iteration", entry.iteration);
          json.attribute("changed", entry.changed);
          json.attribute("rewrites", entry.rewrites);
          json.attribute("nodes", static_cast<int64_t>(entry.nodes));
          json.attribute("edges", static_cast<int64_t>(entry.edges));
          if (entry.changed) {
            json.attribute("before", entry.before);
            json.attribute("after", entry.after);
          }
        });
      }
    });
  }

  // Returns the content of timings.json. The times are not in index.json, because they differ from
  // run to run.
  std::string Timings() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::json::OStream json(os, 1);
    json.array([&] {
      for (const Time& time : times_) {
        json.object([&] {
          json.attribute("pass", time.pass);
          if (!time.function.empty())
            json.attribute("function", llvm::json::fixUTF8(time.function));
          json.attribute("iteration", time.iteration);
          json.attribute("ms", time.time.count() / 1e6);
        });
      }
    });
    os << "\n";
    return os.str();
  }

  DumpOptions options_;
  DumpRun run_;
  int order_ = 0;
  std::string last_;
  std::vector<std::string> files_, beside_;
  std::vector<Entry> stages_;
  std::vector<Time> times_;
  std::unique_ptr<AtomicFile> ledger_file_;  // null if dumps go to the log
  std::unique_ptr<Instrumentation> ledger_;
};

}  // namespace

std::unique_ptr<Instrumentation> MakeDumpInstrumentation(DumpOptions options) {
  return std::make_unique<DumpInstrumentation>(std::move(options));
}

}  // namespace grapnel
