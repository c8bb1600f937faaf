// grapnel_http.so: cpp-httplib behind lib/serve/http/api.h.
#include <httplib.h>

#include <cstdio>
#include <exception>

#include "lib/serve/http/api.h"

struct GrapnelHttpServer {
  httplib::Server server;
  int32_t port = 0;
};

namespace {

struct Reply {
  httplib::Response* response;
};

void SetHeader(void* state, const char* name, const char* value) {
  static_cast<Reply*>(state)->response->set_header(name, value);
}

void Send(void* state, int32_t status, const char* type, const char* body, size_t size) {
  httplib::Response& response = *static_cast<Reply*>(state)->response;
  response.status = status;
  response.set_content(body, size, type);
}

// Calls `use` with the request as the other side reads it.
template <typename Use>
void WithRequest(const httplib::Request& request, const char* body, size_t size, Use&& use) {
  std::string host = request.get_header_value("Host");
  std::string origin = request.get_header_value("Origin");
  std::string token = request.get_header_value("X-Grapnel-Token");
  if (token.empty()) token = request.get_param_value("token");
  use(GrapnelHttpRequest{request.method.c_str(), request.path.c_str(), host.c_str(), origin.c_str(),
                         token.c_str(), body, size});
}

GrapnelHttpServer* Open(int32_t port, GrapnelHttpHandler handler, GrapnelHttpBodyLimit limit,
                        void* context, char* error, int32_t error_size) {
  auto* server = new GrapnelHttpServer;
  server->server.set_keep_alive_max_count(1000);
  // Answers are small: waiting to fill a packet costs 40 ms each.
  server->server.set_tcp_nodelay(true);
  auto answer = [=](const httplib::Request& request, httplib::Response& response, const char* body,
                    size_t size) {
    WithRequest(request, body, size, [&](const GrapnelHttpRequest& asked) {
      Reply reply = {&response};
      GrapnelHttpReply sender = {&reply, SetHeader, Send};
      handler(context, &asked, &sender);
    });
  };
  server->server.set_pre_routing_handler(
      [=](const httplib::Request& request, httplib::Response& response) {
        // The body of a POST is read only after this.
        if (request.method == "POST") return httplib::Server::HandlerResponse::Unhandled;
        answer(request, response, "", 0);
        return httplib::Server::HandlerResponse::Handled;
      });
  server->server.Post(".*", [=](const httplib::Request& request, httplib::Response& response,
                                const httplib::ContentReader& read) {
    if (request.is_multipart_form_data()) {  // no page of ours sends forms
      response.status = 415;
      return;
    }
    size_t most = 0, size = 0;
    WithRequest(request, "", 0,
                [&](const GrapnelHttpRequest& asked) { most = limit(context, &asked); });
    std::string body;
    read([&](const char* data, size_t length) {
      size += length;
      if (size <= most) body.append(data, length);
      return true;
    });
    if (size > most) body.clear();
    answer(request, response, body.data(), size);
  });
  server->port = port;
  bool bound = port == 0 ? (server->port = server->server.bind_to_any_port("127.0.0.1")) > 0
                         : server->server.bind_to_port("127.0.0.1", port);
  if (bound) return server;
  std::snprintf(error, error_size, "cannot listen on 127.0.0.1:%d: it is taken, or not allowed",
                port);
  delete server;
  return nullptr;
}

constexpr GrapnelHttpApi kApi = {
    GRAPNEL_HTTP_API_VERSION,
    Open,
    [](const GrapnelHttpServer* server) { return server->port; },
    [](GrapnelHttpServer* server) { server->server.listen_after_bind(); },
    [](GrapnelHttpServer* server) { server->server.stop(); },
    [](GrapnelHttpServer* server) { delete server; },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const GrapnelHttpApi* GrapnelHttpEntry(
    int32_t version) {
  return version == GRAPNEL_HTTP_API_VERSION ? &kApi : nullptr;
}
