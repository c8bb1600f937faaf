#include "lib/serve/http/module/request.h"

#include "lib/serve/http/module/limits.h"

namespace grapnel_http {
namespace {

namespace http = boost::beast::http;
using boost::beast::iequals;
using http::field;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Decodes %XX; nullopt for a '%' without two hexadecimal digits, or for a NUL byte.
std::optional<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      int low = high < 0 ? -1 : HexDigit(text[i + 2]);
      if (low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == 0) return std::nullopt;
    decoded += c;
  }
  return decoded;
}

// Returns the first value of the parameter `name` in a query, decoded; "" if there is none.
std::optional<std::string> Parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    size_t end = std::min(query.find('&'), query.size());
    std::string_view item = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    size_t equals = std::min(item.find('='), item.size());
    if (item.substr(0, equals) != name) continue;
    return Decode(item.substr(std::min(equals + 1, item.size())), true);
  }
  return "";
}

std::optional<Answer> ReadTarget(std::string_view target, Asked* asked) {
  if (target.size() > kMostTargetBytes)
    return Answer::Refusal(414, "the address is longer than grapnel reads: 8 KiB");
  size_t question = std::min(target.find('?'), target.size());
  auto path = Decode(target.substr(0, question), false);
  auto token = Parameter(target.substr(std::min(question + 1, target.size())), "token");
  if (!path || !token)
    return Answer::Refusal(400, "the address has a '%' without two hexadecimal digits, or a NUL");
  asked->path = std::move(*path);
  if (asked->token.empty()) asked->token = std::move(*token);
  return std::nullopt;
}

bool IsNumber(boost::beast::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

std::optional<Answer> RefuseFraming(const Parser& parser) {
  const auto& head = parser.get();
  for (field once : {field::host, field::content_length, field::transfer_encoding}) {
    if (head.count(once) > 1)
      return Answer::Refusal(400, std::string(http::to_string(once)) + " may occur only once");
  }
  bool has_length = head.count(field::content_length) > 0;
  if (has_length && !IsNumber(head[field::content_length]))
    return Answer::Refusal(400, "Content-Length has to be one number");
  if (head.count(field::transfer_encoding) > 0 &&
      (has_length || !iequals(head[field::transfer_encoding], "chunked")))
    return Answer::Refusal(400,
                           "a body needs either Content-Length or 'Transfer-Encoding: chunked'");
  if (head.method() == http::verb::post && !has_length && !parser.chunked())
    return Answer::Refusal(411, "a POST needs the length of its body");
  if (head.count(field::content_encoding) > 0 &&
      !iequals(head[field::content_encoding], "identity"))
    return Answer::Refusal(415, "send the body uncompressed");
  boost::beast::string_view type = head[field::content_type];
  if (iequals(type.substr(0, 10), "multipart/"))
    return Answer::Refusal(415, "send the body without a form: grapnel accepts no forms");
  return std::nullopt;
}

}  // namespace

std::optional<Answer> ReadHead(const Parser& parser, Asked* asked) {
  const auto& head = parser.get();
  auto text = [&](auto name) { return std::string(head[name]); };
  asked->method = std::string(head.method_string());
  asked->host = text(field::host);
  asked->origin = text(field::origin);
  asked->token = text("X-Grapnel-Token");
  asked->accepted = text(field::accept_encoding);
  if (auto refusal = RefuseFraming(parser)) return refusal;
  boost::beast::string_view target = head.target();
  if (auto refusal = ReadTarget({target.data(), target.size()}, asked)) return refusal;
  if (head.count(field::expect) == 0) return std::nullopt;
  asked->wants_continue = iequals(head[field::expect], "100-continue");
  if (asked->wants_continue) return std::nullopt;
  return Answer::Refusal(417, "grapnel supports no Expect header but 100-continue");
}

Answer NoRequest(const boost::beast::error_code& error) {
  if (error == http::error::header_limit)
    return Answer::Refusal(431, "the headers are longer than grapnel reads: 16 KiB");
  if (error == http::error::body_limit)
    return Answer::Refusal(413, "the body is longer than this request allows");
  if (error == http::error::bad_version)
    return Answer::Refusal(400, "grapnel supports only HTTP/1.1 and HTTP/1.0");
  return Answer::Refusal(400, "this is not an HTTP request: " + error.message());
}

}  // namespace grapnel_http
