// grapnel_http.so: HTTP behind lib/serve/http/api.h.
//
// By Boost.Beast's parser on Asio: what serves a page here must judge a request by its headers
// before a byte of its body is read, must hold no thread for a client that is slow to send or to
// read, and must end whatever they do. cpp-httplib reads and unpacks bodies first and has a thread
// for each connection; libmicrohttpd's time limits start anew with every byte, so that 100 clients
// that send one a second keep everybody else out. Boost's headers are heavy, and brotli is a
// library more to load: both stay in this module, which only `serve` opens.
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
