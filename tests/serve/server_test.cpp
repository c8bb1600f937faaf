// The server against malicious clients, over real sockets.
#include "lib/serve/http/server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

#include "tests/serve/http_client.h"
#include "tests/serve/test_pages.h"

namespace grapnel {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    router_ = MakeTestRouter();
    server_ = llvm::cantFail(Server::Listen(*router_, 0));
    thread_ = std::thread([this] { server_->Run(); });
    own_ = "Host: 127.0.0.1:" + std::to_string(server_->port()) +
           "\r\nOrigin: http://127.0.0.1:" + std::to_string(server_->port()) + "\r\n";
    known_ = own_ + "X-Grapnel-Token: secret\r\n";
  }
  void TearDown() override {
    if (thread_.joinable()) End();
  }
  void End() {
    server_->Stop();
    thread_.join();
  }

  HttpClient Connect() { return HttpClient(server_->port()); }
  std::string Get(const std::string& path, const std::string& headers = "") {
    return "GET " + path + " HTTP/1.1\r\n" + known_ + headers + "\r\n";
  }
  std::string Post(const std::string& path, const std::string& body) {
    return "POST " + path + " HTTP/1.1\r\n" + known_ +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  // Sends a request on a new connection.
  HttpAnswer Ask(const std::string& request) { return Connect().Ask(request); }
  // The time until a well-behaved client is answered.
  milliseconds TimeToAnswer() {
    auto began = HttpClient::Clock::now();
    EXPECT_EQ(Ask(Get("/api/version")).status, 200);
    EXPECT_EQ(Ask(Get("/?token=secret")).status, 200);
    return std::chrono::duration_cast<milliseconds>(HttpClient::Clock::now() - began);
  }

  std::unique_ptr<Router> router_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::string own_, known_;  // headers of the page itself, without and with the token
};

std::string Chunk(size_t size) {
  return llvm::formatv("{0:x-}\r\n", size).str() + std::string(size, ' ') + "\r\n";
}

// Sends `head`, then pieces until the server answers. Sets `taken` to the bytes that it accepted.
HttpAnswer SendEndlessly(HttpClient client, const std::string& head, const std::string& piece,
                         size_t* taken) {
  constexpr size_t kMost = size_t{64} << 20;
  client.Send(head);
  HttpAnswer answer;
  for (*taken = 0; *taken < kMost && answer.status == 0;) {
    size_t sent = client.Send(piece);
    *taken += sent;
    answer = client.Receive(milliseconds(sent == piece.size() ? 0 : 1000));
  }
  return answer;
}

