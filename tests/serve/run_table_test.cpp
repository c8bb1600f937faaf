#include "lib/serve/work/run_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "lib/io/value.h"
#include "lib/serve/pages/page_set.h"
#include "lib/serve/routes/router.h"
#include "lib/support/file.h"
#include "tests/serve/test_pages.h"

namespace grapnel {
namespace {

constexpr const char* kHost = "127.0.0.1:4000";
constexpr const char* kOrigin = "http://127.0.0.1:4000";

// The test router, with requests like the page's.
class RunTableTest : public testing::Test {
 protected:
  void SetUp() override { router_ = MakeTestRouter(); }
  WebAnswer Get(const std::string& path) {
    return router_->Answer({"GET", "/api/" + path, kHost, "", "secret"});
  }
  WebAnswer Post(const std::string& path, const std::string& body) {
    return router_->Answer({"POST", "/api/" + path, kHost, kOrigin, "secret", body});
  }
  // The number of a started run.
  std::string Start(const std::string& path, const std::string& request) {
    return std::to_string(Json(Post(path + "/run", request)).getInteger("run").value_or(0));
  }
  std::string StateOf(const std::string& run) {
    return Json(Get("0/run/" + run)).getString("state").value_or("").str();
  }
  llvm::json::Object Json(const WebAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    auto value = llvm::json::parse(answer.body);
    if (!value) {
      ADD_FAILURE() << TextOf(value.takeError());
      return {};
    }
    return std::move(*value->getAsObject());
  }
  // Its final status.
  llvm::json::Object Run(const std::string& model, const std::string& request) {
    llvm::json::Object started = Json(Post(model + "/run", request));
    number_ = std::to_string(started.getInteger("run").value_or(0));
    for (;;) {
      llvm::json::Object status = Json(Get(model + "/run/" + number_));
      if (status.getString("state") != "running" && status.getString("state") != "waiting")
        return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::unique_ptr<Router> router_;
  std::string number_;
};

std::string Request(const std::string& feed, const std::string& rest = "") {
  return R"({"feeds": [{"tensor": "x:0", )" + feed + R"(}], "fetches": ["Identity:0"])" + rest +
         "}";
}

TEST_F(RunTableTest, FormListsWhatGoesInAndComesOut) {
  llvm::json::Object form = Json(Get("0/run"));
  const llvm::json::Object* input = (*form.getArray("inputs"))[0].getAsObject();
  EXPECT_EQ(input->getString("tensor"), "x:0");
  EXPECT_EQ(input->getString("shape"), "3");
  EXPECT_EQ(input->getBoolean("case"), true);
  EXPECT_EQ((*form.getArray("fetches"))[0].getAsString(), "Identity:0");
}

TEST_F(RunTableTest, CaseIsCompared) {
  llvm::json::Object status = Run("0", Request(R"("kind": "case")"));
  EXPECT_EQ(status.getString("state"), "done");
  const llvm::json::Object* fetch = (*status.getArray("fetches"))[0].getAsObject();
  EXPECT_EQ(fetch->getString("compared"), "as the case expects");
  EXPECT_EQ(fetch->getString("dtype"), "float");
}

TEST_F(RunTableTest, TypedValueIsRunAndItsResultIsAFile) {
  Run("0", Request(R"("kind": "text", "text": "[1, 1, 1]")"));
  WebAnswer answer = Get("0/npy/" + number_ + "/0");
  auto literal = ReadNpyLiteral(FileBytes::FromString(answer.body, "answer"));
  ASSERT_TRUE(static_cast<bool>(literal)) << TextOf(literal.takeError());
  EXPECT_EQ(literal->AsDouble(0), 1);
  EXPECT_EQ(Get("0/npy/" + number_ + "/1").status, 404);
  EXPECT_EQ(Get("0/npy/99/0").status, 404);
}

TEST_F(RunTableTest, TapsTellTheFirstBadTensor) {
  llvm::json::Object status = Run("0", Request(R"("kind": "text", "text": "[1, 0, -2]")",
                                               R"(, "mode": "FULL_HEALTH", "taps": "*")"));
  const llvm::json::Object* bad = status.getObject("first_bad");
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->getString("text"), "truediv made +inf x1 of 3 because its input x:0 holds 1 zero");
  EXPECT_EQ(bad->getObject("node")->getString("op"), "RealDiv");
  llvm::json::Object boxes = Json(Get("0/run-boxes/" + number_));
  int64_t id = bad->getObject("node")->getInteger("id").value_or(-1);
  bool found = false;
  for (const llvm::json::Value& node :
       *(*boxes.getArray("bodies"))[0].getAsObject()->getArray("nodes")) {
    if ((*node.getAsArray())[0].getAsInteger() != id) continue;
    found = true;
    EXPECT_EQ((*node.getAsArray())[1].getAsInteger(), 0) << "the kind that glows";
  }
  EXPECT_TRUE(found);
  llvm::json::Object panel = Json(Get("0/run-node/" + number_ + "/0/" + std::to_string(id)));
  EXPECT_EQ((*panel.getArray("outputs"))[0].getAsObject()->getBoolean("bad"), true);
}

TEST_F(RunTableTest, AGlobSeesItsInputsToo) {
  llvm::json::Object status = Run("0", Request(R"("kind": "text", "text": "[1, 0, 4]")",
                                               R"(, "mode": "FULL_HEALTH", "taps": "truediv")"));
  EXPECT_EQ(status.getInteger("tensors"), 2) << "the feed and one output";
  EXPECT_TRUE(status.getObject("first_bad"));
}

TEST_F(RunTableTest, UploadsAreFedAndChecked) {
  std::string path = "testdata/harmonic_mean/feed_0.npy";
  std::string bytes = llvm::cantFail(FileBytes::Open(path))->bytes().str();
  llvm::json::Object kept = Json(Post("0/feed", bytes));
  EXPECT_EQ(kept.getString("type"), "float[3]");
  std::string number = std::to_string(kept.getInteger("file").value_or(0));
  EXPECT_EQ(Run("0", Request(R"("kind": "file", "file": )" + number)).getString("state"), "done");
  EXPECT_NE(Run("0", Request(R"("kind": "file", "file": 77)")).getString("error")->find("again"),
            llvm::StringRef::npos);
  EXPECT_EQ(Post("0/feed", "no numbers").status, 400);
  EXPECT_EQ(Post("0/feed", bytes.substr(0, bytes.size() - 1)).status, 400);
}

TEST_F(RunTableTest, WrongDtypeIsSaid) {
  std::string bytes = llvm::cantFail(FileBytes::Open("testdata/collatz/feed_0.npy"))->bytes().str();
  llvm::json::Object kept = Json(Post("0/feed", bytes));
  std::string number = std::to_string(kept.getInteger("file").value_or(0));
  llvm::json::Object status = Run("0", Request(R"("kind": "file", "file": )" + number));
  EXPECT_EQ(status.getString("state"), "failed");
  EXPECT_NE(status.getString("error")->find("holds int32, float was expected"),
            llvm::StringRef::npos);
}

TEST_F(RunTableTest, BadRequestsAreSaid) {
  for (const char* body :
       {"", "{", "[]", "{}", R"({"feeds": [], "fetches": []})", R"({"feeds": [], "fetches": [1]})",
        R"({"feeds": [7], "fetches": ["x"]})", R"({"feeds": [{}], "fetches": ["x"]})",
        R"({"feeds": [], "fetches": ["x"], "mode": "LOUD"})"})
    EXPECT_EQ(Post("0/run", body).status, 400) << body;
  EXPECT_EQ(Post("9/run", "{}").status, 404);
  EXPECT_EQ(Post("0/stop/5", "").status, 400);
  EXPECT_EQ(Post("0/stop/x", "").status, 404);
  EXPECT_EQ(Get("0/run/5").status, 404);
  EXPECT_EQ(Get("0/run-boxes/5").status, 404);
  llvm::json::Object status = Run("0", Request(R"("kind": "magic")"));
  EXPECT_EQ(
      status.getString("error"),
      "feed x:0: 'magic' is not a kind of value: expected case, file, text, zeros, ones or normal");
}

TEST_F(RunTableTest, ErrorsNameTheirNodes) {
  llvm::json::Object status =
      Run("0", R"({"feeds": [{"tensor": "Sum:0", "kind": "ones", "shape": "2,2"}],
                   "fetches": ["Identity:0", "x:0"]})");
  EXPECT_EQ(status.getString("state"), "failed");
  ASSERT_FALSE(status.getArray("named")->empty());
  EXPECT_EQ((*status.getArray("named"))[0].getAsObject()->getString("name"), "x");
}

constexpr const char* kEndless = R"({"feeds": [], "fetches": ["exit:0"]})";

TEST_F(RunTableTest, OneRunAtATimeAndItCanBeStopped) {
  std::string number = Start("2", kEndless), next = Start("0", Request(R"("kind": "case")")),
              after = Start("0", Request(R"("kind": "case")"));
  EXPECT_EQ(Get("2/run-boxes/" + number).status, 404) << "it is not over";
  while (StateOf(number) == "waiting") std::this_thread::yield();
  EXPECT_EQ(StateOf(number), "running");
  EXPECT_EQ(StateOf(next), "waiting");
  EXPECT_EQ(Json(Post("0/stop/" + after, "")).getString("state"), "stopped") << "it never began";
  EXPECT_EQ(Get("0/run-boxes/" + after).status, 200);
  EXPECT_EQ(Post("2/stop/" + number, "").status, 200);
  for (std::string state; state != "stopped"; state = StateOf(number))
    ASSERT_TRUE(state.empty() || state == "running") << state;
  for (std::string state; state != "done"; state = StateOf(next)) ASSERT_NE(state, "failed");
  Start("2", kEndless);  // the server ends while it runs
  Start("0", Request(R"("kind": "case")"));
}

TEST_F(RunTableTest, FewRunsWait) {
  std::string number = Start("2", kEndless);
  while (StateOf(number) == "waiting") std::this_thread::yield();
  for (size_t i = 0; i < RunTable::kMostWaiting; ++i) Start("0", Request(R"("kind": "case")"));
  WebAnswer answer = Post("0/run", Request(R"("kind": "case")"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body, "16 runs are already waiting: stop one, or wait until one has ended");
}

TEST_F(RunTableTest, TheOldestRunIsForgottenFirst) {
  Run("0", Request(R"("kind": "case")"));
  std::string first = number_;
  for (size_t i = 1; i < RunTable::kMostKept; ++i) Run("0", Request(R"("kind": "case")"));
  EXPECT_EQ(Get("0/run/" + first).status, 200);
  for (int i = 0; i < 2; ++i) Run("0", Request(R"("kind": "case")"));
  WebAnswer answer = Get("0/run/" + first);
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, "there is no run " + first + ": only the last runs are kept");
  EXPECT_EQ(Get("0/npy/" + number_ + "/0").status, 200);
}

TEST_F(RunTableTest, RunOfAnotherGraphColorsNothing) {
  Run("0", Request(R"("kind": "case")"));
  EXPECT_EQ(Get("1/run-boxes/" + number_).status, 404);
  EXPECT_EQ(Get("0/run-node/" + number_ + "/9/0").status, 404);
  EXPECT_EQ(Json(Get("0/run-node/" + number_ + "/0/4000000")).getArray("outputs")->size(), 0u);
}

// The partitions are other graphs, and all results refer to the graph that is shown.
TEST_F(RunTableTest, RunIsSpreadOverDevices) {
  for (const char* devices : {"cpu:1", "cpu:2"}) {
    std::string rest = R"(, "mode": "FULL_HEALTH", "taps": "*", "devices": ")";
    llvm::json::Object status = Run("0", Request(R"("kind": "case")", rest + devices + "\""));
    EXPECT_EQ(status.getString("state"), "done");
    const llvm::json::Object* fetch = (*status.getArray("fetches"))[0].getAsObject();
    EXPECT_EQ(fetch->getString("compared"), "as the case expects");
    llvm::json::Object boxes = Json(Get("0/run-boxes/" + number_));
    const llvm::json::Object& body = *(*boxes.getArray("bodies"))[0].getAsObject();
    EXPECT_EQ(body.getInteger("body"), 0);
    EXPECT_GT(body.getArray("nodes")->size(), 4u);
    llvm::json::Object bad =
        Run("0", Request(R"("kind": "text", "text": "[1, 0, -2]")", rest + devices + "\""));
    EXPECT_EQ(bad.getObject("first_bad")->getString("text"),
              "truediv made +inf x1 of 3 because its input x:0 holds 1 zero");
  }
}

TEST_F(RunTableTest, FunctionsOfASpreadRunAreTold) {
  auto pages = std::make_shared<PageSet>();
  llvm::cantFail(pages->AddPath("testdata/partitions/functions"));
  router_ = std::make_unique<Router>(std::move(pages), "secret");
  llvm::json::Object form = Json(Get("0/run"));
  llvm::json::Array feeds, fetches = *form.getArray("fetches");
  for (const llvm::json::Value& input : *form.getArray("inputs"))
    feeds.push_back(llvm::json::Object{{"tensor", *input.getAsObject()->getString("tensor")},
                                       {"kind", "case"}});
  llvm::json::Object request{{"feeds", std::move(feeds)},
                             {"fetches", std::move(fetches)},
                             {"mode", "FULL_HEALTH"},
                             {"devices", "cpu:3"}};
  llvm::json::Object status =
      Run("0", llvm::formatv("{0}", llvm::json::Value(std::move(request))).str());
  EXPECT_EQ(status.getString("state"), "done") << status.getString("error").value_or("").str();
  llvm::json::Object boxes = Json(Get("0/run-boxes/" + number_));
  EXPECT_GT(boxes.getArray("bodies")->size(), 1u) << "their nodes ran in the call's place";
}

TEST_F(RunTableTest, DevicesOfARunAreCpusOrGpusAndNoFile) {
  auto error = [&](const char* devices) {
    std::string rest = std::string(R"(, "devices": ")") + devices + "\"";
    llvm::json::Object status = Run("0", Request(R"("kind": "case")", rest));
    EXPECT_EQ(status.getString("state"), "failed");
    return status.getString("error").value_or("").str();
  };
  EXPECT_EQ(error("tpu:1"),
            "'Devices': '/job:localhost/replica:0/task:0/device:TPU:0' is neither a CPU nor a GPU, "
            "and only these can be simulated");
  EXPECT_NE(error("/etc/hostname").find("'/etc/hostname'"), std::string::npos);
}

TEST_F(RunTableTest, PlacementIsAnEntryAndTheSameOneOnce) {
  llvm::json::Object placed = Json(Post("0/place", R"({"devices": "cpu:2", "hard": false})"));
  EXPECT_EQ(placed.getInteger("entry"), 4);
  EXPECT_EQ((*placed.getArray("devices"))[0].getAsObject()->getInteger("nodes"), 11);
  EXPECT_NE(Get("4/node/0/0").body.find("Why it is there"), std::string::npos);
  EXPECT_EQ(Json(Post("0/place", R"({"devices": "cpu:2", "hard": false})")).getInteger("entry"), 4);
  EXPECT_EQ(Json(Post("0/place", R"({"devices": "cpu:3", "hard": false})")).getInteger("entry"), 5);
  EXPECT_EQ(Post("4/place", R"({"devices": "cpu:2"})").status, 404) << "a placement is not a file";
}

// TensorFlow places a copy of the graph in which calls are inlined.
TEST_F(RunTableTest, PlacementOfAGraphWithCallsIsTheSameEntryOnce) {
  std::string path = testing::TempDir() + "/call.gtxt";
  llvm::cantFail(WriteFile(path,
                           "fetch %y\n%x = Placeholder {dtype=float, shape=[2]}\n"
                           "%y = PartitionedCall(%x) {Tin=[float], Tout=[float], f=@f}\n"
                           "func @f(%a: float) -> (r: float) {\n  %r = Neg(%a)\n"
                           "  return %r\n}\n"));
  auto pages = std::make_shared<PageSet>();
  llvm::cantFail(pages->AddPath(path));
  router_->Replace(std::move(pages));
  const char* request = R"({"devices": "cpu:2", "hard": false})";
  std::optional<int64_t> entry = Json(Post("0/place", request)).getInteger("entry");
  ASSERT_TRUE(entry);
  EXPECT_EQ(Json(Post("0/place", request)).getInteger("entry"), entry);
}

// The options of `grapnel place`.
TEST_F(RunTableTest, PlacementTakesWhatTheCommandTakes) {
  llvm::json::Object placed =
      Json(Post("0/place", R"({"devices": "cpu:2", "default_device": "/device:CPU:1",
                               "kernels": "grapnel", "what_if": "cpu:3,hard"})"));
  EXPECT_EQ(placed.getString("title"),
            "harmonic_mean on cpu:2 (soft, default /device:CPU:1, grapnel's kernels)")
      << placed.getString("title").value_or("").str();
  EXPECT_EQ((*placed.getArray("devices"))[1].getAsObject()->getInteger("nodes"), 11);
  const llvm::json::Array* moves = placed.getArray("moves");
  ASSERT_TRUE(moves && !moves->empty());
  EXPECT_NE((*moves)[0].getAsString()->find(" to cpu:3 (hard"), llvm::StringRef::npos)
      << (*moves)[0].getAsString()->str();
  EXPECT_FALSE(placed.getArray("report")->empty());
  EXPECT_NE(Post("0/place", R"({"devices": "cpu:1", "kernels": "unknown"})").body.find("'unknown'"),
            std::string::npos);
  EXPECT_NE(Post("0/place", R"({"devices": "cpu:1", "what_if": "cpu:x"})").body.find("what if: "),
            std::string::npos);
}

// Advice uses the form's names instead of flags.
TEST_F(RunTableTest, PlacementThatFailsSaysWhatToChangeInTheForm) {
  std::string path = testing::TempDir() + "/on_gpu.gtxt";
  llvm::cantFail(WriteFile(path, "%x = Placeholder {dtype=float}\n%s = Sin(%x) @gpu:0\n"));
  auto pages = std::make_shared<PageSet>();
  llvm::cantFail(pages->AddPath(path));
  router_->Replace(std::move(pages));
  llvm::json::Object placed = Json(Post("0/place", R"({"devices": "cpu:1", "hard": true})"));
  std::string failure;
  ASSERT_TRUE(placed.getArray("failure"));
  for (const llvm::json::Value& line : *placed.getArray("failure"))
    failure += (line.getAsString()->ltrim() + " ").str();
  EXPECT_NE(failure.find("add /device:GPU:0 to 'Devices'"), std::string::npos) << failure;
  EXPECT_NE(failure.find("or place without 'hard': soft placement"), std::string::npos) << failure;
  EXPECT_EQ(failure.find("--"), std::string::npos) << failure;
}

TEST_F(RunTableTest, ATapThatIsNoPattern) {
  WebAnswer answer =
      Post("0/run", Request(R"("kind": "case")", R"(, "mode": "SHAPE", "taps": "a[")"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("taps: 'a[' is not a pattern"), std::string::npos) << answer.body;
}

TEST_F(RunTableTest, PlacementReadsNoFile) {
  WebAnswer answer = Post("0/place", R"({"devices": "testdata/harmonic_mean/case.json"})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("names of devices"), std::string::npos);
  for (const char* body : {"", "{}", "[1]", R"({"devices": ""})", R"({"devices": "cpu:0"})"})
    EXPECT_EQ(Post("0/place", body).status, 400) << body;
}

TEST_F(RunTableTest, ReadersComePageByPage) {
  WebAnswer all = Get("0/readers/0/0/0/0"), none = Get("0/readers/0/0/0/99");
  EXPECT_EQ(all.status, 200);
  EXPECT_EQ(none.status, 200);
  EXPECT_GT(all.body.size(), none.body.size());
  EXPECT_EQ(Get("0/readers/0/0/99/0").status, 404);
  EXPECT_EQ(Get("0/readers/0/4000000/0/0").status, 404);
}

}  // namespace
}  // namespace grapnel
