#include "lib/serve/work/log_work.h"

#include <gtest/gtest.h>

#include "lib/serve/routes/router.h"
#include "lib/support/file.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

constexpr const char* kHost = "127.0.0.1:4000";
const std::string kLogs = "testdata/placement_logs/";

class LogTest : public testing::Test {
 protected:
  WebAnswer Compare(const std::string& graph, const std::string& request, const std::string& log) {
    auto pages = std::make_shared<PageSet>();
    llvm::cantFail(pages->AddPath(graph));
    Router router(std::move(pages), "secret");
    return router.Answer(
        {"POST", "/api/0/log", kHost, "http://127.0.0.1:4000", "secret", request + "\n" + log});
  }
  std::string LogOf(const std::string& name) {
    return llvm::cantFail(FileBytes::Open(kLogs + name + "/placement.log"))->bytes().str();
  }
  llvm::json::Object Parse(const WebAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    return std::move(*llvm::cantFail(llvm::json::parse(answer.body)).getAsObject());
  }
};

// Each row has the three devices; the graph is placed on the log's devices.
TEST_F(LogTest, ThreeDevicesANode) {
  llvm::json::Object said =
      Parse(Compare(kLogs + "trace_tower_2/tower_23.pb", R"({"name": "a.log", "devices": ""})",
                    LogOf("trace_tower_2")));
  EXPECT_EQ(said.getString("devices"), "cpu:0, cpu:1, cpu:2");
  const llvm::json::Object& graph = *said.getArray("graphs")->front().getAsObject();
  EXPECT_EQ(graph.getInteger("elsewhere"), 0);
  for (const llvm::json::Value& row : *graph.getArray("rows")) {
    EXPECT_EQ(row.getAsObject()->getString("placed"), row.getAsObject()->getString("logged"));
    EXPECT_TRUE(row.getAsObject()->getInteger("line").has_value());
  }
}

TEST_F(LogTest, RowsThatDifferComeFirst) {
  llvm::json::Object said =
      Parse(Compare(kLogs + "rewritten_mlp/graph.pb", R"({"name": "a.log", "devices": "cpu:1"})",
                    LogOf("rewritten_mlp")));
  const llvm::json::Object& graph = *said.getArray("graphs")->front().getAsObject();
  EXPECT_GT(graph.getInteger("explained"), 0);
  bool was_same = false;
  for (const llvm::json::Value& row : *graph.getArray("rows")) {
    bool is_same = !row.getAsObject()->getInteger("kind");
    EXPECT_TRUE(is_same || !was_same);
    EXPECT_TRUE(is_same || row.getAsObject()->getString("why"));
    was_same = is_same;
  }
}

TEST_F(LogTest, LinesThatCannotBeRead) {
  llvm::json::Object said = Parse(Compare(
      kLogs + "cut_by_text/graph.pb", R"({"name": "a.log", "devices": ""})", LogOf("cut_by_text")));
  ASSERT_EQ(said.getArray("problems")->size(), 1u);
  EXPECT_TRUE(said.getArray("problems")->front().getAsString()->contains("cannot be read"));
  EXPECT_GT(said.getArray("unreadable")->size(), 0u);
}

TEST_F(LogTest, Refusals) {
  const std::string graph = kLogs + "cut_by_text/graph.pb";
  WebAnswer answer = Compare(graph, R"({"name": "a.log", "devices": ""})", " \n");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body, "a.log is empty: it has no lines");
  EXPECT_EQ(Compare(graph, "{", "x\n").status, 400);
  EXPECT_EQ(Compare(graph, R"({"devices": "tape:x"})", "x\n").status, 400);
  llvm::json::Object said =
      Parse(Compare(graph, R"({"devices": ""})", std::string("\0\xff(\n", 4)));
  const llvm::json::Object& main = *said.getArray("graphs")->front().getAsObject();
  EXPECT_TRUE(main.getArray("rows")->empty());
}

}  // namespace
}  // namespace grapnel
