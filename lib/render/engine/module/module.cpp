// grapnel_picture.so: the engine that runs the page's scripts without a browser, and the painter
// that makes pixels, behind lib/render/engine/api.h.
//
// The engine is JavaScriptCore, so that the scripts that lay out the page also lay out files,
// without a second implementation in C++. Of Debian's engines that support current JavaScript and
// can stop a script that takes too long, it is the smallest. With its dependencies it is some 30
// libraries, so it is in a module that the first picture loads.
#include <exception>

#include "lib/render/engine/api.h"
#include "lib/render/engine/module/paint.h"
#include "lib/render/engine/module/script.h"

namespace {

template <typename Make>
int32_t Answer(Make&& make, GrapnelPictureTake take, void* context) {
  try {
    grapnel_picture::Result result = make();
    take(context, result.text.data(), result.text.size());
    return result.ok;
  } catch (const std::exception& problem) {
    std::string text = problem.what();
    take(context, text.data(), text.size());
    return 0;
  }
}

int32_t Run(const char* script, const char* function, const char* const* arguments, int32_t count,
            double seconds, GrapnelPictureTake take, void* context) {
  return Answer(
      [&] {
        return grapnel_picture::RunScript(script, function, {arguments, arguments + count},
                                          seconds);
      },
      take, context);
}

int32_t PaintPixels(const char* calls, size_t calls_size, double most_pixels,
                    GrapnelPictureSize* size, GrapnelPictureTake take, void* context) {
  return Answer(
      [&] {
        return grapnel_picture::Paint({calls, calls_size}, most_pixels, size);
      },
      take, context);
}

constexpr GrapnelPictureApi kApi = {GRAPNEL_PICTURE_API_VERSION, Run, PaintPixels};

}  // namespace

extern "C" __attribute__((visibility("default"))) const GrapnelPictureApi* GrapnelPictureEntry(
    int32_t version) {
  return version == GRAPNEL_PICTURE_API_VERSION ? &kApi : nullptr;
}
