// What the server answers: the page's files and the documents of its models.
#ifndef GRAPNEL_LIB_SERVE_HTTP_ROUTER_H_
#define GRAPNEL_LIB_SERVE_HTTP_ROUTER_H_

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/serve/http/host_names.h"
#include "lib/serve/http/routes.h"
#include "lib/serve/pages/page_set.h"
#include "lib/serve/work/run_table.h"

namespace grapnel {

struct WebRequest {
  std::string method, path;  // path without what follows '?'
  std::string host, origin,
      token;                  // headers; token: X-Grapnel-Token, of the page itself the query's
  llvm::StringRef body = {};  // of a POST; lives as long as the request
  size_t body_size = 0;       // bytes: what the headers say, while there is no body
  std::function<bool()> is_gone = {};  // whether nobody waits for the answer any more; may be null
};

struct WebAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// What becomes of a request, by its headers alone.
struct HeaderCheck {
  std::optional<WebAnswer> refusal;  // there is no more to be read of it
  size_t body_limit = 0;             // else bytes of a body that are worth reading
  WorkerClass worker_class = WorkerClass::kAtOnce;
};

// Answers only who asks for a name of this machine, comes from no other page, and knows the token;
// and works (POST) only for a page that says it is its own. Any number of threads may ask at once:
// the graphs are guarded by a lock that is held to copy a pointer, everything else guards itself.
class Router {
 public:
  // `token`: what a request must show.
  Router(std::shared_ptr<PageSet> pages, std::string token);
  ~Router();

  // Returns when nothing goes on in the background.
  void WaitUntilWarm() { warm_.wait(); }

  // Beside this machine's own. Before the first request.
  void AllowHosts(HostNames names) { hosts_ = std::move(names); }

  // Asked before a body is read, of which `body_size` says how long it will be. Costs microseconds.
  HeaderCheck Admit(const WebRequest& head) const;
  // What is thrown while it is made is an answer too: 500 that says so.
  WebAnswer Answer(const WebRequest& request);

  // The graphs as they are now: pages that are open load themselves again.
  void Replace(std::shared_ptr<PageSet> pages);
  // What keeps the graphs from being as they are now, for the page to say.
  void SetProblem(std::string problem);

 private:
  bool IsOurs(const WebRequest& request) const;
  std::optional<WebAnswer> Authorize(const WebRequest& request) const;
  WebAnswer MakeAnswer(const WebRequest& request);
  WebAnswer AnswerApi(const WebRequest& request, llvm::StringRef path, const Served& served);
  WebAnswer PageAnswer();
  std::optional<std::string> DocumentFor(const std::string& path, const Served& served);
  Served Now() const;
  void Warm();

  mutable std::mutex mutex_;  // guards the next two
  Served served_;
  std::shared_ptr<const std::string> picture_;  // see SentPicture; null: it is not made yet
  const std::string token_;
  HostNames hosts_;
  RunTable runs_;
  DebugTable debugs_;       // asks runs_ for files
  std::future<void> warm_;  // the first picture, made while the browser starts; last, to end first
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_HTTP_ROUTER_H_
