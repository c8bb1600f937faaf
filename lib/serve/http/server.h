// The HTTP server of the page.
#ifndef GRAPNEL_LIB_SERVE_HTTP_SERVER_H_
#define GRAPNEL_LIB_SERVE_HTTP_SERVER_H_

#include <memory>
#include <string>

#include "lib/serve/routes/router.h"
#include "lib/support/error.h"

namespace grapnel {

// Returns a random token of 128 bits, in hex.
Expected<std::string> MakeToken();

// Listens on 127.0.0.1 only. Loads grapnel_http.so, from where ModulePath finds it.
class Server {
 public:
  // `port`: 0 for any free port. Errors: the module cannot be loaded; the port cannot be opened.
  static Expected<std::unique_ptr<Server>> Listen(Router& router, int port);
  ~Server();
  int port() const;
  // Answers requests until Stop(), which any thread may call.
  void Run();
  void Stop();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_HTTP_SERVER_H_
