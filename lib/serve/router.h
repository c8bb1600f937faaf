// What the server answers: the page's files and the documents of its models.
#ifndef GRAPNEL_LIB_SERVE_ROUTER_H_
#define GRAPNEL_LIB_SERVE_ROUTER_H_

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "lib/serve/page_set.h"

namespace grapnel {

struct WebRequest {
  std::string method, path;  // path without what follows '?'
  std::string host, origin,
      token;  // headers; token: X-Grapnel-Token, of the page itself the query's
};

struct WebAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// Answers only who names this machine as host, comes from no other page, and knows the token. Any
// number of threads may ask at once.
class Router {
 public:
  // `token`: what a request must show.
  Router(PageSet pages, std::string token);
  ~Router();

  // Host headers that are answered: "127.0.0.1:PORT" and "localhost:PORT".
  void SetPort(int port) { port_ = port; }

  WebAnswer Answer(const WebRequest& request);

 private:
  bool IsOurs(const WebRequest& request) const;
  WebAnswer Document(llvm::StringRef path);
  WebAnswer DebugDocument(llvm::ArrayRef<llvm::StringRef> parts, llvm::ArrayRef<uint32_t> numbers);

  PageSet pages_;
  std::string token_;
  int port_ = 0;
  std::future<void> warm_;  // the first documents, made while the browser starts
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_ROUTER_H_
