// Listens, lists the connections, and runs the threads that make answers.
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

// The thread of Run reads and writes for all clients and never blocks on one of them, so a slow
// client costs a connection but no thread. Work that takes time runs on worker threads, each
// of which has its request to itself until the answer is done. The threads share
// only the worker queues and Connection::gone_.
class HttpServer {
 public:
  // Throws boost::system::system_error if the port is in use, or the process may not use it.
  HttpServer(uint16_t port, const Callbacks& callbacks);
  int port() const { return port_; }
  void Run();
  void Stop() { io_.stop(); }  // may be called from any thread

  // Only Connection calls the functions from here on. io() and callbacks() may be called from any
  // thread, the others on the thread of Run().
  boost::asio::io_context& io() { return io_; }
  const Callbacks& callbacks() const { return callbacks_; }
  bool Give(int worker_class, WorkerQueue::Task task) {
    return queues_[worker_class].Give(std::move(task));
  }
  // Records that a body or answer of `size` bytes is in memory for a connection, instead of what
  // was recorded before. If this is more than before, others have such bytes, and the total would
  // exceed kMostHeldBytes, disconnects the slowest of the other clients with such bytes; returns
  // false, and records nothing, if none is left or `size` exceeds kPiece.
  bool Hold(const Connection& connection, size_t size);
  std::list<Connection*>::iterator Enter(Connection* connection);
  void Leave(std::list<Connection*>::iterator place) { connections_.erase(place); }

 private:
  void Accept();
  void OnAccept(boost::asio::ip::tcp::socket socket);
  bool EvictSlowest(bool holds_bytes, const Connection* but);

  const Callbacks callbacks_;
  size_t held_ = 0;
  std::list<Connection*> connections_;  // oldest first; owned by handlers
  std::array<WorkerQueue, GRAPNEL_HTTP_WORKER_CLASSES> queues_;
  // Must be destroyed before the members above: its destructor destroys the handlers that did not
  // run, and so their connections, which use these members.
  boost::asio::io_context io_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer retry_;
  int port_;
};

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_HTTP_SERVER_H_
