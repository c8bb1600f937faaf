// grapnel_http.so: an HTTP server that implements lib/serve/http/api.h.
//
// Uses Boost.Beast's parser on Asio. The server must check a request's headers before it reads any
// of the body, must not block a thread on a client that sends or reads slowly, and must be able to
// stop whatever clients do. cpp-httplib reads and decompresses bodies first and has a thread for
// each connection; libmicrohttpd's time limits restart with every byte, so that 100 clients that
// send one byte a second block all others. Boost's headers are slow to compile, and brotli's
// encoder is another library to load: only this module, which only `serve` loads, uses them.
#include <cstdio>
#include <exception>

#include "lib/serve/http/module/http_server.h"

struct GrapnelHttpServer {
  grapnel_http::HttpServer server;
};

namespace {

GrapnelHttpServer* Open(int32_t port, GrapnelHttpHandler handler, GrapnelHttpAdmit admit,
                        void* context, char* error, int32_t error_size) {
  try {
    return new GrapnelHttpServer{{static_cast<uint16_t>(port), {handler, admit, context}}};
  } catch (const std::exception& problem) {
    std::snprintf(error, error_size, "cannot listen on 127.0.0.1:%d: %s", port, problem.what());
    return nullptr;
  }
}

constexpr GrapnelHttpApi kApi = {
    GRAPNEL_HTTP_API_VERSION,
    Open,
    [](const GrapnelHttpServer* server) { return server->server.port(); },
    [](GrapnelHttpServer* server) { server->server.Run(); },
    [](GrapnelHttpServer* server) { server->server.Stop(); },
    [](GrapnelHttpServer* server) { delete server; },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const GrapnelHttpApi* GrapnelHttpEntry(
    int32_t version) {
  return version == GRAPNEL_HTTP_API_VERSION ? &kApi : nullptr;
}
