// One client's connection, which answers the client's requests one after another.
#ifndef GRAPNEL_LIB_SERVE_HTTP_MODULE_CONNECTION_H_
#define GRAPNEL_LIB_SERVE_HTTP_MODULE_CONNECTION_H_

#include <atomic>
#include <boost/beast/core/flat_buffer.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "lib/serve/http/module/answer.h"
#include "lib/serve/http/module/http_server.h"
#include "lib/serve/http/module/request.h"

namespace grapnel_http {

// All functions except SetGone, MakeAnswer and View must be called on the thread of
// HttpServer::Run. The handlers that wait for the socket, and the task that makes the answer, own
// the connection; the last of them destroys it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(HttpServer& server, boost::asio::ip::tcp::socket socket);
  ~Connection();
  void NextRequest();
  // Sends an answer instead of processing the request. Closes the connection after that if the
  // request was not read completely, or ReadHead refused it.
  void Refuse(Answer answer);
  void Close();
  // True while the server waits for the client to send or receive; since() is the time at which
  // this wait began.
  bool KeepsWaiting() const { return phase_ != Phase::kWorking && phase_ != Phase::kClosed; }
  Clock::time_point since() const { return since_; }
  size_t held() const { return held_; }  // bytes that count against the server's limit
  void SetGone() { gone_ = true; }

 private:
  enum class Phase { kIdle, kHead, kBody, kWorking, kWriting, kLingering, kClosed };
  using ErrorCode = boost::system::error_code;

  void Enter(Phase phase);
  void SetDeadline(Clock::time_point time);
  void OnDeadline();
  void Receive();
  void OnReceived(ErrorCode error, size_t size);
  void Parse();
  void ParseHead();
  void Admit();
  void ParseBody();
  void Work();
  void WatchForHangUp();
  // Runs on a worker thread, which owns asked_, parser_ and answer_ until the answer is done.
  static void MakeAnswer(std::shared_ptr<Connection> self);
  void Respond();
  void SendPiece();
  void OnSent();
  bool Hold(size_t size);
  GrapnelHttpRequest View(const GrapnelHttpAdmission* admission);

  HttpServer& server_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer deadline_;
  const std::list<Connection*>::iterator place_;
  std::atomic<bool> gone_{false};

  Phase phase_ = Phase::kIdle;
  Clock::time_point since_;  // start of the current phase
  size_t num_requests_ = 0;
  size_t held_ = 0;

  boost::beast::flat_buffer buffer_;  // received bytes that are not parsed yet
  std::optional<Parser> parser_;
  Asked asked_;
  GrapnelHttpAdmission admission_ = {};

  bool may_go_on_ = true;  // false after ReadHead's refusal: the rest is not read as requests

  Answer answer_;
  bool keeps_alive_ = false;
  std::string head_;  // status line and headers, until they are sent
  size_t sent_ = 0;   // sent bytes of answer_'s body
};

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_CONNECTION_H_
