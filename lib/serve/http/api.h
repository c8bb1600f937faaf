/* The interface of the binary and grapnel_http.so: C types only, and exceptions never cross it. */
#ifndef GRAPNEL_LIB_SERVE_HTTP_API_H_
#define GRAPNEL_LIB_SERVE_HTTP_API_H_

#include <stddef.h>
#include <stdint.h>

#define GRAPNEL_HTTP_API_VERSION 4
#define GRAPNEL_HTTP_ENTRY "GrapnelHttpEntry"

#ifdef __cplusplus
extern "C" {
#endif

/* Strings have no NUL bytes, and are "" if missing; `path` is decoded and ends before '?'. */
typedef struct GrapnelHttpRequest {
  const char *method, *path, *host, *origin, *token;
  const char* body; /* of a POST; "" until it is read */
  size_t body_size; /* bytes; until it is read from Content-Length, 0 if chunked */
  void* state;
  /* True if the answer is no longer needed: the client of work hung up, or the server stops. */
  int32_t (*is_gone)(void* state);
} GrapnelHttpRequest;

/* Receives the answer: first headers, then send, once. Copies everything. */
typedef struct GrapnelHttpReply {
  void* state;
  void (*header)(void* state, const char* name, const char* value);
  void (*send)(void* state, int32_t status, const char* type, const char* body, size_t size);
} GrapnelHttpReply;

/* Answers a request. Called from several threads at once; may take any time. */
typedef void (*GrapnelHttpHandler)(void* context, const GrapnelHttpRequest*,
                                   const GrapnelHttpReply*);

/* Worker classes, each with its own threads and queue: no class waits for another. */
enum {
  GRAPNEL_HTTP_AT_ONCE,
  GRAPNEL_HTTP_DOCUMENT,
  GRAPNEL_HTTP_START,
  GRAPNEL_HTTP_WORK,
  GRAPNEL_HTTP_WORKER_CLASSES
};

typedef struct GrapnelHttpAdmission {
  size_t body_limit; /* bytes */
  int32_t worker_class;
} GrapnelHttpAdmission;

/* Called when the headers are there, before any of the body is read. Returns 1 and the admission,
 * or 0 and a refusal as reply. Runs on the one thread that serves every client: must not block. */
typedef int32_t (*GrapnelHttpAdmit)(void* context, const GrapnelHttpRequest*, GrapnelHttpAdmission*,
                                    const GrapnelHttpReply*);

typedef struct GrapnelHttpServer GrapnelHttpServer;

typedef struct GrapnelHttpApi {
  int32_t version;
  /* Listens on 127.0.0.1; `port` 0: any free port. On failure NULL, with a text in `error`. */
  GrapnelHttpServer* (*open)(int32_t port, GrapnelHttpHandler handler, GrapnelHttpAdmit admit,
                             void* context, char* error, int32_t error_size);
  int32_t (*port)(const GrapnelHttpServer*);
  /* Answers until stop is called, from any thread or a signal's watcher; then waits for running
   * handlers, whose answers are dropped. */
  void (*run)(GrapnelHttpServer*);
  void (*stop)(GrapnelHttpServer*);
  void (*close)(GrapnelHttpServer*);
} GrapnelHttpApi;

typedef const GrapnelHttpApi* (*GrapnelHttpEntryFn)(int32_t version);

#ifdef __cplusplus
}
#endif

#endif /* GRAPNEL_LIB_SERVE_HTTP_API_H_ */
