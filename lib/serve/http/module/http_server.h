// Listens, owns the connections, and runs the threads that make answers.
#ifndef GRAPNEL_LIB_SERVE_HTTP_MODULE_HTTP_SERVER_H_
#define GRAPNEL_LIB_SERVE_HTTP_MODULE_HTTP_SERVER_H_

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>

#include "lib/serve/http/api.h"
#include "lib/serve/http/module/worker_queue.h"

namespace grapnel_http {

class Connection;

struct Callbacks {
  GrapnelHttpHandler handler;
  GrapnelHttpAdmit admit;
  void* context;
};

// A single thread, that of Run, reads and writes for every client and never blocks on one, so a
// slow client costs a connection but no thread. Work that takes time runs on worker threads, each
// of which has its request to itself until the answer is done. Only the worker queues and
// Connection's flag for a client that has gone are shared.
class HttpServer {
 public:
  // Throws boost::system::system_error if the port is taken, or not allowed.
  HttpServer(uint16_t port, const Callbacks& callbacks);
  int port() const { return port_; }
  void Run();
  void Stop() { io_.stop(); }  // from any thread

  // For connections, on Run's thread.
  boost::asio::io_context& io() { return io_; }
  const Callbacks& callbacks() const { return callbacks_; }
  bool Give(int worker_class, WorkerQueue::Task task) {
    return queues_[worker_class].Give(std::move(task));
  }
  // Sets the number of bytes held for a client. If the total is too large and `size` is small,
  // disconnects the slowest clients that hold bytes; otherwise returns false and counts nothing.
  bool Hold(const Connection& connection, size_t size);
  std::list<Connection*>::iterator Enter(Connection* connection);
  void Leave(std::list<Connection*>::iterator place) { connections_.erase(place); }

 private:
  void Accept();
  void OnAccept(boost::asio::ip::tcp::socket socket);
  bool EvictSlowest(bool holds_bytes, const Connection* but);

  const Callbacks callbacks_;
  size_t held_ = 0;
  std::list<Connection*> connections_;  // oldest first; handlers own them
  std::array<WorkerQueue, GRAPNEL_HTTP_WORKER_CLASSES> queues_;
  // Destroyed before the members above: destroys the handlers that never ran, with their
  // connections.
  boost::asio::io_context io_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer retry_;
  int port_;
};

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_HTTP_SERVER_H_
