// What a request's head asks for, and what is wrong with it.
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

// As api.h's GrapnelHttpRequest has it.
struct Asked {
  std::string method, path, host, origin, token;
  std::string accepted;  // Accept-Encoding
  bool wants_continue = false;
};

// Of a head that is read whole. Refuses a head that two readers could take for two things, bodies
// that are compressed or a form, which no page of ours sends, and expectations that nobody meets.
std::optional<Answer> ReadHead(const Parser& parser, Asked* asked);

// The refusal of bytes that are no request.
Answer NoRequest(const boost::beast::error_code& error);

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_REQUEST_H_
