#include "lib/serve/work/debug_table.h"

#include <gtest/gtest.h>

#include "lib/serve/routes/router.h"
#include "llvm/Support/FileSystem.h"
#include "tests/serve/test_pages.h"

namespace grapnel {
namespace {

constexpr const char* kCase =
    R"({"feeds": [{"tensor": "x:0", "kind": "case"}], "fetches": ["Identity:0"]})";
constexpr const char* kEndless = R"({"feeds": [], "fetches": ["exit:0"]})";

// The test router, with requests like the page's.
class DebugTableTest : public testing::Test {
 protected:
  WebAnswer Ask(const char* method, const std::string& path, const std::string& body = "") {
    return router_->Answer(
        {method, "/api/" + path, "127.0.0.1:4000", "http://127.0.0.1:4000", "secret", body});
  }
  llvm::json::Object Json(const WebAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    auto value = llvm::json::parse(answer.body);
    if (value) return std::move(*value->getAsObject());
    ADD_FAILURE() << TextOf(value.takeError()) << answer.body;
    return {};
  }
  std::string Start(const std::string& page, const std::string& request) {
    return std::to_string(
        Json(Ask("POST", page + "/debug-run", request)).getInteger("session").value_or(0));
  }
  llvm::json::Object Status(const std::string& session, const std::string& page = "0") {
    return Json(Ask("GET", page + "/debug-run/" + session));
  }
  std::string State(const std::string& session, const std::string& page = "0") {
    return Status(session, page).getString("state").value_or("").str();
  }
  // Waits until it stops, or is over.
  llvm::json::Object Settled(const std::string& session, const std::string& page = "0") {
    for (;;) {
      llvm::json::Object status = Status(session, page);
      if (status.getString("state") == "stopped" || status.getString("state") == "over")
        return status;
      std::this_thread::yield();
    }
  }
  // "before Softmax", from the stop after a command.
  std::string After(const std::string& session, const std::string& line) {
    Json(Ask("POST", "0/debug-command/" + session, line));
    return Where(Settled(session));
  }
  static std::string Where(const llvm::json::Object& status) {
    const llvm::json::Object* at = status.getObject("at");
    if (!at) return status.getString("why").value_or("").str();
    const llvm::json::Object* stop = at->getObject("stop");
    const llvm::json::Object* node = stop->getObject("node");
    std::string phase = stop->getBoolean("after").value_or(false) ? "after " : "before ";
    return node ? phase + node->getString("name")->str() : stop->getString("why")->str();
  }
  std::string Value(const std::string& session, const std::string& request) {
    return Ask("POST", "0/debug-value/" + session, request).body;
  }
  std::unique_ptr<Router> router_ = MakeTestRouter();
};

TEST_F(DebugTableTest, StepsAndComesToItsEnd) {
  std::string session = Start("0", kCase);
  std::string first = Where(Settled(session));
  EXPECT_EQ(first.substr(0, 7), "before ");
  std::string second = After(session, "next");
  EXPECT_NE(first, second);
  EXPECT_EQ(After(session, "back"), first);
  EXPECT_EQ(After(session, "continue"), "ended");
  llvm::json::Object status = Status(session);
  const llvm::json::Array* fetched = status.getObject("at")->getObject("stop")->getArray("fetched");
  EXPECT_EQ((*fetched)[0].getAsObject()->getString("name"), "Identity:0");
  EXPECT_NE(Value(session, R"({"of": "fetch", "index": 0})").find("array("), std::string::npos);
}

TEST_F(DebugTableTest, ValuesAreTextNumbersPictureAndFile) {
  std::string session = Start("0", kCase);
  Settled(session);
  EXPECT_EQ(After(session, "break op:RealDiv"), Where(Status(session)));
  EXPECT_EQ(After(session, "continue"), "before truediv");
  std::string value = Value(session, R"({"of": "input", "index": 1, "precision": 2})");
  for (const char* word : {"array(", "\"statistics\"", "data:image/png;base64,iVBOR",
                           "linearGradient", "\"dtype\":\"float32\""})
    EXPECT_NE(value.find(word), std::string::npos) << word << value;
  EXPECT_NE(Value(session, R"({"expression": "x:0 * 2", "slice": "0"})").find("array("),
            std::string::npos);
  EXPECT_EQ(Value(session, R"({"of": "output", "index": 0})"),
            "the stop has no output with index 0");
  EXPECT_EQ(Value(session, R"({"of": "input", "index": 70})"),
            "the stop has no input with index 70");
  EXPECT_EQ(Value(session, R"({"of": "what"})"), "the stop has no what with index 0");
  EXPECT_EQ(Value(session, "{}"), "the request names no tensor ('of') and no 'expression'");
  EXPECT_NE(Value(session, R"({"expression": "nowhere"})").find("'nowhere' not found"),
            std::string::npos);
  EXPECT_EQ(Ask("GET", "0/debug-npy/" + session + "/input/0").body.substr(1, 5), "NUMPY");
  EXPECT_EQ(Ask("GET", "0/debug-npy/" + session + "/fetch/0").status, 404);
}

TEST_F(DebugTableTest, CommandsSayWhatIsWrongAndTouchNoFiles) {
  std::string session = Start("0", kCase);
  std::string before = Where(Settled(session));
  for (const char* line :
       {"pt x:0 --save /tmp/grapnel_never.npy", "pt x:0 --image /tmp/grapnel_never.npy",
        "pt x:0 -w /tmp/grapnel_never.npy", "eval x:0 + 1 --save /tmp/grapnel_never.npy",
        "set x:0 = testdata/harmonic_mean/feed_0.npy", "break nowhere", "jump"}) {
    llvm::json::Object answer = Json(Ask("POST", "0/debug-command/" + session, line));
    EXPECT_TRUE(answer.getString("error").has_value()) << line;
  }
  EXPECT_FALSE(llvm::sys::fs::exists("/tmp/grapnel_never.npy"));
  EXPECT_EQ(Where(Settled(session)), before);
  Json(Ask("POST", "0/debug-command/" + session, "break has_nan"));
  llvm::json::Object status = Status(session);
  EXPECT_EQ(status.getObject("at")->getArray("breakpoints")->size(), 1u);
}

TEST_F(DebugTableTest, WhatCannotRunIsOverInWords) {
  auto why = [&](const std::string& request) {
    std::string session = Start("0", request);
    llvm::json::Object status = Settled(session);
    return Where(status);
  };
  EXPECT_NE(why(R"({"feeds": [], "fetches": ["nowhere"]})").find("nowhere"), std::string::npos);
  EXPECT_NE(why(R"({"feeds": [{"tensor": "x:0", "kind": "magic"}], "fetches": ["Identity:0"]})")
                .find("magic"),
            std::string::npos);
  EXPECT_NE(why(R"({"feeds": [{"tensor": "x:0", "kind": "case"}], "fetches": ["Identity:0"],
                    "breakpoints": ["nowhere"]})")
                .find("breakpoint nowhere: node 'nowhere' not found"),
            std::string::npos);
  for (const char* body : {"", "[]", R"({"feeds": [], "fetches": []})",
                           R"({"feeds": [], "fetches": ["x"], "breakpoints": [1]})",
                           R"({"feeds": [], "fetches": ["x"], "devices": "cpu:2"})"})
    EXPECT_EQ(Ask("POST", "0/debug-run", body).status, 400) << body;
  EXPECT_EQ(Ask("GET", "0/debug-run/99").status, 404);
  EXPECT_EQ(Ask("POST", "0/debug-command/99", "next").status, 400);
  std::string session = Start("0", kCase);
  EXPECT_EQ(Ask("GET", "1/debug-run/" + session).status, 404) << "it is of another graph";
}

TEST_F(DebugTableTest, ARunThatGoesOnIsPausedAndEnded) {
  std::string session = Start("2", kEndless);
  Settled(session, "2");
  Json(Ask("POST", "2/debug-command/" + session, "continue"));
  EXPECT_EQ(Ask("POST", "2/debug-command/" + session, "next").body,
            "the run is not at a stop: pause it first");
  EXPECT_EQ(Ask("POST", "2/debug-value/" + session, R"({"of": "input"})").status, 400);
  Json(Ask("POST", "2/debug-pause/" + session));
  EXPECT_EQ(Settled(session, "2").getString("state"), "stopped");
  Json(Ask("POST", "2/debug-command/" + session, "continue"));
  Json(Ask("POST", "2/debug-end/" + session));
  llvm::json::Object over = Settled(session, "2");
  EXPECT_EQ(over.getString("state"), "over");
  EXPECT_EQ(over.getString("why"), "it was ended");
  EXPECT_EQ(Ask("POST", "2/debug-command/" + session, "next").body,
            "the session is over: it was ended");
  Settled(Start("2", kEndless), "2");
  std::string going = Start("2", kEndless);  // the server ends while it runs
  Settled(going, "2");
  Json(Ask("POST", "2/debug-command/" + going, "continue"));
}

TEST_F(DebugTableTest, TheOneThatNobodyAskedForLongestIsForgotten) {
  std::vector<std::string> sessions;
  for (size_t i = 0; i < DebugTable::kMostSessions; ++i) {
    sessions.push_back(Start("0", kCase));
    Settled(sessions.back());
  }
  Status(sessions[0]);
  Settled(Start("0", kCase));
  EXPECT_EQ(State(sessions[0]), "stopped");
  EXPECT_EQ(Ask("GET", "0/debug-run/" + sessions[1]).body,
            "there is no session 2: at most 4 are kept");
}

TEST_F(DebugTableTest, SeveralAskAtOnce) {
  std::string session = Start("0", kCase);
  Settled(session);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k) {
        Ask("POST", "0/debug-value/" + session, R"({"of": "input", "index": 0})");
        Ask("POST", "0/debug-command/" + session, i == 0 ? "next" : i == 1 ? "back" : "where");
        Ask("GET", "0/debug-run/" + session);
        if (i == 3) Ask("POST", "0/debug-pause/" + session);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Settled(session).getString("state"), "stopped");
}

TEST(DebugTable, EndsWhatNobodyAsksFor) {
  DebugTable table(std::chrono::milliseconds(40));
  auto opened = std::make_shared<const OpenedGraph>(
      llvm::cantFail(OpenedGraph::Open("tests/serve/inputs/long_loop.gtxt")));
  auto find = [](uint64_t) -> Expected<std::shared_ptr<const FileBytes>> {
    return MakeError("no such file");
  };
  llvm::cantFail(table.Start(opened, kEndless, find));
  std::shared_ptr<DebugSession> session = llvm::cantFail(table.Find(1, *opened));
  while (!session->is_over()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_NE(session->StatusJson().find("its page stopped asking for it"), std::string::npos);
}

}  // namespace
}  // namespace grapnel
