// Runs passes in order, and tells its instrumentations what happens; it knows no dump, timer or
// verifier itself.
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
  std::string function;  // the body; empty for the main graph
  int iteration = 0;
  // The files that the pass or rules of it came with: "a.so" or "a.so, b.so"; empty: no plugin's.
  std::string plugins;
  // Set after the pass:
  bool changed = false;
  int rewrites = 0;
  std::chrono::nanoseconds time{0};
};

// A client of the PassManager; each hook does nothing unless overridden. Hooks run in the order of
// Add(); After... and Failed in the reverse order. An error ends the run.
class GRAPNEL_PUBLIC Instrumentation {
 public:
  virtual ~Instrumentation() = default;
  virtual Error BeforePipeline(const Module&) { return Error::success(); }
  virtual Error BeforePass(const Stage&, const Module&) { return Error::success(); }
  virtual Error AfterPass(const Stage&, const Module&) { return Error::success(); }
  virtual void Failed(const Stage&, const Module&) {}
  virtual Error AfterPipeline(const Module&) { return Error::success(); }
  virtual void OnRewrite(const Rewrite&) {}
  // Whether OnRewrite is to be called. Where no client asks for it, what a rewrite did is not put
  // into words, which is a tenth of the time.
  virtual bool ReadsRewrites() const { return true; }
  // Whether BeforePass and AfterPass may be called for several bodies at a time, on several
  // threads, each looking at its stage's body alone. With a client that may not, bodies go one
  // after another. Failed comes on one thread, for the first body that failed, when all are
  // through.
  virtual bool TakesBodiesApart() const { return false; }
};

struct GRAPNEL_PUBLIC OptimizeOptions {
  std::vector<std::string> feeds, fetches;  // tensors or nodes of the main graph: "x", "x:0"
  std::vector<std::string> passes;          // names; empty: the pipeline that `config` asks for
  // The passes and rules that there are; null: PassRegistry::Get(). With one of the caller's,
  // bodies go one after another: what it adds is called from one thread at a time.
  const PassRegistry* registry = nullptr;
  // What functions made for calls in the main graph are named after:
  // `f_specialized_for_call_at_ID`.
  std::string id = "graph_to_optimize";
  proto::RewriterConfig config;  // TensorFlow's; also says iterations and min_graph_nodes
  int limit = -1;                // rewrites in all; -1: no limit
  bool keep_nan = false;         // no rewrite that puts a number where a NaN would be
  // Which TensorFlow the passes imitate: with oneDNN, or without (lib/support/onednn.h). It does
  // not depend on this machine, so that the same options give the same graph everywhere.
  bool onednn = true;
  // Where nodes that name no device are taken to be, as a node has it; written into none of them.
  std::string assumed_device;
  // If, Case and While stay nodes that call functions.
  bool keep_functional = false;
  // What placeholders say of their shapes is known. Not so by default: a session feeds what it
  // likes. Where the graph is the body of a function, it is.
  bool trusts_shapes = false;
  // Functions by name. If there are any, just these are optimized, in this order, and then what
  // they still reach; the main graph and the rest of the library stay as they are. Shapes of
  // arguments are those that calls give, as in TensorFlow's own runs.
  std::vector<std::string> bodies;
  Evaluator* evaluator = nullptr;
  // Functions that call no function are optimized side by side, with the result that one after
  // another would have; null: one after another. So too with a limit, with `on_refusal`, with
  // passes or rules of plugins, and with clients that cannot take it.
  ThreadPool* pool = nullptr;
  MessageSink sink;
  std::function<void(const Refusal&)> on_refusal;
};

struct GRAPNEL_PUBLIC OptimizeResult {
  std::vector<Stage> stages;
  int rewrites = 0;
  std::vector<std::string> fetches;  // those given, or those taken when none were
};

class GRAPNEL_PUBLIC PassManager {
 public:
  void Add(std::unique_ptr<Instrumentation> instrumentation);
  // One that outlives the runs.
  void Add(Instrumentation* instrumentation) { clients_.push_back(instrumentation); }
  // Optimizes `module` in place, as TensorFlow's MetaOptimizer does: functions that nobody calls
  // go, the main graph is optimized, and then each function that it still reaches, once, those that
  // came up meanwhile too. Left alone are functions whose dtypes only a call tells, those compiled
  // by XLA, and those of tf.data. On an error the module is as the failing pass left it and must
  // not be used.
  Expected<OptimizeResult> Run(Module& module, const OptimizeOptions& options);

 private:
  std::vector<std::unique_ptr<Instrumentation>> owned_;
  std::vector<Instrumentation*> clients_;
};

// The instrumentations, one file each.
// `is_sound`: the module that Run is given has no problem (lib/ir/verify.h), so that what no pass
// changes is not looked at after each of them. Everything is at the end, and `fetches` (those that
// Run is given) must then be there with the dtypes that they had. `broke_graph`, which must outlive
// the run, becomes true where the graph is why the run fails; may be null.
GRAPNEL_PUBLIC std::unique_ptr<Instrumentation> MakeVerifyInstrumentation(
    bool is_sound = false, std::vector<std::string> fetches = {}, bool* broke_graph = nullptr);
// Rewrites as JSON lines, in order, to `os`, which must outlive the run. Each line says whether the
// passes imitate TensorFlow with oneDNN (OptimizeOptions::onednn).
GRAPNEL_PUBLIC std::unique_ptr<Instrumentation> MakeLedgerInstrumentation(llvm::raw_ostream& os,
                                                                          bool onednn);
// Dumps before and after each pass that changed something, as TensorFlow names them, and
// index.json, timings.json and ledger.jsonl.
struct GRAPNEL_PUBLIC DumpOptions {
  std::string folder;      // "-": to the log
  std::string graph_name;  // first part of each file's name; a number follows where it is taken
  bool binary = false;     // .pb instead of .pbtxt
  bool onednn = true;      // OptimizeOptions::onednn, for index.json and the ledger
  // The passes are no optimization (the placer): each is dumped before and after, changed or not,
  // and nothing else is.
  bool stages_alone = false;
  MessageSink sink;
  // Called before each pass over the main graph, with the name that the run's files begin with:
  // writes what else belongs in the folder, and gives the files' names for index.json.
  std::function<Expected<std::vector<std::string>>(const Stage&, llvm::StringRef)> write_beside;
};
GRAPNEL_PUBLIC std::unique_ptr<Instrumentation> MakeDumpInstrumentation(DumpOptions options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_PASS_MANAGER_H_
