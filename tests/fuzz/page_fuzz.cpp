// Requests to the page, from request bytes to response bytes: the HTTP parser, the routes, and what
// they do with paths and bodies, over two small graphs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "lib/serve/http/module/request.h"
#include "lib/serve/routes/router.h"
#include "llvm/ADT/ScopeExit.h"

namespace grapnel {
namespace {

// The input itself contains "Host: 127.0.0.1:80", "Origin: http://127.0.0.1:80" and
// "X-Grapnel-Token: t".
std::unique_ptr<Router> NewRouter() {
  auto pages = std::make_shared<PageSet>();
  for (const char* path : {"testdata/collatz", "testdata/harmonic_mean"})
    llvm::cantFail(pages->AddPath(path));
  auto router = std::make_unique<Router>(std::move(pages), "t");
  router->WaitUntilWarm();  // leaks are checked between inputs, so nothing may be half built
  return router;
}

// Parses one request from the front of `bytes`. Null if it was rejected or is incomplete.
std::unique_ptr<grapnel_http::Parser> Parse(const Router& router, llvm::StringRef* bytes,
                                            WebRequest* request, FoundRoute* route,
                                            std::string* accepted) {
  auto parser = std::make_unique<grapnel_http::Parser>();
  parser->header_limit(16 << 10);
  parser->body_limit(UINT64_MAX);
  grapnel_http::Asked asked;
  while (!parser->is_done()) {
    bool had_head = parser->is_header_done();
    boost::system::error_code error;
    size_t used = parser->put(boost::asio::buffer(bytes->data(), bytes->size()), error);
    *bytes = bytes->drop_front(used);
    if (error || (used == 0 && had_head)) {
      if (error) grapnel_http::NoRequest(error);
      return nullptr;
    }
    if (had_head) continue;
    if (grapnel_http::ReadHead(*parser, &asked)) return nullptr;
    *request = {asked.method, asked.path, asked.host, asked.origin, asked.token};
    request->body_size = parser->content_length().value_or(0);
    HeaderCheck check = router.Admit(*request);
    if (check.refusal) return nullptr;
    parser->body_limit(check.body_limit);
    *route = check.route;
    parser->eager(true);
  }
  *accepted = asked.accepted;
  return parser;
}

}  // namespace
}  // namespace grapnel

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  // Pages accumulate results, so the router is recreated now and then to keep inputs mostly
  // independent. A run continues in its own thread: its router ends, and waits for it, before the
  // next input and before the process ends.
  static std::unique_ptr<Router> router;
  static int asked = 0;
  static bool has_run = false;
  if (asked++ % 1000 == 0 || !router) router = NewRouter();
  auto wait = llvm::make_scope_exit([] {
    if (has_run) router = nullptr;
    has_run = false;
  });
  llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  while (!bytes.empty()) {
    WebRequest request;
    FoundRoute route;
    std::string accepted;
    auto parser = Parse(*router, &bytes, &request, &route, &accepted);
    if (!parser) return 0;
    request.body = parser->get().body();
    request.body_size = request.body.size();
    has_run |= request.method == "POST";
    WebAnswer made = router->Answer(request, route);
    if (made.status < 200 || made.status > 599 || (made.status != 200 && made.body.empty()))
      std::abort();
    if (made.status == 500) std::abort();  // an exception was thrown
    grapnel_http::Answer answer = {made.status, made.type, std::move(made.body),
                                   std::move(made.headers)};
    grapnel_http::Compress(accepted, &answer);
    grapnel_http::HeadOf(answer, true);
  }
  return 0;
}
