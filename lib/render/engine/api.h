/* The interface of the binary and grapnel_picture.so: C types only, exceptions never cross it. */
#ifndef GRAPNEL_LIB_RENDER_ENGINE_API_H_
#define GRAPNEL_LIB_RENDER_ENGINE_API_H_

#include <stddef.h>
#include <stdint.h>

#define GRAPNEL_PICTURE_API_VERSION 3
#define GRAPNEL_PICTURE_ENTRY "GrapnelPictureEntry"

#ifdef __cplusplus
extern "C" {
#endif

/* Called once with the result, which the callee copies. */
typedef void (*GrapnelPictureTake)(void* context, const char* bytes, size_t size);

typedef struct GrapnelPictureSize {
  int32_t columns, rows; /* pixels */
  double scale;          /* pixels for each unit: 1, or less if 1 is too large */
} GrapnelPictureSize;

typedef struct GrapnelPictureApi {
  int32_t version;
  /* Evaluates `script`, calls its global `function` with `count` strings, and passes the returned
   * string to `take`. 0: `take` got an error message instead. Stops after `seconds` of work. */
  int32_t (*run)(const char* script, const char* function, const char* const* arguments,
                 int32_t count, double seconds, GrapnelPictureTake take, void* context);
  /* Paints the calls of lib/render/web/paint_context.js: rows from the top, red, green and blue of
   * each pixel, at most `most_pixels`. 0: as for run. */
  int32_t (*paint)(const char* calls, size_t calls_size, double most_pixels,
                   GrapnelPictureSize* size, GrapnelPictureTake take, void* context);
} GrapnelPictureApi;

typedef const GrapnelPictureApi* (*GrapnelPictureEntryFn)(int32_t version);

#ifdef __cplusplus
}
#endif

#endif /* GRAPNEL_LIB_RENDER_ENGINE_API_H_ */
