// Messages of jobs use the caller's names for its settings.
#include "gtest/gtest.h"
#include "lib/job/optimize.h"
#include "lib/job/place.h"
#include "lib/job/run.h"
#include "lib/support/file.h"

namespace grapnel {
namespace {

OpenedGraph Open(const char* text, const std::string& name) {
  std::string path = testing::TempDir() + "/" + name;
  llvm::cantFail(WriteFile(path, text));
  return llvm::cantFail(OpenedGraph::Open(path));
}

template <typename T>
std::string ErrorOf(Expected<T> made) {
  return made ? "" : TextOf(made.takeError());
}

// Whether `part` is in `text`.
testing::AssertionResult Says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

TEST(JobWords, OneOfSeveralGraphs) {
  std::string path = testing::TempDir() + "/two.gtxt";
  llvm::cantFail(WriteFile(path, "--- sum\n%x = Const 1\n--- product\n%y = Const 2\n"));
  EXPECT_TRUE(Says(ErrorOf(OpenedGraph::Open(path)), "name one by its title: 'sum', 'product'"));
  EXPECT_TRUE(Says(ErrorOf(OpenedGraph::Open(path, "", "--graph")), "name one by --graph: 'sum'"));
}

TEST(JobWords, WhatARunIsTold) {
  OpenedGraph empty = Open("%x = Const 1\n", "constant.gtxt");
  EXPECT_TRUE(Says(ErrorOf(RunJob::Make(empty, {})), "nothing to fetch: name tensors as fetches"));
  RunRequest request;
  request.words.fetches = "by --fetch";
  EXPECT_TRUE(Says(ErrorOf(RunJob::Make(empty, request)), "name tensors by --fetch"));
  OpenedGraph opened = Open("%x = Const 1\n%y = Neg(%x)\n", "run.gtxt");

  request.fetches = {"y"};
  request.devices = "tpu:1";
  auto prepare = [&] { return TextOf(llvm::cantFail(RunJob::Make(opened, request)).Prepare()); };
  EXPECT_TRUE(Says(prepare(),
                   "the list of devices: '/job:localhost/replica:0/task:0/device:TPU:0' "
                   "is neither a CPU nor a GPU, and only these can be simulated"));
  request.words.placer.devices = "'Devices'";
  EXPECT_TRUE(Says(prepare(), "'Devices': '/job"));
}

TEST(JobWords, WhatAPlacerIsTold) {
  OpenedGraph opened = Open("%x = Placeholder {dtype=float}\n%s = Sin(%x) @gpu:0\n", "place.gtxt");
  PlaceRequest request;
  request.settings.devices = "cpu:1";
  request.settings.soft = false;
  auto advice = [&] {
    PlacedGraph placed = llvm::cantFail(PlaceGraph(opened, request.settings));
    return ExplainFailure(placed.context());
  };
  EXPECT_TRUE(Says(advice(), "add /device:GPU:0 to the list of devices"));
  EXPECT_TRUE(Says(advice(), "or place without hard placement: soft placement takes another"));
  request.settings.words = {"'Devices'", "'hard'", "--explain"};
  EXPECT_TRUE(Says(advice(), "add /device:GPU:0 to 'Devices'"));
  EXPECT_TRUE(Says(advice(), "or place without 'hard': soft placement takes another"));
}

// The pass is told by parameters.
TEST(JobWords, WhatThePlacerPassIsTold) {
  OpenedGraph opened = Open("%x = Placeholder {dtype=float}\n%s = Sin(%x) @gpu:0\n", "pass.gtxt");
  OptimizeRequest request;
  request.options.passes = {"placer"};
  request.rewriter_config =
      "custom_optimizers { name: 'placer' parameter_map { key: 'devices' value { s: 'cpu:1' } } "
      "parameter_map { key: 'soft' value { b: false } } }";
  Optimized done = llvm::cantFail(Optimize(opened, request));
  ASSERT_TRUE(done.failure);
  EXPECT_TRUE(Says(*done.failure, "to the placer's 'devices'"));
  EXPECT_TRUE(Says(*done.failure, "or place without 'soft: false'"));
}

TEST(JobWords, ARewriterConfigThatIsText) {
  OpenedGraph opened = Open("%x = Const 1\n", "config.gtxt");
  OptimizeRequest request;
  request.rewriter_config = "nonsense: 1";
  EXPECT_TRUE(Says(ErrorOf(Optimize(opened, request)), "RewriterConfig:1:9: "));
  request.config_name = "--rewriter-config";
  EXPECT_TRUE(Says(ErrorOf(Optimize(opened, request)), "--rewriter-config:1:9: "));
}

}  // namespace
}  // namespace grapnel
