/* The interface between the binary and grapnel_http.so: only C types, no exceptions cross it. */
#ifndef GRAPNEL_LIB_SERVE_HTTP_API_H_
#define GRAPNEL_LIB_SERVE_HTTP_API_H_

#include <stddef.h>
#include <stdint.h>

#define GRAPNEL_HTTP_API_VERSION 5
#define GRAPNEL_HTTP_ENTRY "GrapnelHttpEntry"

#ifdef __cplusplus
extern "C" {
#endif

/* Worker classes. Each has its own threads and queue, so no request waits for another class. */
enum {
  GRAPNEL_HTTP_AT_ONCE,
  GRAPNEL_HTTP_DOCUMENT,
  GRAPNEL_HTTP_START,
  GRAPNEL_HTTP_WORK,
  GRAPNEL_HTTP_WORKER_CLASSES
};

typedef struct GrapnelHttpAdmission {
  size_t body_limit; /* the largest body, in bytes */
  int32_t worker_class;
  /* The binary's: the route and the values of its parameters. */
  const void* route;
  uint32_t values[8];
} GrapnelHttpAdmission;

/* Only `body` may contain NUL bytes; missing strings are "". `path` is decoded and ends before
 * '?'. */
typedef struct GrapnelHttpRequest {
  const char *method, *path, *host, *origin, *token;
  const char* body; /* of a POST; "" until the body is read */
  size_t body_size; /* until the body is read, Content-Length, or 0 if chunked */
  const GrapnelHttpAdmission* admission; /* for the handler: as admitted; NULL before */
  void* state;
  /* True if the answer is no longer needed: the server stops, or the client hung up, which is
 * noticed only for GRAPNEL_HTTP_WORK. */
  int32_t (*is_gone)(void* state);
} GrapnelHttpRequest;

/* Receives the answer: any calls of `header`, then one call of `send`. Copies its arguments. */
typedef struct GrapnelHttpReply {
  void* state;
  void (*header)(void* state, const char* name, const char* value);
  void (*send)(void* state, int32_t status, const char* type, const char* body, size_t size);
} GrapnelHttpReply;

/* Answers a request. Called from several threads at once; may take any time. */
typedef void (*GrapnelHttpHandler)(void* context, const GrapnelHttpRequest*,
                                   const GrapnelHttpReply*);

/* Called once the headers are read, before the body. Returns 1 and sets the admission, or sends a
 * refusal and returns 0. Runs on the only thread that serves clients, so it must not block. */
typedef int32_t (*GrapnelHttpAdmit)(void* context, const GrapnelHttpRequest*, GrapnelHttpAdmission*,
                                    const GrapnelHttpReply*);

typedef struct GrapnelHttpServer GrapnelHttpServer;

typedef struct GrapnelHttpApi {
  int32_t version;
  /* Listens on 127.0.0.1; `port` 0: on any free port. On failure, NULL and a text in `error`. */
  GrapnelHttpServer* (*open)(int32_t port, GrapnelHttpHandler handler, GrapnelHttpAdmit admit,
                             void* context, char* error, int32_t error_size);
  int32_t (*port)(const GrapnelHttpServer*);
  /* Answers requests until `stop` is called, from any thread; then waits for running handlers and
   * drops their answers. */
  void (*run)(GrapnelHttpServer*);
  void (*stop)(GrapnelHttpServer*);
  void (*close)(GrapnelHttpServer*);
} GrapnelHttpApi;

typedef const GrapnelHttpApi* (*GrapnelHttpEntryFn)(int32_t version);

#ifdef __cplusplus
}
#endif

#endif /* GRAPNEL_LIB_SERVE_HTTP_API_H_ */
