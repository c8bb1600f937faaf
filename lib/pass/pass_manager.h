// Runs passes in order, measures their time, and notifies its instrumentations. The verifier, the
// dumps and the ledger are instrumentations.
#ifndef GRAPNEL_LIB_PASS_PASS_MANAGER_H_
#define GRAPNEL_LIB_PASS_PASS_MANAGER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/pass/pass.h"
#include "lib/support/public.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

class PassRegistry;  // lib/pass/registry.h

// One pass over one body, as instrumentations see it.
struct GRAPNEL_PUBLIC Stage {
  std::string pass;
  std::string function;  // the function whose body it is; empty for the main graph
  int iteration = 0;
  // The plugins that registered the pass or its rules: "a.so" or "a.so, b.so"; empty: none.
  std::string plugins;
  // Set after the pass:
  bool changed = false;
  int rewrites = 0;
  std::chrono::nanoseconds time{0};
};

// A client of the PassManager; each hook does nothing by default. Hooks run in the order of Add();
// AfterPass, AfterPipeline and Failed run in reverse order. An error ends the run.
class GRAPNEL_PUBLIC Instrumentation {
 public:
  virtual ~Instrumentation() = default;
  virtual Error BeforePipeline(const Module&) { return Error::success(); }
  virtual Error BeforePass(const Stage&, const Module&) { return Error::success(); }
  virtual Error AfterPass(const Stage&, const Module&) { return Error::success(); }
  virtual void Failed(const Stage&, const Module&) {}
  virtual Error AfterPipeline(const Module&) { return Error::success(); }
  virtual void OnRewrite(const Rewrite&) {}
  // Whether OnRewrite is called. If no client needs it, Rewrite records are not made, which saves
  // time.
  virtual bool ReadsRewrites() const { return true; }
  // Whether BeforePass, AfterPass and OnRewrite may be called for several bodies at a time, on
  // several threads, each reading only its own stage's body. If any client returns false, bodies
  // run one after another. Failed is called on one thread, for the first body that failed, when all
  // are done.
  virtual bool TakesBodiesApart() const { return false; }
};

struct GRAPNEL_PUBLIC OptimizeOptions {
  std::vector<std::string> feeds, fetches;  // tensors or nodes of the main graph: "x", "x:0"
  std::vector<std::string> passes;          // names; empty: the pipeline of `config`
  std::vector<std::string> without;         // passes, or rules "pass/rule", that do not run
  // Runs the passes again and again until a run changes nothing, at most this many times.
  int most_runs = 1;
  // The available passes and rules; null: PassRegistry::Get(). With another registry, bodies run
  // one after another, so that its passes are called from one thread at a time.
  const PassRegistry* registry = nullptr;
  // The graph's name in names of functions made for calls in the main graph:
  // `f_specialized_for_call_at_ID`.
  std::string id = "graph_to_optimize";
  proto::RewriterConfig config;  // TensorFlow's; also says iterations and min_graph_nodes
  int limit = -1;                // maximum number of rewrites; -1: no limit
  bool keep_nan = false;         // forbids rewrites that put a number where a NaN would be
  // Whether the passes imitate TensorFlow with oneDNN (lib/support/onednn.h). The default does not
  // depend on this machine, so that the same options give the same graph everywhere.
  bool onednn = true;
  // The device that passes assume for nodes without a device, as a device string for NodeDefs. It
  // is not written to the nodes.
  std::string assumed_device;
  // Whether If, Case and While nodes stay, and are not lowered to Switch and Merge nodes.
  bool keep_functional = false;
  // Trusts the shapes of the main graph's placeholders. Off by default, because a session may feed
  // any shape. With `bodies`, the shapes of functions' arguments are always trusted.
  bool trusts_shapes = false;
  // Names of functions. If the list is not empty, only these functions are optimized, in this
  // order, followed by the functions that they still reach; the main graph and the rest of the
  // library stay unchanged. Shapes of arguments come from the calls, as in TensorFlow's own runs.
  std::vector<std::string> bodies;
  Evaluator* evaluator = nullptr;
  // Optimizes functions that call no function on the threads of this pool, with the same result as
  // one after another. Functions are optimized one after another if the pool is null or has one
  // thread, if there is a limit, `on_refusal`, `on_mismatch` or a `registry`, for passes or rules
  // of plugins, and if a client does not allow parallel bodies.
  ThreadPool* pool = nullptr;
  MessageSink sink;
  // on_refusal receives the refusals of rules (Editor::Refuse). on_mismatch receives the reasons
  // why a rule's pattern does not match a node, where only a detail is missing
  // (RuleContext::NotMine).
  std::function<void(const Refusal&)> on_refusal, on_mismatch;
};

