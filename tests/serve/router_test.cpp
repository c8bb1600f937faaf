#include "lib/serve/routes/router.h"

#include <gtest/gtest.h>

#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

constexpr const char* kHost = "127.0.0.1:4000";

class RouterTest : public testing::Test {
 protected:
  void SetUp() override {
    auto pages = std::make_shared<PageSet>();
    Error error = pages->AddPath("testdata/collatz");
    ASSERT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
    router_ = std::make_unique<Router>(std::move(pages), "secret");
  }
  WebAnswer Get(const std::string& path, const std::string& token = "secret") {
    return router_->Answer({"GET", path, kHost, "", token});
  }
  WebAnswer Post(const std::string& path, const std::string& origin,
                 const std::string& token = "secret") {
    return router_->Answer({"POST", path, kHost, origin, token, "{}"});
  }
  std::unique_ptr<Router> router_;
};

TEST_F(RouterTest, PageNeedsTheToken) {
  EXPECT_EQ(Get("/").status, 200);
  EXPECT_EQ(Get("/", "").status, 403);
  EXPECT_EQ(Get("/", "secreT").status, 403);
  EXPECT_EQ(Get("/api/models", "").status, 403);
  EXPECT_EQ(Get("/page.js", "").status, 200) << "the page's own files hold no secret";
}

TEST_F(RouterTest, OnlyThisMachinesNameAndOwnPages) {
  EXPECT_EQ(router_->Answer({"GET", "/", "evil.example:4000", "", "secret"}).status, 403);
  // A tunnel has a port of its own; a page of another server on this machine is foreign.
  EXPECT_EQ(router_->Answer({"GET", "/", "localhost:4001", "", "secret"}).status, 200);
  EXPECT_EQ(
      router_->Answer({"GET", "/api/models", kHost, "http://127.0.0.1:8000", "secret"}).status,
      403);
  EXPECT_EQ(router_->Answer({"GET", "/", "", "", "secret"}).status, 403);
  EXPECT_EQ(router_->Answer({"GET", "/api/models", kHost, "http://evil.example", "secret"}).status,
            403);
  EXPECT_EQ(router_->Answer({"GET", "/", "localhost:4000", "", "secret"}).status, 200);
  EXPECT_EQ(router_->Answer({"GET", "/api/models", kHost, std::string("http://") + kHost, "secret"})
                .status,
            200);
  EXPECT_EQ(router_->Answer({"PUT", "/", kHost, "", "secret"}).status, 405);
}

TEST_F(RouterTest, PolicyAllowsItsOwnFilesOnly) {
  for (const char* path : {"/", "/page.css", "/api/models", "/nowhere"}) {
    std::string policy;
    for (const auto& [name, value] : Get(path).headers) {
      if (name == "Content-Security-Policy") policy = value;
    }
    EXPECT_NE(policy.find("default-src 'none'"), std::string::npos) << path;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos) << path;
  }
}

// Styles, scripts and documents for the first picture: no requests before it is drawn.
TEST_F(RouterTest, PageComesInOnePiece) {
  router_->WaitUntilWarm();
  WebAnswer page = Get("/");
  for (const char* path : {"models", "node-data", "version", "0/model", "0/scope/0"}) {
    std::string element = std::string("id=\"sent ") + path + "\">";
    size_t at = page.body.find(element);
    ASSERT_NE(at, std::string::npos) << path;
    at += element.size();
    WebAnswer document = Get(std::string("/api/") + path);
    bool is_table = document.type == "application/x-grapnel-columns";
    EXPECT_EQ(page.body.substr(at, page.body.find("</script>", at) - at),
              is_table ? llvm::encodeBase64(document.body) : document.body);
  }
  EXPECT_EQ(page.body.find("src="), std::string::npos);
  EXPECT_EQ(page.body.find("rel=\"stylesheet\""), std::string::npos);
  std::string policy;
  for (const auto& [name, value] : page.headers)
    if (name == "Content-Security-Policy") policy += value;
  EXPECT_NE(policy.find("script-src 'self' 'sha256-"), std::string::npos) << policy;
}