TEST_F(ServerTest, AnswersOneRequestAfterAnother) {
  HttpClient client = Connect();
  client.Send(Get("/api/version") + Get("/page.css"));
  EXPECT_EQ(client.Receive().body, "{\"version\":0}");
  EXPECT_EQ(client.Receive().body.substr(0, 5), ":root");
  EXPECT_EQ(client.Ask(Post("/api/0/place", R"({"devices": "cpu:2"})")).status, 200);
  client.Send("HEAD /page.css HTTP/1.1\r\n" + known_ + "\r\n");
  EXPECT_EQ(client.Receive(seconds(5), false).status, 200);
  HttpAnswer answer = client.Ask(Get("/api/models?token=x", "Connection: close\r\n"));
  EXPECT_EQ(answer.status, 200) << "the header's token goes before the query's";
  EXPECT_NE(answer.head.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(client.IsHungUp(seconds(5)));
}

TEST_F(ServerTest, TextIsCompressedForWhoReadsIt) {
  std::string plain = Ask(Get("/page.js")).body;
  for (const char* coding : {"gzip", "br"}) {
    HttpAnswer answer = Ask(Get("/page.js", std::string("Accept-Encoding: ") + coding + "\r\n"));
    EXPECT_NE(answer.head.find(std::string("Content-Encoding: ") + coding), std::string::npos);
    EXPECT_LT(answer.body.size(), plain.size() / 2);
  }
  for (const char* none : {"identity", "gzip;q=0, br;q=0", ";;,,", "zstd"})
    EXPECT_EQ(Ask(Get("/page.js", std::string("Accept-Encoding: ") + none + "\r\n")).body, plain);
}

TEST_F(ServerTest, WhoEndsSendingIsAnswered) {
  HttpClient client = Connect();
  client.Send(Get("/api/version"));
  client.EndSending();
  EXPECT_EQ(client.Receive().status, 200);
}

TEST_F(ServerTest, ContinuesOnceTheHeadersAreFine) {
  std::string expects = "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n";
  HttpClient client = Connect();
  EXPECT_EQ(client.Ask("POST /api/0/place HTTP/1.1\r\n" + known_ + expects).status, 100);
  EXPECT_EQ(client.Ask("{}").status, 400);
  EXPECT_EQ(Ask("POST /api/0/place HTTP/1.1\r\n" + own_ + expects).status, 403);
  EXPECT_EQ(Ask("POST /api/0/place HTTP/1.1\r\n" + known_ +
                "Content-Length: 2\r\nExpect: a miracle\r\n\r\n")
                .status,
            417);
}

TEST_F(ServerTest, StrangersAreRefusedBeforeTheirBodies) {
  const std::string long_body = "Content-Length: 1000000000000\r\n\r\n",
                    chunks = "Transfer-Encoding: chunked\r\n\r\n", evil = "Host: evil.example\r\n";
  std::string other = own_;
  other.replace(other.find("http://"), 7, "http://evil.example/");
  other += "X-Grapnel-Token: secret\r\n";
  const std::vector<std::string> strangers = {own_ + long_body, own_ + chunks, evil + long_body,
                                              other + long_body, other + chunks};
  for (const std::string& headers : strangers) {
    size_t taken = 0;
    HttpAnswer answer =
        SendEndlessly(Connect(), "POST /api/0/feed HTTP/1.1\r\n" + headers, Chunk(1 << 20), &taken);
    EXPECT_EQ(answer.status, 403) << headers;
    EXPECT_LT(taken, size_t{16} << 20) << headers;
  }
}

TEST_F(ServerTest, BodiesEndAtTheirLimits) {
  std::string post = "POST /api/0/passes HTTP/1.1\r\n" + known_;
  size_t taken = 0;
  HttpAnswer answer =
      SendEndlessly(Connect(), post + "Transfer-Encoding: chunked\r\n\r\n", Chunk(100000), &taken);
  EXPECT_EQ(answer.status, 413) << answer.body;
  answer = Ask(post + "Content-Length: 5000000\r\n\r\n");
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.body, "'0/passes' takes at most 1.0 MB, and 5.0 MB were sent");
  EXPECT_EQ(Ask(Get("/page.css", "Content-Length: 1\r\n") + "x").status, 413);
  EXPECT_EQ(Ask("POST /api/0/nothing HTTP/1.1\r\n" + known_ + "Content-Length: 9\r\n\r\n").status,
            404);
}

TEST_F(ServerTest, BodiesComeAsTheyAre) {
  std::string post = "POST /api/0/passes HTTP/1.1\r\n" + known_ + "Content-Length: 3000000\r\n";
  EXPECT_EQ(Ask(post + "Content-Encoding: gzip\r\n\r\n").status, 415);
  EXPECT_EQ(Ask(post + "Content-Type: Multipart/form-data; boundary=x\r\n\r\n").status, 415);
  EXPECT_EQ(Ask("POST /api/0/passes HTTP/1.1\r\n" + known_ + "\r\n").status, 411);
}

TEST_F(ServerTest, HeadersEndAtTheirLimit) {
  std::string flood = "GET / HTTP/1.1\r\n" + known_;
  for (int i = 0; i < 10000; ++i) flood += "X-" + std::to_string(i) + ": nothing\r\n";
  EXPECT_EQ(Ask(flood + "\r\n").status, 431);
  EXPECT_EQ(Ask(flood).status, 431) << "and they do not end";
  EXPECT_EQ(Ask("GET / HTTP/1.1\r\nX: " + std::string(100000, 'x')).status, 431);
  EXPECT_EQ(Ask("GET /" + std::string(1000000, 'x')).status, 431);
  EXPECT_EQ(Ask(Get("/" + std::string(10000, 'x'))).status, 414);
  EXPECT_EQ(Ask(Get("/" + std::string(8000, 'x'))).status, 404);
}

