#include "lib/serve/http/module/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

namespace grapnel_http {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr size_t kReadSize = 16 << 10;

std::string Text(std::chrono::seconds time) { return std::to_string(time.count()) + " s"; }

void AddHeader(void* state, const char* name, const char* value) {
  try {
    static_cast<Answer*>(state)->headers.emplace_back(name, value);
  } catch (const std::exception&) {  // there is no memory: the answer lacks this header
  }
}

void Send(void* state, int32_t status, const char* type, const char* body, size_t size) {
  auto* answer = static_cast<Answer*>(state);
  try {
    answer->type = type;
    answer->body.assign(body, size);
    answer->status = status;
  } catch (const std::exception&) {
    *answer = Answer::Refusal(503, "there is no memory for the answer");
  }
}

}  // namespace

Connection::Connection(HttpServer& server, asio::ip::tcp::socket socket)
    : server_(server),
      socket_(std::move(socket)),
      deadline_(server.io()),
      place_(server.Enter(this)) {}

Connection::~Connection() {
  Hold(0);
  server_.Leave(place_);
}

void Connection::Enter(Phase phase) {
  phase_ = phase;
  since_ = Clock::now();
}

void Connection::SetDeadline(Clock::time_point time) {
  deadline_.expires_at(time);
  deadline_.async_wait([weak = weak_from_this()](ErrorCode error) {
    auto self = weak.lock();
    // This handler may run even though the deadline has been postponed since.
    if (!error && self && self->deadline_.expiry() <= Clock::now()) self->OnDeadline();
  });
}

void Connection::OnDeadline() {
  if (phase_ == Phase::kHead)
    return Refuse(Answer::Refusal(408, "the headers did not come within " + Text(kHeaderTime)));
  if (phase_ == Phase::kBody)
    return Refuse(Answer::Refusal(408, "the body came too slowly: nothing for " +
                                           Text(kBetweenBytes) + ", or not all of it within " +
                                           Text(kBodyTime)));
  if (phase_ != Phase::kWorking) Close();
}

void Connection::Close() {
  Enter(Phase::kClosed);
  Hold(0);
  ErrorCode ignored;
  socket_.close(ignored);
  deadline_.cancel();
}

void Connection::NextRequest() {
  parser_.emplace();
  parser_->header_limit(kMostHeaderBytes);
  parser_->body_limit(UINT64_MAX);  // no limit until Admit(); Boost 1.74 treats boost::none as 0
  asked_ = {};
  answer_ = {};
  Enter(Phase::kIdle);
  if (buffer_.size() > 0) return Parse();
  SetDeadline(since_ + kIdleTime);
  Receive();
}

void Connection::Receive() {
  socket_.async_read_some(
      buffer_.prepare(kReadSize),
      [self = shared_from_this()](ErrorCode error, size_t size) { self->OnReceived(error, size); });
}

void Connection::OnReceived(ErrorCode error, size_t size) {
  if (error == asio::error::operation_aborted || phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kWriting) return;  // the request was just refused
  if (error) return Close();
  if (phase_ == Phase::kLingering) return Receive();  // drops the data
  buffer_.commit(size);
  Parse();
}

void Connection::Parse() {
  try {
    if (phase_ == Phase::kIdle) {
      Enter(Phase::kHead);
      SetDeadline(since_ + kHeaderTime);
    }
    if (phase_ == Phase::kHead)
      ParseHead();
    else
      ParseBody();
  } catch (const std::exception&) {
    Refuse(Answer::Refusal(503, "there is no memory for the request"));
  }
}

void Connection::ParseHead() {
  ErrorCode error;
  buffer_.consume(parser_->put(buffer_.data(), error));
  if (error == http::error::need_more) return Receive();
  if (error) return Refuse(NoRequest(error));
  if (auto refusal = ReadHead(*parser_, &asked_)) {
    may_go_on_ = false;
    return Refuse(std::move(*refusal));
  }
  Admit();
}

void Connection::Admit() {
  GrapnelHttpRequest request = View(nullptr);
  Answer refusal;
  GrapnelHttpReply reply = {&refusal, AddHeader, Send};
  const Callbacks& call = server_.callbacks();
  if (!call.admit(call.context, &request, &admission_, &reply)) return Refuse(std::move(refusal));
  if (parser_->is_done()) return Work();
  parser_->body_limit(admission_.body_limit);
  parser_->eager(true);
  Enter(Phase::kBody);
  if (!asked_.wants_continue) return ParseBody();
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  SetDeadline(since_ + kBetweenBytes);
  asio::async_write(socket_, asio::buffer(kContinue),
                    [self = shared_from_this()](ErrorCode error, size_t) {
                      if (self->phase_ != Phase::kBody) return;
                      if (error) return self->Close();
                      self->Parse();
                    });
}

