// What the server answers: the page's files and the documents of its models.
#ifndef GRAPNEL_LIB_SERVE_ROUTER_H_
#define GRAPNEL_LIB_SERVE_ROUTER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/io/open.h"
#include "lib/render/graph_page.h"
#include "lib/support/error.h"

namespace grapnel {

struct WebRequest {
  std::string method, path;         // path without what follows '?'
  std::string host, origin, token;  // headers; token: X-Grapnel-Token, of the page itself the query's
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
  // Opens every path; one that cannot be opened is an error that names it. `token`: what a request
  // must show.
  static Expected<std::unique_ptr<Router>> Open(llvm::ArrayRef<std::string> paths,
                                                std::string token);
  ~Router();

  // Host headers that are answered: "127.0.0.1:PORT" and "localhost:PORT".
  void SetPort(int port) { port_ = port; }

  WebAnswer Answer(const WebRequest& request);

 private:
  struct Served;
  Router() = default;
  bool IsOurs(const WebRequest& request) const;
  WebAnswer Document(llvm::StringRef path);
  std::string ModelsJson() const;

  std::string token_;
  int port_ = 0;
  std::vector<std::unique_ptr<Served>> served_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_ROUTER_H_
