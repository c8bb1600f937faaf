// A client that sends arbitrary bytes to a server on this machine.
#ifndef GRAPNEL_TESTS_SERVE_HTTP_CLIENT_H_
#define GRAPNEL_TESTS_SERVE_HTTP_CLIENT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

namespace grapnel {

struct HttpAnswer {
  int status = 0;  // 0: the server sent nothing more
  std::string head, body;
};

class HttpClient {
 public:
  using Clock = std::chrono::steady_clock;

  // `receive_buffer`: bytes that it receives without reading; 0: the default.
  explicit HttpClient(int port, int receive_buffer = 0) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0)
      setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  HttpClient(HttpClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), is_connected_(other.is_connected_) {}
  ~HttpClient() {
    if (fd_ >= 0) close(fd_);
  }

  bool is_connected() const { return is_connected_; }
  // The number of bytes that the server, or the system for it, accepts until it blocks for more
  // than 100 ms.
  size_t Send(const std::string& bytes) {
    size_t sent = 0;
    while (sent < bytes.size() && Wait(POLLOUT, std::chrono::milliseconds(100))) {
      ssize_t size =
          send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (size <= 0) break;
      sent += static_cast<size_t>(size);
    }
    return sent;
  }
  void EndSending() { shutdown(fd_, SHUT_WR); }
  // The next answer, if it begins in time.
  HttpAnswer Receive(std::chrono::milliseconds time = std::chrono::seconds(5),
                     bool has_body = true) {
    HttpAnswer answer;
    size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!More(time)) return answer;
    }
    answer.head = received_.substr(0, end);
    received_.erase(0, end + 4);
    answer.status = std::atoi(answer.head.substr(answer.head.find(' ') + 1).c_str());
    size_t length = 0;
    if (size_t at = answer.head.find("Content-Length: "); at != std::string::npos && has_body)
      length = std::strtoull(answer.head.c_str() + at + 16, nullptr, 10);
    while (received_.size() < length && More(time)) {
    }
    answer.body = received_.substr(0, length);
    received_.erase(0, length);
    return answer;
  }
  HttpAnswer Ask(const std::string& request) {
    Send(request);
    return Receive();
  }
  // True if the server hangs up in time.
  bool IsHungUp(std::chrono::milliseconds time) {
    while (Wait(POLLIN, time)) {
      char bytes[4096];
      if (recv(fd_, bytes, sizeof bytes, 0) <= 0) return true;
    }
    return false;
  }

 private:
  bool Wait(int16_t events, std::chrono::milliseconds time) {
    pollfd waited = {fd_, events, 0};
    return poll(&waited, 1, static_cast<int>(time.count())) > 0;
  }
  bool More(std::chrono::milliseconds time) {
    char bytes[65536];
    ssize_t size = Wait(POLLIN, time) ? recv(fd_, bytes, sizeof bytes, 0) : 0;
    if (size > 0) received_.append(bytes, static_cast<size_t>(size));
    return size > 0;
  }

  int fd_;
  bool is_connected_ = false;
  std::string received_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_SERVE_HTTP_CLIENT_H_