struct GRAPNEL_PUBLIC OptimizeResult {
  std::vector<Stage> stages;
  int rewrites = 0;
  std::vector<std::string> fetches;  // the requested fetches, or the default ones
  int runs = 0;                      // of the passes; see most_runs
  size_t last_run = 0;               // index in `stages` of the first one of the last run
  bool is_fixed = false;             // the last run changed nothing
};

class GRAPNEL_PUBLIC PassManager {
 public:
  void Add(std::unique_ptr<Instrumentation> instrumentation);
  // The client must outlive the runs.
  void Add(Instrumentation* instrumentation) { clients_.push_back(instrumentation); }
  // Optimizes `module` in place, as TensorFlow's MetaOptimizer does: drops uncalled functions
  // (unless OptimizeOptions::passes names the passes), optimizes the main graph, and then each
  // function that the main graph still reaches, once, including functions made meanwhile. Skips
  // functions whose dtypes depend on the call, those compiled by XLA, and those of tf.data. On an
  // error the module stays as the failing pass left it and must not be used.
  Expected<OptimizeResult> Run(Module& module, const OptimizeOptions& options);

 private:
  std::vector<std::unique_ptr<Instrumentation>> owned_;
  std::vector<Instrumentation*> clients_;
};

// The following functions make the instrumentations; each is implemented in its own file.
//
// Makes the verifier, which checks the graph after each pass that changed it. `is_sound`: the
// caller promises that the module given to Run has no problem (lib/ir/verify.h), so that unchanged
// parts need no check after each pass. Then, after each pass that changed the main graph, `fetches`
// (the same as in OptimizeOptions) must still exist with their original dtypes (a fetched node may
// lose its output), and at the end the whole module is checked; otherwise, only bodies that a pass
// changed are checked at the end. `broke_graph`, which must outlive the run, is set to true if the
// verifier finds that a pass broke the graph; may be null.
GRAPNEL_PUBLIC std::unique_ptr<Instrumentation> MakeVerifyInstrumentation(
    bool is_sound = false, std::vector<std::string> fetches = {}, bool* broke_graph = nullptr);
// Writes rewrites as JSON lines, in order, to `os`, which must outlive the run. Each line also says
// whether the passes imitate TensorFlow with oneDNN (OptimizeOptions::onednn).
GRAPNEL_PUBLIC std::unique_ptr<Instrumentation> MakeLedgerInstrumentation(llvm::raw_ostream& os,
                                                                          bool onednn);
// Dumps the graph before and after each pass that changed something, named as TensorFlow names its
// dumps, and writes index.json, timings.json and ledger.jsonl.
struct GRAPNEL_PUBLIC DumpOptions {
  std::string folder;      // "-": to the log
  std::string graph_name;  // first part of each file's name; gets a number if it is taken
  bool binary = false;     // .pb instead of .pbtxt
  bool onednn = true;      // OptimizeOptions::onednn, for index.json and the ledger
  // For a pass that does not optimize (the placer): dumps the graph before and after it, changed or
  // not, and not before and after the pipeline.
  bool stages_alone = false;
  MessageSink sink;
  // Called before each pass over the main graph, unless the dumps go to the log, with the prefix of
  // the run's files: writes additional files to the folder and returns their names for index.json.
  std::function<Expected<std::vector<std::string>>(const Stage&, llvm::StringRef)> write_beside;
};
GRAPNEL_PUBLIC std::unique_ptr<Instrumentation> MakeDumpInstrumentation(DumpOptions options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_PASS_MANAGER_H_
