// An HTTP response.
#ifndef GRAPNEL_LIB_SERVE_HTTP_MODULE_ANSWER_H_
#define GRAPNEL_LIB_SERVE_HTTP_MODULE_ANSWER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace grapnel_http {

struct Answer {
  int status = 0;  // 0: there is no answer
  std::string type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;

  static Answer Refusal(int status, std::string_view why);
};

// Compresses the answer's body, if it is text, JSON or a table of at most 1 GiB, with brotli or
// else gzip, if `accepted` (the header Accept-Encoding) allows it.
void Compress(std::string_view accepted, Answer* answer);

// Returns the status line and the headers, in alphabetical order, including those that depend on
// the body, such as Content-Length.
std::string HeadOf(const Answer& answer, bool keeps_alive);

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_ANSWER_H_