TEST_F(ServerTest, WhatIsNoRequestIsRefused) {
  std::string post = "POST /api/0/passes HTTP/1.1\r\n" + known_,
              length = "Content-Length: ", chunked = "Transfer-Encoding: chunked\r\n";
  const std::vector<std::string> requests = {
      std::string("garbage\r\n\r\n"),
      std::string("GET /\r\n\r\n"),
      std::string("GET / HTTP/9.9\r\n\r\n"),
      std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15),
      "GET / HTTP/1.1\r\n" + known_ + "no colon\r\n\r\n",
      "GET / HTTP/1.1\r\n" + known_ + ": no name\r\n\r\n",
      "GET / HTTP/1.1\r\n" + known_ + std::string("X: a\0b\r\n\r\n", 10),
      std::string("GET /\0 HTTP/1.1\r\n", 17) + known_ + "\r\n",
      "GET / HTTP/1.1\r\n" + known_ + known_ + "\r\n",
      post + length + "-1\r\n\r\n",
      post + length + "+1\r\n\r\n",
      post + length + "0x1\r\n\r\n",
      post + length + "99999999999999999999999999\r\n\r\n",
      post + length + "2, 2\r\n\r\n{}",
      post + length + "2\r\n" + length + "2\r\n\r\n{}",
      post + length + "2\r\n" + length + "3\r\n\r\n{} ",
      post + length + "2\r\n" + chunked + "\r\n2\r\n{}\r\n0\r\n\r\n",
      post + chunked + length + "2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
      post + chunked + chunked + "\r\n2\r\n{}\r\n0\r\n\r\n",
      post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      post + chunked + "\r\nzz\r\n{}\r\n0\r\n\r\n",
      post + chunked + "\r\n-2\r\n{}\r\n0\r\n\r\n",
      post + chunked + "\r\n2\r\n{}}}}}}\r\n0\r\n\r\n",
      post + chunked + "\r\n11111111111111111111\r\n{}\r\n0\r\n\r\n",
      post + chunked + "\r\n2;" + std::string(200000, 'x'),
      post + chunked + "\r\n0\r\nX: " + std::string(200000, 'x'),
      Get("/%"),
      Get("/%2"),
      Get("/%zz"),
      Get("/api/version%00"),
      Get("/?token=%00secret"),
  };
  for (const std::string& request : requests) {
    HttpAnswer answer = Ask(request);
    EXPECT_EQ(answer.status, 400) << request.substr(0, 400);
    EXPECT_FALSE(answer.body.empty()) << request.substr(0, 400);
    EXPECT_NE(answer.head.find("Connection: close"), std::string::npos) << request.substr(0, 400);
  }
  EXPECT_LT(TimeToAnswer(), seconds(1));
}

TEST_F(ServerTest, DeepJsonIsRefused) {
  EXPECT_EQ(Ask(Post("/api/0/passes", std::string(1000000, '['))).status, 400);
  EXPECT_EQ(Ask(Post("/api/0/run", std::string(1000000, '['))).status, 400);
}

// Slow clients occupy connections but no threads, and are refused when their time is up.
TEST_F(ServerTest, SlowWritersKeepNobodyWaiting) {
  std::vector<HttpClient> heads, bodies, silent;
  for (int i = 0; i < 32; ++i) {
    heads.push_back(Connect());
    heads.back().Send("GET / HTTP/1.1\r\n");
    bodies.push_back(Connect());
    bodies.back().Send("POST /api/0/passes HTTP/1.1\r\n" + known_ + "Content-Length: 99\r\n\r\n");
    silent.push_back(Connect());
  }
  auto end = HttpClient::Clock::now() + seconds(7);
  while (HttpClient::Clock::now() < end) {
    for (HttpClient& client : heads) client.Send("X");
    EXPECT_LT(TimeToAnswer(), seconds(1));
    std::this_thread::sleep_for(milliseconds(200));
  }
  for (HttpClient& client : bodies) EXPECT_EQ(client.Receive().status, 408);
  for (HttpClient& client : silent) EXPECT_TRUE(client.IsHungUp(seconds(1)));
  for (HttpClient& client : heads) EXPECT_EQ(client.Receive().status, 408);
}

