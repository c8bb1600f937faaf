// A fetch never disappears: fetches every output of each node with several outputs, for all ops in
// testdata, and checks that it is still there after every optimizer. If a plugin's rule loses one,
// the run fails and names the rule.
#include <map>
#include <random>
#include <set>

#include "gtest/gtest.h"
#include "lib/exec/evaluator.h"
#include "lib/io/case.h"
#include "lib/io/value.h"
#include "lib/ir/find.h"
#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/ir/text.h"
#include "lib/pass/near_misses.h"
#include "lib/pass/pass_manager.h"
#include "lib/pass/registry.h"
#include "lib/pass/rule.h"
#include "lib/support/file.h"

namespace grapnel {
namespace {

std::unique_ptr<Module> Load(const std::string& path) {
  auto file = llvm::cantFail(FileBytes::Open(path));
  return llvm::cantFail(ImportGraphDef(file, file->bytes()));
}

// Each optimizer with a toggle, on, by itself.
proto::RewriterConfig AllOn(proto::RewriterConfig::Toggle toggle) {
  proto::RewriterConfig config;
  const auto* fields = proto::RewriterConfig::descriptor();
  for (int i = 0; i < fields->field_count(); ++i) {
    const auto* field = fields->field(i);
    bool is_toggle = field->enum_type() && field->enum_type()->name() == "Toggle";
    if (is_toggle && !field->is_repeated())
      config.GetReflection()->SetEnumValue(&config, field, toggle);
  }
  return config;
}

// Fed tensors become constants, so that folding has something to do.
void MakeConstant(Module& module, const Case& values) {
  proto::RewriterConfig config;
  Editor edit(module.main, nullptr, {}, config, nullptr);
  for (const Case::Feed& feed : values.feeds) {
    auto port = FindTensorIfThere(module.main, feed.tensor);
    if (!port) continue;
    Node node = module.main.node(port->node);
    auto literal = LoadNpyLiteral(feed.file, TypeOfPort(module.main, *port));
    if (!literal || node.op() != "Placeholder") {
      llvm::consumeError(literal.takeError());
      continue;
    }
    edit.Begin("test", node);
    edit.TurnIntoConstant(node, *literal, {});
    edit.End();
  }
}

// All outputs of nodes that have several, or one output after the first of each such node.
std::vector<std::string> FurtherOutputs(const Graph& graph, std::mt19937* random,
                                        std::set<std::string>* ops) {
  std::vector<std::string> fetches;
  for (Node node : graph.nodes()) {
    int outputs = NumOutputs(node);
    if (outputs < 2) continue;
    ops->insert(node.op().str());
    int one = random ? 1 + static_cast<int>((*random)() % (outputs - 1)) : -1;
    for (int i = 0; i < outputs; ++i) {
      if (one < 0 || i == one) fetches.push_back((node.name() + ":" + llvm::Twine(i)).str());
    }
  }
  return fetches;
}

class FetchedOutputsTest : public testing::Test {
 protected:
  // Checks that the fetches still exist, with their dtypes.
  void Optimize(Module& module, const std::vector<std::string>& fetches,
                const proto::RewriterConfig& config) {
    std::map<std::string, DataType> types;
    for (const std::string& fetch : fetches)
      types[fetch] = TypeOfPort(module.main, llvm::cantFail(FindTensor(module.main, fetch)));
    OptimizeOptions options;
    options.fetches = fetches;
    options.config = config;
    options.config.set_min_graph_nodes(-1);
    options.evaluator = evaluator_.get();
    options.assumed_device = "/job:localhost/replica:0/task:0/device:CPU:0";
    options.on_refusal = [&](const Refusal& refusal) { kept_ += IsUnlikeTensorFlow(refusal); };
    auto result = PassManager().Run(module, options);
    ASSERT_TRUE(static_cast<bool>(result)) << TextOf(result.takeError());
    for (const auto& [fetch, type] : types) {
      auto port = FindTensorIfThere(module.main, fetch);
      ASSERT_TRUE(port) << fetch;
      EXPECT_EQ(TypeOfPort(module.main, *port), type) << fetch;
    }
  }

  ThreadPool pool_{1};
  std::unique_ptr<Evaluator> evaluator_ = MakeCpuEvaluator(pool_);
  int kept_ = 0;
};

TEST_F(FetchedOutputsTest, StayInGraphsOfAllOps) {
  std::set<std::string> ops;
  std::mt19937 random(20261129);
  const proto::RewriterConfig configs[] = {
      {}, AllOn(proto::RewriterConfig::ON), AllOn(proto::RewriterConfig::AGGRESSIVE)};
  for (const std::string& name : llvm::cantFail(ListDirectory("testdata/ops"))) {
    std::string folder = "testdata/ops/" + name;
    if (!IsCaseFolder(folder)) continue;
    SCOPED_TRACE(folder);
    Case values = llvm::cantFail(LoadCase(folder));
    if (!llvm::StringRef(values.graph).ends_with(".pb")) continue;
    if (FurtherOutputs(Load(values.graph)->main, nullptr, &ops).empty()) continue;
    for (const proto::RewriterConfig& config : configs) {
      for (int variant = 0; variant < 4; ++variant) {
        auto module = Load(values.graph);
        if (variant % 2 == 1) MakeConstant(*module, values);
        std::mt19937* chosen = variant >= 2 ? &random : nullptr;
        std::set<std::string> again;
        Optimize(*module, FurtherOutputs(module->main, chosen, &again), config);
      }
    }
  }
  EXPECT_GT(ops.size(), 40u);
  EXPECT_GT(kept_, 0);
}

// A rule that a plugin may contain: any node becomes an Identity.
Verdict BecomeIdentity(RuleContext& rule, const Node& node) {
  rule.edit.SetOp(node, "Identity");
  rule.edit.RemoveAttr(node, "N");
  return rule.Done();
}
Verdict Vanish(RuleContext& rule, const Node& node) {
  rule.edit.RemoveNode(node);
  return rule.Done();
}

TEST_F(FetchedOutputsTest, AreDemandedAfterEachPass) {
  auto error_of = [&](Verdict (*apply)(RuleContext&, const Node&)) {
    auto file = FileBytes::FromString("%x = Placeholder {dtype=float}\n%m = Merge(%x)\n", "m.gtxt");
    std::unique_ptr<Module> module = std::move(ReadGraphText(*file)[0].module);
    PassRegistry registry = PassRegistry::Get();
    llvm::cantFail(registry.Add(Rule{.optimizer = "debug_stripper",
                                     .name = "lossy",
                                     .ops = {"Merge"},
                                     .help = "",
                                     .apply = apply}));
    OptimizeOptions options;
    options.fetches = {"m", "m:1"};
    options.passes = {"debug_stripper"};
    options.registry = &registry;
    auto result = PassManager().Run(*module, options);
    return result ? "" : TextOf(result.takeError());
  };
  EXPECT_EQ(
      error_of(BecomeIdentity),
      "pass 'debug_stripper': rule 'lossy': the fetch 'm:1' is lost: 'm' is now Identity, with 1 "
      "output");
  EXPECT_EQ(error_of(Vanish),
            "pass 'debug_stripper': rule 'lossy' at 'm' removed 'm', which is fetched");
}

}  // namespace
}  // namespace grapnel
