#include "lib/serve/pages/passes_json.h"

#include <gtest/gtest.h>

#include "lib/serve/routes/router.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

constexpr const char* kHost = "127.0.0.1:4000";

class PassesTest : public testing::Test {
 protected:
  void Open(const char* path) {
    auto pages = std::make_shared<PageSet>();
    Error error = pages->AddPath(path);
    ASSERT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
    pages_ = pages;
    router_ = std::make_unique<Router>(pages, "secret");
  }
  WebAnswer Post(const std::string& path, const std::string& body) {
    return router_->Answer({"POST", path, kHost, "http://127.0.0.1:4000", "secret", body});
  }
  int StatusOf(const std::string& path) {
    return router_->Answer({"GET", path, kHost, "", "secret"}).status;
  }
  llvm::json::Object Get(const std::string& path) {
    WebAnswer answer = router_->Answer({"GET", path, kHost, "", "secret"});
    EXPECT_EQ(answer.status, 200) << path << ": " << answer.body;
    auto value = llvm::json::parse(answer.body);
    if (!value || !value->getAsObject()) {
      ADD_FAILURE() << path << ": " << answer.body;
      llvm::consumeError(value.takeError());
      return {};
    }
    return *value->getAsObject();
  }
  // The name of a node of a page.
  std::string NameOf(size_t page, const llvm::json::Value& body, const llvm::json::Value& node) {
    std::shared_ptr<Page> shown = pages_->at(page);
    const GraphPage& drawing = *llvm::cantFail(shown->Drawing());
    return drawing.graph(*body.getAsInteger()).node(*node.getAsInteger()).name().str();
  }
  std::shared_ptr<PageSet> pages_;
  std::unique_ptr<Router> router_;
};

TEST_F(PassesTest, RunAddsItsStages) {
  Open("testdata/harmonic_mean");
  WebAnswer answer = Post("/api/0/passes", "{}");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.body, "{\"entry\":1}");
  llvm::json::Object table = Get("/api/1/passes");
  const llvm::json::Array& stages = *table.getArray("stages");
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[1].getAsObject()->getString("title"), "after model_pruner");
  EXPECT_EQ(stages[1].getAsObject()->getInteger("removed"), 2);
  EXPECT_GT(table.getInteger("near_miss_count"), 0);
  EXPECT_EQ(pages_->size(), 4u);
}

TEST_F(PassesTest, AnswersWhyANodeIsNotRewritten) {
  Open("testdata/harmonic_mean");
  WebAnswer answer = Post("/api/0/why_not", R"({"node": "Identity", "onednn": "on"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  auto value = llvm::json::parse(answer.body);
  ASSERT_TRUE(static_cast<bool>(value));
  const llvm::json::Array& nodes = *value->getAsObject()->getArray("nodes");
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].getAsObject()->getString("node"), "Identity");
  EXPECT_EQ(nodes[0].getAsObject()->getString("became"), "unchanged");
  EXPECT_FALSE(nodes[0].getAsObject()->getArray("closest")->empty());
  EXPECT_NE(Post("/api/0/why_not", R"({"node": ""})").status, 200);
  EXPECT_NE(Post("/api/0/why_not", R"({"node": "Identita"})").body.find("did you mean"),
            std::string::npos);
}

TEST_F(PassesTest, RewritesNameNodesOfTheirPage) {
  Open("testdata/harmonic_mean");
  ASSERT_EQ(Post("/api/0/passes", "{}").status, 200);
  llvm::json::Object told = Get("/api/2/rewrites");
  const llvm::json::Object& first = *told.getArray("rewrites")->front().getAsObject();
  EXPECT_EQ(first.getString("why"), "removes a node that no fetch depends on");
  const llvm::json::Array& removed = *first.getArray("removed")->front().getAsArray();
  EXPECT_EQ(removed[0].getAsString(), "Min");
  EXPECT_EQ(NameOf(2, removed[1], removed[2]), "Min");
}

TEST_F(PassesTest, FetchesAndDevicesAreTaken) {
  Open("testdata/harmonic_mean");
  ASSERT_EQ(Post("/api/0/passes", R"({"fetch": "Min", "device": "/device:CPU:0"})").status, 200);
  std::string models = router_->Answer({"GET", "/api/models", kHost, "", "secret"}).body;
  auto first = Get("/api/2/rewrites");
  EXPECT_EQ(models.find("Min"), std::string::npos);
  for (const llvm::json::Value& rewrite : *first.getArray("rewrites"))
    EXPECT_NE(rewrite.getAsObject()->getString("node"), "Min") << "it is fetched";
}

