// Listens, keeps the connections, and has the threads that make answers.
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

// One thread, that of Run, reads and writes for every client, without ever waiting for one: so a
// slow client costs a connection and no thread. What takes time is done by the lanes' threads,
// which have a request to themselves while they make its answer. Nothing is shared but the lanes'
// queues and Connection's flag that its client has gone.
class HttpServer {
 public:
  // Throws boost::system::system_error: the port is taken, or not allowed.
  HttpServer(uint16_t port, const Callbacks& callbacks);
  int port() const { return port_; }
  void Run();
  void Stop() { io_.stop(); }  // any thread's

  // For connections, on Run's thread.
  boost::asio::io_context& io() { return io_; }
  const Callbacks& callbacks() const { return callbacks_; }
  bool Give(int worker_class, WorkerQueue::Task task) { return queues_[worker_class].Give(std::move(task)); }
  // Counts the bytes that are held for a client, instead of those that were. For a few of them the
  // slowest of those that hold any has to go; else false, and counts nothing: they are too many.
  bool Hold(const Connection& connection, size_t size);
  std::list<Connection*>::iterator Enter(Connection* connection);
  void Leave(std::list<Connection*>::iterator place) { connections_.erase(place); }

 private:
  void Accept();
  void OnAccept(boost::asio::ip::tcp::socket socket);
  bool EvictSlowest(bool holds_bytes, const Connection* but);

  const Callbacks callbacks_;
  size_t held_ = 0;
  std::list<Connection*> connections_;  // the oldest first; handlers own them
  std::array<WorkerQueue, GRAPNEL_HTTP_WORKER_CLASSES> queues_;
  // Ends before what is above: handlers that never ran, and connections with them, go with it.
  boost::asio::io_context io_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer retry_;
  int port_;
};

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_HTTP_SERVER_H_
