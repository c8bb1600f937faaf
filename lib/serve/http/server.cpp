#include "lib/serve/http/server.h"

#include <sys/random.h>

#include "lib/serve/http/api.h"
#include "lib/support/loadable_module.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

Expected<const GrapnelHttpApi*> HttpModule() {
  auto opened = OpenModule<GrapnelHttpApi, GrapnelHttpEntryFn>(
      {"grapnel_http.so", GRAPNEL_HTTP_ENTRY, nullptr}, GRAPNEL_HTTP_API_VERSION);
  if (opened.api) return opened.api;
  return MakeError("cannot serve: {0}", opened.problem);
}

static_assert(static_cast<int>(WorkerClass::kAtOnce) == GRAPNEL_HTTP_AT_ONCE &&
              static_cast<int>(WorkerClass::kDocument) == GRAPNEL_HTTP_DOCUMENT &&
              static_cast<int>(WorkerClass::kStart) == GRAPNEL_HTTP_START &&
              static_cast<int>(WorkerClass::kWork) == GRAPNEL_HTTP_WORK);

static_assert(FoundRoute::kMostParameters == std::extent_v<decltype(GrapnelHttpAdmission::values)>);

WebRequest RequestOf(const GrapnelHttpRequest& asked) {
  WebRequest request{asked.method, asked.path, asked.host, asked.origin, asked.token};
  request.body_size = asked.body_size;
  return request;
}

void Send(const WebAnswer& answer, const GrapnelHttpReply& reply) {
  for (const auto& [name, value] : answer.headers)
    reply.header(reply.state, name.c_str(), value.c_str());
  reply.send(reply.state, answer.status, answer.type.c_str(), answer.body.data(),
             answer.body.size());
}

// Says that memory is short; allocates none itself.
void SendFailure(const GrapnelHttpReply& reply) {
  constexpr llvm::StringLiteral kWhy = "there is not enough memory";
  reply.send(reply.state, 503, "text/plain; charset=utf-8", kWhy.data(), kWhy.size());
}

int32_t Admit(void* context, const GrapnelHttpRequest* asked, GrapnelHttpAdmission* admission,
              const GrapnelHttpReply* reply) {
  try {
    HeaderCheck made = static_cast<Router*>(context)->Admit(RequestOf(*asked));
    *admission = {made.body_limit, static_cast<int32_t>(made.worker_class), made.route.row, {}};
    llvm::copy(made.route.values, admission->values);
    if (!made.refusal) return 1;
    Send(*made.refusal, *reply);
  } catch (const std::exception&) {
    SendFailure(*reply);
  }
  return 0;
}

void Handle(void* context, const GrapnelHttpRequest* asked, const GrapnelHttpReply* reply) {
  try {
    WebRequest request = RequestOf(*asked);
    request.body = {asked->body, asked->body_size};
    request.is_gone = [asked] { return asked->is_gone(asked->state) != 0; };
    FoundRoute route{static_cast<const RouteRow*>(asked->admission->route)};
    llvm::copy(asked->admission->values, route.values.begin());
    Send(static_cast<Router*>(context)->Answer(request, route), *reply);
  } catch (const std::exception&) {
    SendFailure(*reply);
  }
}

}  // namespace

Expected<std::string> MakeToken() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    return MakeError("cannot make a token: the system provides no random numbers");
  std::string token;
  for (unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

struct Server::State {
  const GrapnelHttpApi* api;
  GrapnelHttpServer* server;
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() { state_->api->close(state_->server); }

Expected<std::unique_ptr<Server>> Server::Listen(Router& router, int port) {
  ASSIGN_OR_RETURN(const GrapnelHttpApi* api, HttpModule());
  char error[256] = "";
  GrapnelHttpServer* server = api->open(port, Handle, Admit, &router, error, sizeof error);
  if (!server) return MakeError("{0}", error);
  return std::unique_ptr<Server>(new Server(std::make_unique<State>(State{api, server})));
}

int Server::port() const { return state_->api->port(state_->server); }
void Server::Run() { state_->api->run(state_->server); }
void Server::Stop() { state_->api->stop(state_->server); }

}  // namespace grapnel
