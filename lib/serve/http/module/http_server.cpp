#include "lib/serve/http/module/http_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <exception>

#include "lib/serve/http/module/connection.h"

namespace grapnel_http {

namespace asio = boost::asio;
using asio::ip::tcp;

HttpServer::HttpServer(uint16_t port, const Callbacks& callbacks)
    : callbacks_(callbacks),
      queues_{WorkerQueue(kQueueSizes[0]), WorkerQueue(kQueueSizes[1]), WorkerQueue(kQueueSizes[2]),
              WorkerQueue(kQueueSizes[3])},
      acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), port)),
      retry_(io_),
      port_(acceptor_.local_endpoint().port()) {}

void HttpServer::Run() {
  Accept();
  // Raise the limit on open files: each connection needs a file descriptor, and many systems allow
  // a program only 1024 by default.
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  rlim_t wanted = std::min<rlim_t>(files.rlim_max, 2 * kMostConnections);
  files.rlim_cur = std::max(files.rlim_cur, wanted);
  setrlimit(RLIMIT_NOFILE, &files);
  for (;;) {
    try {
      io_.run();
      break;
    } catch (const std::exception&) {
      // Not enough memory for one client: its handler, which owned the connection, is gone. Go on
      // with the other clients.
    }
  }
  for (Connection* connection : connections_) connection->SetGone();
  for (WorkerQueue& queue : queues_) queue.Stop();
}

void HttpServer::Accept() {
  acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
    if (!error) {
      try {
        OnAccept(std::move(socket));
      } catch (const std::exception&) {  // memory is short for the connection
      }
      return Accept();
    }
    // Most likely there are no more file descriptors. Disconnecting the slowest client frees one;
    // then try again.
    EvictSlowest(false, nullptr);
    retry_.expires_after(std::chrono::milliseconds(50));
    retry_.async_wait([this](boost::system::error_code) { Accept(); });
  });
}

void HttpServer::OnAccept(tcp::socket socket) {
  bool has_room = connections_.size() < kMostConnections || EvictSlowest(false, nullptr);
  boost::system::error_code ignored;
  // Many answers are small: waiting to fill a packet would cost 40 ms each.
  socket.set_option(tcp::no_delay(true), ignored);
  auto connection = std::make_shared<Connection>(*this, std::move(socket));
  if (has_room) return connection->NextRequest();
  connection->Refuse(Answer::Refusal(503, "too many clients are waiting: try again later"));
}

// Closes the connection, other than `but`, whose client the server has waited for the longest. If
// `holds_bytes`, considers only connections with a request body or an answer in memory. Returns
// false if there is no such connection.
bool HttpServer::EvictSlowest(bool holds_bytes, const Connection* but) {
  Connection* slowest = nullptr;
  for (Connection* connection : connections_) {
    if (connection == but || !connection->KeepsWaiting()) continue;
    if (holds_bytes && connection->held() == 0) continue;
    if (!slowest || connection->since() < slowest->since()) slowest = connection;
  }
  if (slowest) slowest->Close();
  return slowest != nullptr;
}

bool HttpServer::Hold(const Connection& connection, size_t size) {
  auto fits = [&] {
    size_t others = held_ - connection.held();
    return others == 0 || size <= connection.held() || others + size <= kMostHeldBytes;
  };
  while (!fits()) {
    if (size > kPiece || !EvictSlowest(true, &connection)) return false;
  }
  held_ += size - connection.held();
  return true;
}

std::list<Connection*>::iterator HttpServer::Enter(Connection* connection) {
  return connections_.insert(connections_.end(), connection);
}

}  // namespace grapnel_http
