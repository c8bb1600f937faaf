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

// Owns the fields of GrapnelHttpRequest (api.h).
struct Asked {
  std::string method, path, host, origin, token;
  std::string accepted;  // the header Accept-Encoding
  bool wants_continue = false;
};

// Reads a complete head into `asked`; returns a refusal for ambiguous heads (request smuggling),
// for an address that is too long or wrongly encoded, for a POST whose body has no length and is
// not chunked, for compressed bodies and forms, which grapnel's page never sends, and for a header
// Expect other than "100-continue".
std::optional<Answer> ReadHead(const Parser& parser, Asked* asked);

// Returns the refusal for an error of the parser: bytes that are not an HTTP request, headers or a
// body that are too long, or another version of HTTP.
Answer NoRequest(const boost::beast::error_code& error);

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_REQUEST_H_
