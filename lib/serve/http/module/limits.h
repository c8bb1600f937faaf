// Limits on the resources that clients may use. A number at the end of a line is the HTTP status
// with which the server answers a request that exceeds the limit.
#ifndef GRAPNEL_LIB_SERVE_HTTP_MODULE_LIMITS_H_
#define GRAPNEL_LIB_SERVE_HTTP_MODULE_LIMITS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace grapnel_http {

using std::chrono::seconds;

constexpr size_t kMostConnections = 2000;        // with more, the slowest client is disconnected
constexpr uint32_t kMostHeaderBytes = 16 << 10;  // request line and headers: 431
constexpr size_t kMostTargetBytes = 8 << 10;     // path and query: 414
constexpr size_t kMostRequests = 1000;           // requests on one connection

// Total size of the request bodies and unsent answers of all clients. Beyond that, a body or answer
// of more than kPiece bytes is refused (503); for a smaller one, the slowest client with such bytes
// is disconnected. One that alone exceeds the limit is accepted if there is no other.
constexpr size_t kMostHeldBytes = size_t{320} << 20;

constexpr seconds kIdleTime(5);      // between requests: the connection is closed silently
constexpr seconds kHeaderTime(10);   // from the first byte to the end of the headers: 408
constexpr seconds kBetweenBytes(5);  // between the bytes of a body: 408
constexpr seconds kBodyTime(60);     // for a whole body: 408
constexpr size_t kPiece = 1 << 20;   // bytes of an answer sent at once
constexpr seconds kPieceTime(10);  // for a client to receive kPiece bytes: the connection is closed
constexpr seconds kLingerTime(1);  // for a client that still sends to read the answer

// Numbers of threads, and of requests that may wait for a thread; beyond that: 503.
struct WorkerQueueSize {
  size_t threads, waiting;
};
constexpr WorkerQueueSize kQueueSizes[] = {
    {2, 2000}, {4, 2000}, {1, 200}, {2, 32}};  // by worker class (api.h)

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_LIMITS_H_
