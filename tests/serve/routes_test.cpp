#include "lib/serve/routes/routes.h"

#include <gtest/gtest.h>

#include <set>

#include "lib/serve/routes/router.h"
#include "lib/serve/routes/tab.h"
#include "lib/serve/web/web_files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

namespace grapnel {
namespace {

constexpr const char* kHost = "127.0.0.1:4000";
constexpr const char* kOrigin = "http://127.0.0.1:4000";

// A path that matches a pattern: "0/b/scope/0".
std::string PathOf(const std::string& pattern) {
  std::string path = pattern;
  llvm::Regex words(R"(\{[a-z]+=([a-z]+)[a-z|]*\})"), number(R"(\{[a-z]+\})");
  while (words.match(path)) path = words.sub("\\1", path);
  while (number.match(path)) path = number.sub("0", path);
  return path;
}

const char* NameOf(Method method) { return method == Method::kGet ? "GET" : "POST"; }

class RoutesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto pages = std::make_shared<PageSet>();
    llvm::cantFail(pages->AddPath("testdata/collatz"));
    router_ = std::make_unique<Router>(std::move(pages), "secret");
  }
  WebAnswer Ask(const std::string& method, const std::string& path, size_t body_size = 0) {
    WebRequest request{method, "/api/" + path, kHost, kOrigin, "secret"};
    request.body_size = body_size;
    return router_->Answer(request);
  }
  std::unique_ptr<Router> router_;
};

TEST_F(RoutesTest, EveryRowIsReachedAndNoOtherAnswersForIt) {
  const RouteTable& table = RouteTable::All();
  ASSERT_GE(table.rows().size(), 40u);
  std::set<std::string> paths;
  for (const RouteRow& row : table.rows()) {
    std::string path = PathOf(row.route.path);
    EXPECT_TRUE(paths.insert(NameOf(row.route.method) + path).second) << row.route.path;
    auto found = table.Find(row.route.method, path);
    ASSERT_TRUE(found.has_value()) << row.route.path;
    EXPECT_EQ(found->row, &row) << row.route.path;
    EXPECT_LE(llvm::StringRef(row.route.path).count('{'), FoundRoute::kMostParameters)
        << row.route.path;
  }
}

TEST_F(RoutesTest, WrongMethodIsSaidWithTheRightOne) {
  const RouteTable& table = RouteTable::All();
  for (const RouteRow& row : table.rows()) {
    Method other = row.route.method == Method::kGet ? Method::kPost : Method::kGet;
    std::string path = PathOf(row.route.path);
    if (table.Find(other, path)) continue;
    WebAnswer answer = Ask(NameOf(other), path);
    EXPECT_EQ(answer.status, 405) << path;
    EXPECT_NE(answer.body.find(std::string("accepts ") + NameOf(row.route.method)),
              std::string::npos)
        << answer.body;
    EXPECT_EQ(answer.headers.front(),
              std::pair(std::string("Allow"), std::string(NameOf(row.route.method))));
  }
}

TEST_F(RoutesTest, TooLargeABodyIsSaid) {
  for (const RouteRow& row : RouteTable::All().rows()) {
    std::string path = PathOf(row.route.path);
    WebAnswer answer = Ask(NameOf(row.route.method), path, row.route.limit + 1);
    EXPECT_EQ(answer.status, 413) << path;
    EXPECT_NE(Ask(NameOf(row.route.method), path, row.route.limit).status, 413) << path;
  }
  EXPECT_NE(Ask("POST", "0/diff", 3 << 20).body.find("at most 1.0 MB, and 3.1 MB"),
            std::string::npos)
      << Ask("POST", "0/diff", 3 << 20).body;
}

TEST_F(RoutesTest, OnlyWhatIsAnsweredIsRead) {
  WebRequest feed{"POST", "/api/0/feed", kHost, kOrigin, "secret"};
  EXPECT_FALSE(router_->Admit(feed).refusal);
  EXPECT_EQ(router_->Admit(feed).body_limit, kLargestFile);
  feed.body_size = kLargestFile + 1;
  EXPECT_EQ(router_->Admit(feed).refusal->status, 413);
  feed.path = "/api/0/nothing";
  EXPECT_EQ(router_->Admit(feed).refusal->status, 404);
  feed = {"POST", "/api/0/feed", kHost, kOrigin, "wrong"};
  EXPECT_EQ(router_->Admit(feed).refusal->status, 403) << "a stranger's";
  for (const char* path : {"/", "/page.css"}) {
    HeaderCheck get = router_->Admit({"GET", path, kHost, kOrigin, "secret"});
    EXPECT_FALSE(get.refusal) << path;
    EXPECT_EQ(get.body_limit, 0u) << path;
    EXPECT_EQ(router_->Admit({"POST", path, kHost, kOrigin, "secret"}).refusal->status, 405)
        << path;
  }
  for (const char* method : {"GET", "POST"})
    EXPECT_EQ(router_->Admit({method, "/nowhere", kHost, kOrigin, "secret"}).refusal->status, 404);
}

TEST_F(RoutesTest, WorkHasThreadsOfItsOwn) {
  auto worker_class = [&](const char* method, const char* path) {
    return router_->Admit({method, path, kHost, kOrigin, "secret"}).worker_class;
  };
  for (const char* path : {"/api/0/passes", "/api/0/diff", "/api/0/place"})
    EXPECT_EQ(worker_class("POST", path), WorkerClass::kWork) << path;
  for (const char* path : {"/", "/page.js", "/api/models", "/api/version", "/api/0/run/1"})
    EXPECT_EQ(worker_class("GET", path), WorkerClass::kAtOnce) << path;
  EXPECT_EQ(worker_class("POST", "/api/0/stop/1"), WorkerClass::kAtOnce)
      << "it must not wait for what it stops";
  EXPECT_EQ(worker_class("GET", "/api/0/scope/0"), WorkerClass::kDocument);
  EXPECT_EQ(worker_class("POST", "/api/0/run"), WorkerClass::kStart);
}

TEST_F(RoutesTest, UnknownPathsAreToldWhatIsNear) {
  auto why = [&](const char* path) {
    WebAnswer answer = Ask("GET", path);
    EXPECT_EQ(answer.status, 404) << path;
    return answer.body;
  };
  EXPECT_EQ(why("0/scop/0"), "there is no '0/scop/0'; did you mean 'stop', 'scope'?");
  EXPECT_NE(why("0/node/x/1").find("it is {entry}/node/{body}/{node} or {entry}/{side=a|b}/node"),
            std::string::npos);
  EXPECT_NE(why("3/model").find("there is no graph 3: the number of graphs is 1"),
            std::string::npos);
  EXPECT_NE(why("0/debug").find("has no tab 'debugger'"), std::string::npos);
}

TEST(Tabs, EachHasAScriptAndAPlaceOfItsOwn) {
  std::set<int> places;
  for (const Tab& tab : Tabs()) {
    EXPECT_TRUE(places.insert(tab.place).second) << tab.name;
    EXPECT_NE(FindWebFile(std::string(tab.name) + "_tab.js"), nullptr) << tab.name;
  }
  EXPECT_GE(places.size(), 8u);
}

}  // namespace
}  // namespace grapnel
