// Answers requests: the page's files and the documents of its models.
#ifndef GRAPNEL_LIB_SERVE_ROUTES_ROUTER_H_
#define GRAPNEL_LIB_SERVE_ROUTES_ROUTER_H_

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/serve/pages/page_set.h"
#include "lib/serve/routes/host_names.h"
#include "lib/serve/routes/routes.h"
#include "lib/serve/work/run_table.h"

namespace grapnel {

struct WebRequest {
  std::string method, path;  // path without the query
  std::string host, origin,
      token;                  // headers; token: X-Grapnel-Token, for the page itself from the query
  llvm::StringRef body = {};  // of a POST; must outlive the request
  size_t body_size = 0;       // bytes; taken from the headers while the body is not read yet
  std::function<bool()> is_gone = {};  // true if the client is gone; may be null
};

struct WebAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// The decision on a request from its headers alone.
struct HeaderCheck {
  std::optional<WebAnswer> refusal;  // if set, send this answer and do not read the body
  size_t body_limit = 0;             // else the largest allowed body, in bytes
  WorkerClass worker_class = WorkerClass::kAtOnce;
  FoundRoute route;  // of the API; row is null for a file of the page
};

// Answers only requests with an allowed Host and no foreign Origin. Requests for the page and its
// API also need the token, and requests for work (POST) the page's own Origin. Thread-safe: mutex_,
// held only for short copies, guards the served graphs; the other members that requests use are
// thread-safe or constant.
class Router {
 public:
  // `token`: the token that requests for the page and its API need.
  Router(std::shared_ptr<PageSet> pages, std::string token);
  ~Router();

  // Waits until the background work of Warm() is done.
  void WaitUntilWarm() { warm_.wait(); }

  // Allows host names in addition to 127.0.0.1 and the like. Call it before the first request.
  void AllowHosts(HostNames names) { hosts_ = std::move(names); }

  // Decides on a request before its body is read; head.body_size is the announced length. Takes
  // microseconds.
  HeaderCheck Admit(const WebRequest& head) const;
  // Returns the answer to a request that Admit let through with this route; the caller has kept the
  // limit on the body. An exception becomes an answer with status 500 and its message.
  WebAnswer Answer(const WebRequest& request, const FoundRoute& route);
  // Admits a request with its body, and answers it.
  WebAnswer Answer(const WebRequest& request);

  // Replaces the graphs: open pages then reload.
  void Replace(std::shared_ptr<PageSet> pages);
  // Sets the reason why the graphs could not be reloaded, which the page shows.
  void SetProblem(std::string problem);

 private:
  bool IsOurs(const WebRequest& request) const;
  std::optional<WebAnswer> Authorize(const WebRequest& request) const;
  WebAnswer ApiAnswer(const WebRequest& request, const FoundRoute& found, const Served& served);
  WebAnswer PageAnswer();
  std::optional<Document> DocumentFor(const std::string& path, const Served& served);
  Served Now() const;
  void Warm();

  mutable std::mutex mutex_;  // guards served_ and picture_
  Served served_;
  std::shared_ptr<const std::string> picture_;  // from SentPicture; null: not made yet
  const std::string token_;
  HostNames hosts_;
  RunTable runs_;
  DebugTable debugs_;  // gets files from runs_
  // The work of Warm(), which makes the first picture's documents while the browser starts.
  // Declared last, so that its destructor waits for that work before other members are destroyed.
  std::future<void> warm_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_ROUTES_ROUTER_H_
