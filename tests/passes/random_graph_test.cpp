// Optimized or not, a graph has the same values: random graphs under configs from the same seeds.
#include "tests/passes/random_graph.h"

#include <cstdlib>
#include <map>

#include "gtest/gtest.h"
#include "lib/check/comparison.h"
#include "lib/check/value_check.h"
#include "lib/exec/evaluator.h"
#include "lib/exec/executor.h"
#include "lib/io/write.h"
#include "lib/ir/import.h"
#include "lib/pass/pass_manager.h"
#include "lib/pass/registry.h"
#include "llvm/Support/JSON.h"
#include "tests/passes/ledger.h"

namespace grapnel {
namespace {

Expected<std::vector<Tensor>> RunOn(const Module& module, const std::vector<FedValue>& feeds,
                                    const std::vector<std::string>& fetches, ThreadPool& pool) {
  ExecutorOptions options;
  options.fetches = fetches;
  options.pool = &pool;
  std::vector<Tensor> values;
  for (const FedValue& feed : feeds) {
    if (!module.main.Find(feed.tensor)) continue;
    options.feeds.push_back(feed.tensor);
    values.push_back(feed.value);
  }
  ASSIGN_OR_RETURN(auto executor, Executor::Compile(module.main, options));
  return executor->Run(values);
}

std::string BytesOf(const Module& module) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  ExportGraphDef(module, os);
  return os.str();
}

// How often each rule rewrote something.
using Fired = std::map<std::string, int>;

void Count(llvm::StringRef ledger, Fired* fired) {
  llvm::SmallVector<llvm::StringRef> lines;
  ledger.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    llvm::json::Value rewrite = llvm::cantFail(llvm::json::parse(line));
    ++(*fired)[rewrite.getAsObject()->getString("rule")->str()];
  }
}

// The problem with the graph of `seed`, or "".
std::string Fault(uint64_t seed, ThreadPool& pool, Fired* fired) {
  RandomGraph random = MakeRandomGraph(seed);
  const Module& before = *random.module;
  auto fault = [&](const char* what, Error error) {
    return std::string(what) + ": " + TextOf(std::move(error));
  };
  auto feeds = CompleteFeeds(before.main, {});
  if (!feeds) return fault("feeds", feeds.takeError());
  auto expected = RunOn(before, *feeds, random.fetches, pool);
  if (!expected) return fault("before", expected.takeError());

  auto file = FileBytes::FromString(BytesOf(before), "graph");
  auto after = llvm::cantFail(ImportGraphDef(file, file->bytes()));
  std::vector<NodeId> ids;
  for (Node node : after->main.nodes()) ids.push_back(node.id());
  if (seed % 2 == 0) {
    for (NodeId id : ids) after->main.SetDevice(id, "/job:localhost/replica:0/task:0/device:CPU:0");
  }
  std::unique_ptr<Evaluator> evaluator = MakeCpuEvaluator(pool);
  OptimizeOptions options;
  options.fetches = random.fetches;
  options.evaluator = evaluator.get();
  options.config.set_min_graph_nodes(-1);
  if (seed % 3 == 0) {
    options.config.set_arithmetic_optimization(proto::RewriterConfig::AGGRESSIVE);
    options.config.set_constant_folding(proto::RewriterConfig::AGGRESSIVE);
  }
  auto start = FileBytes::FromString(BytesOf(*after), "graph");
  std::string ledger;
  llvm::raw_string_ostream os(ledger);
  PassManager manager;
  manager.Add(MakeLedgerInstrumentation(os, options.onednn));
  manager.Add(MakeVerifyInstrumentation());
  auto result = manager.Run(*after, options);
  if (!result) return fault("optimizing", result.takeError());
  std::string difference =
      FirstDifference(ApplyLedger(*llvm::cantFail(ImportGraphDef(start, start->bytes())), os.str()),
                      NodeDefsOf(*after));
  if (!difference.empty()) return "done again from its ledger, " + difference;
  Count(os.str(), fired);
  auto got = RunOn(*after, *feeds, random.fetches, pool);
  if (!got) return fault("after", got.takeError());
  for (size_t i = 0; i < got->size(); ++i) {
    Comparison comparison = Compare((*got)[i].ToLiteral(), (*expected)[i].ToLiteral(), 1e-5,
                                    1e-6 * random.magnitudes[i]);
    if (!comparison.same) return "'" + random.fetches[i] + "' " + comparison.message;
  }
  return "";
}

TEST(RandomGraphTest, OptimizedGraphsHaveTheSameValues) {
  ThreadPool pool(2);
  uint64_t first = 1, count = std::getenv("GRAPNEL_FULL") ? 10000 : 500;
  if (const char* seed = std::getenv("GRAPNEL_SEED")) {
    first = std::strtoull(seed, nullptr, 10);
    count = 1;
  }
  int faults = 0;
  Fired fired;
  for (uint64_t seed = first; seed < first + count && faults < 5; ++seed) {
    std::string fault = Fault(seed, pool, &fired);
    if (fault.empty()) continue;
    ++faults;
    std::string path = "build/random_graph_" + std::to_string(seed) + ".pb";
    RandomGraph random = MakeRandomGraph(seed);
    llvm::consumeError(WriteGraph(*random.module, path));
    const char* device = seed % 2 == 0 ? " --device /device:CPU:0" : "";
    ADD_FAILURE() << "GRAPNEL_SEED=" << seed << ": " << fault << "\n  grapnel reduce " << path
                  << " --check '! grapnel opt {} --check-values" << device << "' -o small.pb";
  }
  if (count == 1) return;
  // The graphs contain patterns of the rules, and each fusion occurred.
  int rewrites = 0;
  for (const auto& [rule, times] : fired) rewrites += times;
  EXPECT_GT(rewrites, static_cast<int>(count) * 5);
  for (const char* optimizer : {"remapper", "arithmetic_optimizer"}) {
    for (const Rule* rule : PassRegistry::Get().RulesOf(optimizer)) {
      if (llvm::StringRef(rule->name).starts_with("fuse_"))
        EXPECT_GT(fired[rule->name], 0) << optimizer << "/" << rule->name;
    }
  }
}

}  // namespace
}  // namespace grapnel
