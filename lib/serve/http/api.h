/* What the binary and grapnel_http.so say to one another: C types only, no exception passes it. */
#ifndef GRAPNEL_LIB_SERVE_HTTP_API_H_
#define GRAPNEL_LIB_SERVE_HTTP_API_H_

#include <stddef.h>
#include <stdint.h>

#define GRAPNEL_HTTP_API_VERSION 4
#define GRAPNEL_HTTP_ENTRY "GrapnelHttpEntry"

#ifdef __cplusplus
extern "C" {
#endif

/* Without NUL bytes, "" when not there; `path` is decoded and ends where '?' was. */
typedef struct GrapnelHttpRequest {
  const char *method, *path, *host, *origin, *token;
  const char* body; /* of a POST; "" while it is not read */
  size_t body_size; /* bytes; while it is not read what Content-Length says, 0 in chunks */
  void* state;
  /* Whether nobody waits for the answer any more: the client of work hung up, or the server ends.
   */
  int32_t (*is_gone)(void* state);
} GrapnelHttpRequest;

/* Takes the answer: headers first, then send, once. All is copied. */
typedef struct GrapnelHttpReply {
  void* state;
  void (*header)(void* state, const char* name, const char* value);
  void (*send)(void* state, int32_t status, const char* type, const char* body, size_t size);
} GrapnelHttpReply;

/* Answers. Called from several threads at once; may take as long as it likes. */
typedef void (*GrapnelHttpHandler)(void* context, const GrapnelHttpRequest*,
                                   const GrapnelHttpReply*);

/* Threads that answer, and requests that wait for one: neither kind waits for another. */
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

/* Asked when the headers have come and before anything of the body is read: 1 and the admission, or
 * 0 and a refusal as reply. Called from the one thread that serves every client: must not wait. */
typedef int32_t (*GrapnelHttpAdmit)(void* context, const GrapnelHttpRequest*, GrapnelHttpAdmission*,
                                    const GrapnelHttpReply*);

typedef struct GrapnelHttpServer GrapnelHttpServer;

typedef struct GrapnelHttpApi {
  int32_t version;
  /* Listens on 127.0.0.1; `port` 0: any that is free. NULL and a text in `error` when it cannot. */
  GrapnelHttpServer* (*open)(int32_t port, GrapnelHttpHandler handler, GrapnelHttpAdmit admit,
                             void* context, char* error, int32_t error_size);
  int32_t (*port)(const GrapnelHttpServer*);
  /* Answers until stop is called, from any thread or a signal's watcher; then waits for the answers
   * that are being made, which nobody gets. */
  void (*run)(GrapnelHttpServer*);
  void (*stop)(GrapnelHttpServer*);
  void (*close)(GrapnelHttpServer*);
} GrapnelHttpApi;

typedef const GrapnelHttpApi* (*GrapnelHttpEntryFn)(int32_t version);

#ifdef __cplusplus
}
#endif

#endif /* GRAPNEL_LIB_SERVE_HTTP_API_H_ */
