// Limits on what one client may use of the server.
#ifndef GRAPNEL_LIB_SERVE_HTTP_MODULE_LIMITS_H_
#define GRAPNEL_LIB_SERVE_HTTP_MODULE_LIMITS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace grapnel_http {

using std::chrono::seconds;

constexpr size_t kMostConnections = 2000;        // beyond that, the slowest client is disconnected
constexpr uint32_t kMostHeaderBytes = 16 << 10;  // request line and headers: 431
constexpr size_t kMostTargetBytes = 8 << 10;     // path and query alone: 414
constexpr size_t kMostRequests = 1000;           // on one connection

// Bodies that are stored and answers in transit, of all clients together. Beyond that: 503, or for
// less than kPiece bytes, the slowest client that holds any is disconnected. A single item larger
// than this is accepted when nothing else is held.
constexpr size_t kMostHeldBytes = size_t{320} << 20;

constexpr seconds kIdleTime(5);      // between requests: closed silently
constexpr seconds kHeaderTime(10);   // from the first byte to the end of the headers: 408
constexpr seconds kBetweenBytes(5);  // within a body: 408
constexpr seconds kBodyTime(60);     // for a whole body: 408
constexpr size_t kPiece = 1 << 20;   // bytes of an answer sent at once
constexpr seconds kPieceTime(10);    // for a client to receive one: the connection is cut
constexpr seconds kLingerTime(1);    // for a client that still sends to read its refusal

// Threads, and requests that may wait for one; beyond that: 503.
struct WorkerQueueSize {
  size_t threads, waiting;
};
constexpr WorkerQueueSize kQueueSizes[] = {
    {2, 2000}, {4, 2000}, {1, 200}, {2, 32}};  // by class of api.h

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_LIMITS_H_