TEST_F(ServerTest, SlowReadersKeepNobodyWaiting) {
  std::vector<HttpClient> clients;
  for (int i = 0; i < 32; ++i) {
    clients.emplace_back(server_->port(), 1);
    for (int j = 0; j < 50; ++j) clients.back().Send(Get("/page.css") + Get("/graph_view.js"));
  }
  for (int i = 0; i < 10; ++i) EXPECT_LT(TimeToAnswer(), seconds(1));
}

// Each has 64 MB that it does not read: together more than the limit.
TEST_F(ServerTest, SlowReadersOfLargeAnswersMakeRoom) {
  const char* request = R"({"fetches": ["y:0"],
      "feeds": [{"tensor": "x:0", "kind": "zeros", "shape": "16000000"}]})";
  EXPECT_EQ(Ask(Post("/api/3/run", request)).body, "{\"run\":1}");
  HttpAnswer status;
  for (int i = 0; i < 1000 && status.body.find("\"done\"") == std::string::npos; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    status = Ask(Get("/api/3/run/1"));
    ASSERT_EQ(status.body.find("\"failed\""), std::string::npos) << status.body;
  }
  std::vector<HttpClient> clients;
  int refused = 0;
  auto began = HttpClient::Clock::now();
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back(server_->port(), 1);
    clients.back().Send(Get("/api/3/npy/1/0"));
    refused += clients.back().Receive(seconds(10), false).status == 503;
    EXPECT_LT(TimeToAnswer(), seconds(1));
  }
  bool still_sending = HttpClient::Clock::now() - began < seconds(9);  // else the first is cut off
  EXPECT_EQ(refused, still_sending ? 1 : refused) << "five are what may be on its way";
}

TEST_F(ServerTest, ManyConnectionsMakeRoomForOneMore) {
  std::vector<HttpClient> clients;
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  for (int i = 0; i < 2100; ++i) {
    clients.push_back(Connect());
    ASSERT_TRUE(clients.back().is_connected());
    clients.back().Send("GET");
  }
  EXPECT_LT(TimeToAnswer(), seconds(1));
  EXPECT_TRUE(clients.front().IsHungUp(seconds(1))) << "it has waited longest";
}

TEST_F(ServerTest, WorkIsDoneAFewAtATime) {
  std::vector<HttpClient> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(Connect());
    clients.back().Send(Post("/api/1/passes", "{}"));
  }
  EXPECT_LT(TimeToAnswer(), seconds(2));
  int done = 0, refused = 0;
  for (HttpClient& client : clients) {
    HttpAnswer answer = client.Receive(seconds(60));
    done += answer.status == 200;
    refused += answer.status == 503;
    if (answer.status == 503) EXPECT_NE(answer.head.find("Retry-After: 1"), std::string::npos);
  }
  EXPECT_EQ(done + refused, 100);
  EXPECT_GE(done, 32) << "so many wait";
}

TEST_F(ServerTest, WorkThatNobodyWaitsForIsNotDone) {
  for (int i = 0; i < 30; ++i) Connect().Send(Post("/api/1/passes", "{}"));
  EXPECT_LT(TimeToAnswer(), seconds(2));
  HttpAnswer last = Connect().Ask(Post("/api/1/passes", "{}"));
  EXPECT_EQ(last.status, 200);
}

TEST_F(ServerTest, EndsAtOnceWhateverClientsDo) {
  std::vector<HttpClient> clients;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(Connect());
    clients.back().Send("POST /api/0/passes HTTP/1.1\r\n" + known_ + "Content-Length: 99\r\n\r\n{");
  }
  Ask(Post("/api/2/run", R"({"feeds": [], "fetches": ["exit:0"]})"));
  auto began = HttpClient::Clock::now();
  End();
  EXPECT_LT(HttpClient::Clock::now() - began, seconds(1));
}

TEST_F(ServerTest, TakenPortIsSaid) {
  auto other = Server::Listen(*router_, server_->port());
  ASSERT_FALSE(static_cast<bool>(other));
  EXPECT_NE(TextOf(other.takeError()).find("127.0.0.1:" + std::to_string(server_->port())),
            std::string::npos);
}

}  // namespace
}  // namespace grapnel