void Connection::ParseBody() {
  while (!parser_->is_done() && buffer_.size() > 0) {
    ErrorCode error;
    size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error == http::error::need_more || (!error && used == 0)) {
      if (buffer_.size() < kMostHeaderBytes) break;
      return Refuse(
          Answer::Refusal(400, "a line in the chunked body is longer than grapnel reads: 16 KiB"));
    }
    if (error) return Refuse(NoRequest(error));
    if (!Hold(parser_->get().body().size()))
      return Refuse(Answer::Refusal(
          503, "the requests and answers in progress are too large: try again later"));
  }
  if (parser_->is_done()) return Work();
  SetDeadline(std::min(Clock::now() + kBetweenBytes, since_ + kBodyTime));
  Receive();
}

GrapnelHttpRequest Connection::View(const GrapnelHttpAdmission* admission) {
  const std::string& body = parser_->get().body();
  size_t size = body.size();
  if (auto length = parser_->content_length(); length && !parser_->is_done()) size = *length;
  return {asked_.method.c_str(),
          asked_.path.c_str(),
          asked_.host.c_str(),
          asked_.origin.c_str(),
          asked_.token.c_str(),
          body.data(),
          size,
          admission,
          this,
          [](void* state) -> int32_t { return static_cast<Connection*>(state)->gone_; }};
}

void Connection::Work() {
  Enter(Phase::kWorking);
  deadline_.cancel();
  if (admission_.worker_class == GRAPNEL_HTTP_WORK) WatchForHangUp();
  auto task = [self = shared_from_this()]() mutable { MakeAnswer(std::move(self)); };
  if (server_.Give(admission_.worker_class, std::move(task))) return;
  answer_ = Answer::Refusal(503, "too many requests are waiting: try again later");
  answer_.headers.emplace_back("Retry-After", "1");
  Respond();
}

// Sets gone_ if the client closes the connection, so that work for its answer can stop.
void Connection::WatchForHangUp() {
  socket_.async_wait(
      boost::asio::ip::tcp::socket::wait_read, [self = shared_from_this()](ErrorCode error) {
        if (error || self->phase_ != Phase::kWorking) return;
        char next = 0;
        ssize_t size = recv(self->socket_.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
        if (size == 0 || (size < 0 && errno != EAGAIN)) self->SetGone();
      });
}

// Makes the answer on a worker thread, then passes `self` back to the server's thread, on which the
// connection must be destroyed.
void Connection::MakeAnswer(std::shared_ptr<Connection> self) {
  if (!self->gone_) {
    GrapnelHttpRequest request = self->View(&self->admission_);
    GrapnelHttpReply reply = {&self->answer_, AddHeader, Send};
    const Callbacks& call = self->server_.callbacks();
    call.handler(call.context, &request, &reply);
    try {
      Compress(self->asked_.accepted, &self->answer_);
    } catch (const std::exception&) {  // the answer is sent uncompressed then
    }
  }
  asio::io_context& io = self->server_.io();
  asio::post(io, [self = std::move(self)] { self->Respond(); });
}

void Connection::Refuse(Answer answer) {
  ErrorCode ignored;
  socket_.cancel(ignored);
  answer_ = std::move(answer);
  Respond();
}

void Connection::Respond() {
  if (gone_ || answer_.status == 0) return Close();
  ErrorCode ignored;
  if (phase_ == Phase::kWorking && admission_.worker_class == GRAPNEL_HTTP_WORK)
    socket_.cancel(ignored);
  // Keep the connection only if the whole request was read: unread bytes would be parsed as the
  // next request.
  keeps_alive_ = may_go_on_ && parser_ && parser_->is_done() && parser_->get().keep_alive() &&
                 ++num_requests_ < kMostRequests;
  if (parser_) std::string().swap(parser_->get().body());
  if (!Hold(answer_.body.size()))
    answer_ =
        Answer::Refusal(503, "the requests and answers in progress are too large: try again later");
  head_ = HeadOf(answer_, keeps_alive_);
  if (asked_.method == "HEAD") answer_.body.clear();
  sent_ = 0;
  Enter(Phase::kWriting);
  SendPiece();
}

void Connection::SendPiece() {
  SetDeadline(Clock::now() + kPieceTime);
  size_t size = std::min(kPiece, answer_.body.size() - sent_);
  std::array<asio::const_buffer, 2> pieces = {asio::buffer(head_),
                                              asio::buffer(answer_.body.data() + sent_, size)};
  asio::async_write(socket_, pieces, [self = shared_from_this(), size](ErrorCode error, size_t) {
    if (self->phase_ != Phase::kWriting) return;
    if (error) return self->Close();
    self->head_.clear();
    self->sent_ += size;
    if (self->sent_ < self->answer_.body.size()) return self->SendPiece();
    self->OnSent();
  });
}

// Reads the next request, or keeps reading for kLingerTime before closing the connection: if it
// were closed at once, a client that still sends would not receive the answer.
void Connection::OnSent() {
  answer_ = {};
  Hold(0);
  if (keeps_alive_) return NextRequest();
  ErrorCode ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  buffer_.clear();
  Enter(Phase::kLingering);
  SetDeadline(since_ + kLingerTime);
  Receive();
}

bool Connection::Hold(size_t size) {
  if (!server_.Hold(*this, size)) return false;
  held_ = size;
  return true;
}

}  // namespace grapnel_http
