// Reads and validates the head of a request.
#ifndef GRAPNEL_LIB_SERVE_HTTP_MODULE_REQUEST_H_
#define GRAPNEL_LIB_SERVE_HTTP_MODULE_REQUEST_H_

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "lib/serve/http/module/answer.h"

namespace grapnel_http {

using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

// The fields of api.h's GrapnelHttpRequest.
struct Asked {
  std::string method, path, host, origin, token;
  std::string accepted;  // Accept-Encoding
  bool wants_continue = false;
};

// Reads a complete head. Refuses ambiguous heads (request smuggling), compressed bodies and forms,
// which our page never sends, and unsupported expectations.
std::optional<Answer> ReadHead(const Parser& parser, Asked* asked);

// The refusal of bytes that are not a request.
Answer NoRequest(const boost::beast::error_code& error);

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_REQUEST_H_
