// An answer as it goes over the wire.
#ifndef GRAPNEL_LIB_SERVE_HTTP_MODULE_ANSWER_H_
#define GRAPNEL_LIB_SERVE_HTTP_MODULE_ANSWER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace grapnel_http {

struct Answer {
  int status = 0;  // 0: there is none
  std::string type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;

  static Answer Refusal(int status, std::string_view why);
};

// Makes the body smaller, for text that is sent to who says by Accept-Encoding that it reads brotli
// or gzip; brotli goes first.
void Compress(std::string_view accepted, Answer* answer);

// Status line and headers, these in alphabetical order, with what follows from the body.
std::string HeadOf(const Answer& answer, bool keeps_alive);

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_ANSWER_H_
