// What one client may take of the server.
#ifndef GRAPNEL_LIB_SERVE_HTTP_MODULE_LIMITS_H_
#define GRAPNEL_LIB_SERVE_HTTP_MODULE_LIMITS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace grapnel_http {

using std::chrono::seconds;

constexpr size_t kMostConnections = 2000;        // with one more, the slowest client's has to go
constexpr uint32_t kMostHeaderBytes = 16 << 10;  // a request's line and headers: 431
constexpr size_t kMostTargetBytes = 8 << 10;     // of them path and query: 414
constexpr size_t kMostRequests = 1000;           // on one connection

// Bodies that are kept and answers that are on their way, of all clients together: 503, but for
// those below kPiece, for which the slowest client that holds any has to go. One that alone is
// longer has its turn when nothing else is there.
constexpr size_t kMostHeldBytes = size_t{320} << 20;

constexpr seconds kIdleTime(5);      // between requests: closed without a word
constexpr seconds kHeaderTime(10);   // from the first byte to the end of the headers: 408
constexpr seconds kBetweenBytes(5);  // of a body: 408
constexpr seconds kBodyTime(60);     // for all of it: 408
constexpr size_t kPiece = 1 << 20;   // of an answer
constexpr seconds kPieceTime(10);    // for a client to take one: the connection is cut
constexpr seconds kLingerTime(1);    // for it to read why it was refused while it still sends

// Threads, and requests that may wait for one: 503.
struct WorkerQueueSize {
  size_t threads, waiting;
};
constexpr WorkerQueueSize kQueueSizes[] = {{2, 2000}, {4, 2000}, {1, 200}, {2, 32}};  // by class of api.h

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_LIMITS_H_
