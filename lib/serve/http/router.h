// What the server answers: the page's files and the documents of its models.
#ifndef GRAPNEL_LIB_SERVE_HTTP_ROUTER_H_
#define GRAPNEL_LIB_SERVE_HTTP_ROUTER_H_

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/serve/http/routes.h"
#include "lib/serve/pages/page_set.h"
#include "lib/serve/work/run_table.h"

namespace grapnel {

struct WebRequest {
  std::string method, path;  // path without what follows '?'
  std::string host, origin,
      token;              // headers; token: X-Grapnel-Token, of the page itself the query's
  std::string body = {};  // of a POST; "" when it is longer than BodyLimit
  size_t body_size = 0;   // as sent
};

struct WebAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// Answers only who names this machine as host, comes from no other page, and knows the token; and
// works (POST) only for a page that says it is its own. Any number of threads may ask at once.
class Router {
 public:
  // `token`: what a request must show.
  Router(std::shared_ptr<PageSet> pages, std::string token);
  ~Router();

  // Host headers that are answered: "127.0.0.1:PORT" and "localhost:PORT".
  void SetPort(int port) { port_ = port; }

  WebAnswer Answer(const WebRequest& request);
  // Bytes of a body that are worth reading for it: 0 of what is refused whatever the body.
  size_t BodyLimit(const WebRequest& request) const;

  // The graphs as they are now: pages that are open load themselves again.
  void Replace(std::shared_ptr<PageSet> pages);
  // What keeps the graphs from being as they are now, for the page to say.
  void SetProblem(std::string problem);

 private:
  bool IsOurs(const WebRequest& request) const;
  std::optional<WebAnswer> RefuseStranger(const WebRequest& request) const;
  WebAnswer AnswerApi(const WebRequest& request, llvm::StringRef path);
  Served Now() const;
  void Warm();

  mutable std::mutex mutex_;
  Served served_;
  std::string token_;
  int port_ = 0;
  RunTable runs_;
  std::future<void> warm_;  // the first documents, made while the browser starts
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_HTTP_ROUTER_H_
