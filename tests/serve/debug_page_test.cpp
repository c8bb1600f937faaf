#include <gtest/gtest.h>

#include "lib/render/engine/engine.h"
#include "lib/serve/routes/html_file.h"
#include "lib/serve/routes/router.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "tests/tfdbg/debug_writer.h"

namespace grapnel {
namespace {

class DebugServer {
 public:
  explicit DebugServer(const std::string& path) {
    llvm::cantFail(pages_->AddPath(path));
    router_ = std::make_unique<Router>(pages_, "secret");
  }
  int Status(const std::string& path) { return Get(path).status; }
  llvm::json::Value Json(const std::string& path) {
    WebAnswer answer = Get(path);
    EXPECT_EQ(answer.status, 200) << path << ": " << answer.body;
    auto value = llvm::json::parse(answer.body);
    if (value) return std::move(*value);
    ADD_FAILURE() << path << ": " << llvm::toString(value.takeError());
    return nullptr;
  }
  // Returns what the page makes of the table of a node.
  llvm::json::Value Node(int body, int node) {
    std::string path = "node/" + std::to_string(body) + "/" + std::to_string(node);
    auto text = CallScript("for_tests.js", "tableNode",
                           {llvm::encodeBase64(Get(path).body), std::to_string(node)});
    if (text) return llvm::cantFail(llvm::json::parse(*text));
    ADD_FAILURE() << path << ": " << llvm::toString(text.takeError());
    return llvm::json::Object();
  }
  PageSet& pages() { return *pages_; }

 private:
  WebAnswer Get(const std::string& path) {
    return router_->Answer({"GET", "/api/0/" + path, "127.0.0.1:4000", "", "secret"});
  }
  std::shared_ptr<PageSet> pages_ = std::make_shared<PageSet>();
  std::unique_ptr<Router> router_;
};

std::string Text(const llvm::json::Value& value) { return llvm::formatv("{0}", value).str(); }

TEST(DebugPage, HasTheDocumentsOfADebuggerAndOfAGraph) {
  DebugServer server("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  EXPECT_EQ(*server.Json("debug").getAsObject()->getInteger("alerts"), 80);
  EXPECT_EQ(server.Json("model").getAsObject()->getArray("bodies")->size(), 5u);
  EXPECT_EQ(server.Json("executions/0").getAsObject()->getArray("executions")->size(), 72u);
  EXPECT_EQ(server.Json("sources").getAsArray()->size(), 48u);
  for (const char* path : {"trace/42", "execution/72", "source/48", "trace/x", "execution", "none"})
    EXPECT_EQ(server.Status(path), 404) << path;
}

TEST(DebugPage, CardHasInputsOutputsReadersAndStack) {
  DebugServer server("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  llvm::json::Value document = server.Json("trace/11");
  const llvm::json::Object& card = *document.getAsObject();
  const llvm::json::Object& input = *(*card.getArray("inputs"))[0].getAsObject();
  EXPECT_EQ(*input.getString("made_by"), "Softmax:0");
  EXPECT_EQ(*input.getString("card"), "trace/9") << "through the function's argument";
  EXPECT_EQ(*(*input.getArray("inputs"))[0].getAsObject()->getString("tensor"), "add_1:0");
  const llvm::json::Object& reader = *(*card.getArray("readers"))[0].getAsObject();
  EXPECT_EQ(*reader.getString("tensor"), "mul:0");
  EXPECT_EQ(*(*reader.getArray("readers"))[0].getAsObject()->getString("tensor"), "Mean:0");
  EXPECT_EQ(*card.getInteger("records"), 3);
  EXPECT_EQ(*card.getString("after"), "trace/25");
  EXPECT_EQ(Text(*card.get("place")), "[3,3]");
  EXPECT_EQ(card.getArray("stack")->size(), 19u);
}

TEST(DebugPage, ExecutionCardTellsWhatIsInside) {
  DebugServer server("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  llvm::json::Value document = server.Json("execution/22");
  const llvm::json::Object& card = *document.getAsObject();
  EXPECT_EQ(*card.getObject("inside")->getString("first_bad"), "trace/11");
  EXPECT_EQ(*(*card.getArray("inputs"))[0].getAsObject()->getString("tensor"), "probs:0");
  EXPECT_EQ(card.getArray("outputs")->size(), 4u);
}

TEST(DebugPage, NodesAreMarkedByHealth) {
  DebugServer server("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  llvm::json::Value model = server.Json("model");
  EXPECT_EQ(Text(*model.getAsObject()->get("marked_counts")), "[1,19,35,0]");
  llvm::json::Value log = server.Node(3, 3);
  EXPECT_EQ(*log.getAsObject()->getInteger("mark"), 0) << "the first cause";
  std::string text = Text(log);
  for (const char* words : {"Softmax:0 of model: float 2-D, 160 elements: zero x12", "\"trace/11\"",
                            "gen_nan_mlp.py:21 in loss_fn", "tf.math.log(probs)"})
    EXPECT_NE(text.find(words), std::string::npos) << words;
  std::string call = Text(server.Node(0, 22));
  for (const char* words : {"Output 0: float[], 1 element: NaN x1", "Output 3: ", "Input 0: "})
    EXPECT_NE(call.find(words), std::string::npos) << words;
  llvm::json::Value probs = server.Node(3, 0);
  EXPECT_EQ(probs.getAsObject()->get("mark"), nullptr) << "an argument that was not recorded";
}

TEST(DebugPage, AFileHoldsTheCardsOfCausesHoweverLateTheyAre) {
  TestDebugWriter writer("debug_late_cause");
  for (int i = 0; i < 2998; ++i)
    writer.Execution("Mul", 1 + i, {i}, i + 1, proto::CURT_HEALTH, {-1, 0});
  writer.Execution("Log", 3000, {2998}, 2999, proto::CURT_HEALTH, {-1, 1});
  writer.Write();
  PageSet pages;
  llvm::cantFail(pages.AddPath(writer.path()));
  std::string html;
  llvm::raw_string_ostream os(html);
  llvm::cantFail(WriteHtmlFile(pages, "t", /*threads=*/0, os));
  for (const char* there : {"0", "7", "11"})
    EXPECT_NE(html.find("id=\"data 0/cards/execution/" + std::string(there) + "\""),
              std::string::npos)
        << there;
  EXPECT_EQ(html.find("id=\"data 0/cards/execution/9\""), std::string::npos);
}

// Every document of every folder, including broken ones, served and in a file.
TEST(DebugPage, AnyFolderHasAllItsDocuments) {
  std::error_code error;
  int folders = 0;
  for (llvm::sys::fs::directory_iterator at("testdata/tfdbg", error), end; at != end && !error;
       at.increment(error)) {
    if (!llvm::sys::fs::is_directory(at->path())) continue;
    ++folders;
    DebugServer server(at->path());
    auto story = server.Json("debug");
    for (const char* count : {"trace", "execution"})
      for (int i = 0; i < *story.getAsObject()->getInteger(count + std::string("s")); ++i)
        server.Json(count + ("/" + std::to_string(i)));
    for (size_t i = 0; i < server.Json("sources").getAsArray()->size(); ++i)
      server.Json("source/" + std::to_string(i));
    std::string html;
    llvm::raw_string_ostream os(html);
    llvm::cantFail(WriteHtmlFile(server.pages(), "t", /*threads=*/0, os));
    EXPECT_NE(html.find("id=\"data 0/nodes/1/0\""), std::string::npos) << at->path();
  }
  EXPECT_GE(folders, 11);
}

}  // namespace
}  // namespace grapnel