TEST_F(PassesTest, PassesConfigAndLimitAreTaken) {
  Open("testdata/harmonic_mean");
  auto titles = [&](const std::string& request) {
    WebAnswer answer = Post("/api/0/passes", request);
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::vector<std::string> titles;
    if (answer.status != 200) return titles;
    std::string entry = answer.body.substr(9, answer.body.size() - 10);
    llvm::json::Object table = Get("/api/" + entry + "/passes");
    for (const llvm::json::Value& stage : *table.getArray("stages"))
      titles.push_back(stage.getAsObject()->getString("title")->str());
    return titles;
  };
  std::vector<std::string> folding = {"before graph_optimization", "after constant_folding"};
  std::vector<std::string> pruning = {"before graph_optimization", "after model_pruner"};
  EXPECT_EQ(titles(R"({"passes": "constant_folding"})"), folding);
  EXPECT_EQ(
      titles(
          R"({"rewriter_config": "min_graph_nodes: -1 disable_model_pruning: true common_subgraph_elimination: OFF"})"),
      folding);
  EXPECT_EQ(titles(R"({"limit": 1})"), pruning);
  EXPECT_EQ(titles(R"({"limit": "1", "passes": "", "rewriter_config": "", "signature": ""})"),
            pruning);
}

TEST_F(PassesTest, WhatIsWrongWithThemIsSaid) {
  Open("testdata/harmonic_mean");
  auto error = [&](const char* request) {
    WebAnswer answer = Post("/api/0/passes", request);
    EXPECT_EQ(answer.status, 400) << request;
    return answer.body;
  };
  auto expect = [&](const char* request, const char* words) {
    EXPECT_NE(error(request).find(words), std::string::npos) << request << error(request);
  };
  expect(R"({"passes": "foldd"})", "foldd");
  expect(R"({"signature": "nothere"})", "nothere");
  expect(R"({"limit": "few"})", "limit: expected a whole number, 0 or more, not 'few'");
  expect(R"({"limit": -2})", "limit: ");
  expect(R"({"rewriter_config": "nothing: 1"})", "a RewriterConfig as text was expected");
  // A file name on the command line is plain text here, and so are the placer's devices.
  expect(R"({"rewriter_config": "/etc/hostname"})", "a RewriterConfig as text was expected");
  expect(R"({"passes": "placer", "rewriter_config": "custom_optimizers { name: 'placer' )"
         R"(parameter_map { key: 'devices' value { s: '/etc/hostname' } } }"})",
         "'/etc/hostname'");
  EXPECT_EQ(pages_->size(), 1u);
}

TEST_F(PassesTest, ErrorsAreForReaders) {
  Open("testdata/harmonic_mean");
  WebAnswer answer = Post("/api/0/passes", R"({"fetch": "nothere"})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("nothere"), std::string::npos);
  EXPECT_EQ(Post("/api/0/passes", "[").status, 400);
  EXPECT_EQ(Post("/api/0/passes", "[]").status, 400);
  EXPECT_EQ(Post("/api/7/passes", "{}").status, 404);
  EXPECT_EQ(Post("/api/x/passes", "{}").status, 404);
  for (const char* path : {"/api/0/passes", "/api/0/rewrites", "/api/0/match", "/api/0/a/model"})
    EXPECT_EQ(StatusOf(path), 404) << path;
  EXPECT_EQ(pages_->size(), 1u);
}

TEST_F(PassesTest, StagesAreComparedSideBySide) {
  Open("testdata/harmonic_mean");
  ASSERT_EQ(Post("/api/0/passes", "{}").status, 200);
  EXPECT_EQ(Get("/api/2/a/model").getString("title"), "A");
  EXPECT_EQ(StatusOf("/api/1/a/model"), 404) << "where it begins";
  EXPECT_EQ(StatusOf("/api/2/match"), 200);
}

TEST_F(PassesTest, AnyTwoAreCompared) {
  Open("testdata/harmonic_mean");
  ASSERT_FALSE(static_cast<bool>(pages_->AddPath("testdata/collatz")));
  EXPECT_EQ(Post("/api/0/diff", R"({"with": 1})").body, "{\"entry\":2}");
  EXPECT_EQ(Get("/api/2/b/model").getString("title"), "B");
  for (const char* body : {R"({"with": 0})", R"({"with": 2})", R"({"with": 9})", R"({"with": -1})",
                           R"({"with": "1"})", "{}", ""})
    EXPECT_EQ(Post("/api/0/diff", body).status, 400) << body;
}

}  // namespace
}  // namespace grapnel