// After a reload, the page must not show a picture of the old graph.
TEST_F(RouterTest, PageIsOfTheGraphsAsTheyAreNow) {
  router_->WaitUntilWarm();
  auto pages = std::make_shared<PageSet>();
  Error error = pages->AddPath("testdata/harmonic_mean");
  ASSERT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
  router_->Replace(std::move(pages));
  router_->WaitUntilWarm();
  WebAnswer page = Get("/");
  EXPECT_EQ(page.body.find("collatz"), std::string::npos);
  EXPECT_NE(page.body.find("harmonic_mean"), std::string::npos);
  EXPECT_NE(page.body.find("\"version\":1"), std::string::npos);
}

TEST_F(RouterTest, NoFilesButThePages) {
  for (const char* path : {"/../router.h", "/etc/passwd", "//", "/api/../page.js", "/api/0/file/x"})
    EXPECT_EQ(Get(path).status, 404) << path;
}

TEST_F(RouterTest, DocumentsAreJsonOrTables) {
  for (const char* path : {"/api/models", "/api/0/model", "/api/0/facets"}) {
    WebAnswer answer = Get(path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.type, "application/json");
    EXPECT_TRUE(static_cast<bool>(llvm::json::parse(answer.body))) << path;
  }
  for (const char* path : {"/api/0/scope/0", "/api/0/node/0/1", "/api/0/index/1/0"}) {
    WebAnswer answer = Get(path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.type, "application/x-grapnel-columns");
    EXPECT_FALSE(answer.body.empty()) << path;
  }
}

TEST_F(RouterTest, WhatIsNotThereIsSaid) {
  for (const char* path :
       {"/api/1/model", "/api/0/scope/99", "/api/0/scope/0/12345", "/api/0/node/0/4000000000",
        "/api/0/node/0/-1", "/api/0/scope/x", "/api/0", "/api/", "/api/0/index/7/0"})
    EXPECT_EQ(Get(path).status, 404) << path;
  EXPECT_NE(Get("/api/0/scope/99").body.find("there is no body 99"), std::string::npos);
}

TEST_F(RouterTest, WorkNeedsTheTokenAndThePageItself) {
  EXPECT_EQ(Post("/api/0/nothing", "http://127.0.0.1:4000").status, 404);
  EXPECT_EQ(Post("/api/0/nothing", "http://127.0.0.1:4000", "wrong").status, 403);
  EXPECT_EQ(Post("/api/0/nothing", "").status, 403);
  EXPECT_EQ(Post("/api/0/nothing", "http://evil.example").status, 403);
}

TEST_F(RouterTest, GraphsThatWereReadAgainAreAnotherVersion) {
  EXPECT_EQ(Get("/api/version").body, "{\"version\":0}");
  auto pages = std::make_shared<PageSet>();
  llvm::cantFail(pages->AddPath("testdata/harmonic_mean"));
  router_->SetProblem("no <file>");
  EXPECT_NE(Get("/api/version").body.find("no \\u003cfile"), std::string::npos);
  router_->Replace(pages);
  EXPECT_EQ(Get("/api/version").body, "{\"version\":1}");
  EXPECT_NE(Get("/api/models").body.find("harmonic_mean"), std::string::npos);
}

TEST(PageSet, PathThatCannotBeOpenedIsNamed) {
  PageSet pages;
  Error error = pages.AddPath("nowhere.pb");
  ASSERT_TRUE(static_cast<bool>(error));
  EXPECT_NE(llvm::toString(std::move(error)).find("nowhere.pb"), std::string::npos);
}

TEST(PageSet, NothingToShow) {
  Router router(std::make_shared<PageSet>(), "t");
  EXPECT_EQ(router.Answer({"GET", "/api/0/model", "127.0.0.1:1", "", "t"}).status, 404);
  EXPECT_EQ(router.Answer({"GET", "/api/models", "127.0.0.1:1", "", "t"}).body, "[]");
}

}  // namespace
}  // namespace grapnel
