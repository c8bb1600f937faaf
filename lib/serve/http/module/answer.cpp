#include "lib/serve/http/module/answer.h"

#include <brotli/encode.h>
#include <strings.h>
#include <zlib.h>

#include <algorithm>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>
#include <cstdlib>

#include "lib/serve/http/module/limits.h"

namespace grapnel_http {
namespace {

// With a higher quality, compressing would take several times as long as making the document.
constexpr int kBrotliQuality = 5;

bool IsCompressible(std::string_view type) {
  return type.substr(0, 5) == "text/" || type.substr(0, 16) == "application/json" ||
         type == "application/x-grapnel-columns";
}

// True if the encoding `name` is in `list`, an Accept-Encoding header, with a weight other than 0.
bool Accepts(std::string_view list, std::string_view name) {
  boost::beast::string_view text(list.data(), list.size()), wanted(name.data(), name.size());
  for (const auto& [coding, parameters] : boost::beast::http::ext_list(text)) {
    if (!boost::beast::iequals(coding, wanted)) continue;
    for (const auto& [key, value] : parameters)
      if (boost::beast::iequals(key, "q")) return std::atof(std::string(value).c_str()) > 0;
    return true;
  }
  return false;
}

bool Brotli(const std::string& text, std::string* packed) {
  size_t size = BrotliEncoderMaxCompressedSize(text.size());
  packed->resize(size);
  bool done =
      size > 0 && BrotliEncoderCompress(kBrotliQuality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC,
                                        text.size(), reinterpret_cast<const uint8_t*>(text.data()),
                                        &size, reinterpret_cast<uint8_t*>(packed->data()));
  packed->resize(size);
  return done;
}

// zlib's state is 256 KiB, and allocating and clearing it takes longer than compressing a small
// answer. So each thread keeps one state.
class GzipState {
 public:
  GzipState() {
    constexpr int kGzipWindow = 15 + 16;  // selects gzip in zlib
    is_made_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                            Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipState() {
    if (is_made_) deflateEnd(&stream_);
  }
  GzipState(const GzipState&) = delete;
  GzipState& operator=(const GzipState&) = delete;

  // Returns zlib's state, ready for a new body; null if memory was short.
  z_stream* Begin() { return is_made_ && deflateReset(&stream_) == Z_OK ? &stream_ : nullptr; }

 private:
  z_stream stream_ = {};
  bool is_made_;
};

bool Gzip(std::string& text, std::string* packed) {
  thread_local GzipState state;
  z_stream* stream = state.Begin();
  if (!stream) return false;
  packed->resize(deflateBound(stream, text.size()));
  stream->next_in = reinterpret_cast<Bytef*>(text.data());
  stream->next_out = reinterpret_cast<Bytef*>(packed->data());
  stream->avail_in = static_cast<uInt>(text.size());
  stream->avail_out = static_cast<uInt>(packed->size());
  bool done = deflate(stream, Z_FINISH) == Z_STREAM_END;
  packed->resize(stream->total_out);
  return done;
}

}  // namespace

Answer Answer::Refusal(int status, std::string_view why) {
  return {status,
          "text/plain; charset=utf-8",
          std::string(why),
          {{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-store"}}};
}

void Compress(std::string_view accepted, Answer* answer) {
  constexpr size_t kLongestCompressed = size_t{1} << 30;  // zlib counts in 32 bits
  if (accepted.empty() || answer->body.empty() || answer->body.size() > kLongestCompressed ||
      !IsCompressible(answer->type))
    return;
  std::string packed;
  const char* coding = nullptr;
  if (Accepts(accepted, "br") && Brotli(answer->body, &packed))
    coding = "br";
  else if (Accepts(accepted, "gzip") && Gzip(answer->body, &packed))
    coding = "gzip";
  if (!coding) return;
  answer->body = std::move(packed);
  answer->headers.emplace_back("Content-Encoding", coding);
}

std::string HeadOf(const Answer& answer, bool keeps_alive) {
  auto headers = answer.headers;
  headers.emplace_back("Content-Type", answer.type);
  headers.emplace_back("Content-Length", std::to_string(answer.body.size()));
  if (keeps_alive) {
    headers.emplace_back("Keep-Alive", "timeout=" + std::to_string(kIdleTime.count()) +
                                           ", max=" + std::to_string(kMostRequests));
  } else {
    headers.emplace_back("Connection", "close");
  }
  std::stable_sort(headers.begin(), headers.end(), [](const auto& a, const auto& b) {
    return strcasecmp(a.first.c_str(), b.first.c_str()) < 0;
  });
  auto reason = boost::beast::http::obsolete_reason(
      boost::beast::http::int_to_status(static_cast<unsigned>(answer.status)));
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " ";
  head.append(reason.data(), reason.size()).append("\r\n");
  for (const auto& [name, value] : headers)
    head.append(name).append(": ").append(value).append("\r\n");
  return head + "\r\n";
}

}  // namespace grapnel_http
