/* The interface between the binary and grapnel_picture.so: only C types; no exceptions cross it. */
#ifndef GRAPNEL_LIB_RENDER_ENGINE_API_H_
#define GRAPNEL_LIB_RENDER_ENGINE_API_H_

#include <stddef.h>
#include <stdint.h>

#define GRAPNEL_PICTURE_API_VERSION 3
#define GRAPNEL_PICTURE_ENTRY "GrapnelPictureEntry"

#ifdef __cplusplus
extern "C" {
#endif

/* Receives a result in one call, and must copy it. */
typedef void (*GrapnelPictureTake)(void* context, const char* bytes, size_t size);

typedef struct GrapnelPictureSize {
  int32_t columns, rows; /* pixels */
  double scale;          /* pixels per unit: 1, or less for large pictures */
} GrapnelPictureSize;

typedef struct GrapnelPictureApi {
  int32_t version;
  /* Evaluates `script`, calls its global `function` with `count` strings, and passes the returned
   * string to `take`. Returns 0 if it passed an error message to `take` instead, for example since
   * the script took more than `seconds`. */
  int32_t (*run)(const char* script, const char* function, const char* const* arguments,
                 int32_t count, double seconds, GrapnelPictureTake take, void* context);
  /* Paints the calls of lib/render/web/paint_context.js, on at most `most_pixels` pixels. Passes
   * the rows from the top to `take`: red, green and blue of each pixel. Returns 0 as `run` does. */
  int32_t (*paint)(const char* calls, size_t calls_size, double most_pixels,
                   GrapnelPictureSize* size, GrapnelPictureTake take, void* context);
} GrapnelPictureApi;

typedef const GrapnelPictureApi* (*GrapnelPictureEntryFn)(int32_t version);

#ifdef __cplusplus
}
#endif

#endif /* GRAPNEL_LIB_RENDER_ENGINE_API_H_ */
