/* What the binary and grapnel_http.so say to one another: C types only, no exception passes it. */
#ifndef GRAPNEL_LIB_SERVE_HTTP_API_H_
#define GRAPNEL_LIB_SERVE_HTTP_API_H_

#include <stddef.h>
#include <stdint.h>

#define GRAPNEL_HTTP_API_VERSION 3
#define GRAPNEL_HTTP_ENTRY "GrapnelHttpEntry"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrapnelHttpRequest {
  const char *method, *path, *host, *origin, *token; /* "" when not there */
  const char* body; /* of a POST; "" when it is longer than GrapnelHttpBodyLimit said */
  size_t body_size; /* as sent */
} GrapnelHttpRequest;

/* Takes the answer: headers first, then send, once. All is copied. */
typedef struct GrapnelHttpReply {
  void* state;
  void (*header)(void* state, const char* name, const char* value);
  void (*send)(void* state, int32_t status, const char* type, const char* body, size_t size);
} GrapnelHttpReply;

/* Called from several threads at once. */
typedef void (*GrapnelHttpHandler)(void* context, const GrapnelHttpRequest*,
                                   const GrapnelHttpReply*);

/* Asked before the body of a POST is read, of which there is none yet: how many bytes to keep. What
 * is longer is read and dropped. Called from several threads at once. */
typedef size_t (*GrapnelHttpBodyLimit)(void* context, const GrapnelHttpRequest*);

typedef struct GrapnelHttpServer GrapnelHttpServer;

typedef struct GrapnelHttpApi {
  int32_t version;
  /* Listens on 127.0.0.1; `port` 0: any that is free. NULL and a text in `error` when it cannot. */
  GrapnelHttpServer* (*open)(int32_t port, GrapnelHttpHandler handler, GrapnelHttpBodyLimit limit,
                             void* context, char* error, int32_t error_size);
  int32_t (*port)(const GrapnelHttpServer*);
  /* Answers until stop is called, from any thread or a signal's watcher. */
  void (*run)(GrapnelHttpServer*);
  void (*stop)(GrapnelHttpServer*);
  void (*close)(GrapnelHttpServer*);
} GrapnelHttpApi;

typedef const GrapnelHttpApi* (*GrapnelHttpEntryFn)(int32_t version);

#ifdef __cplusplus
}
#endif

#endif /* GRAPNEL_LIB_SERVE_HTTP_API_H_ */
