#include "lib/render/engine/module/png.h"

#include <librsvg/rsvg.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace grapnel_picture {
namespace {

constexpr double kMostSide = 32000;  // cairo's images end below 32,768

struct Free {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* canvas) const { cairo_destroy(canvas); }
};

std::string TextOf(GError* error) {
  std::string text = error ? error->message : "no reason is given";
  if (error) g_error_free(error);
  return text;
}

// As far as needed, the picture is made smaller.
double ScaleFor(double width, double height, double most_pixels) {
  double scale = std::min(1.0, kMostSide / std::max({width, height, 1.0}));
  return std::min(scale, std::sqrt(most_pixels / std::max(1.0, width * height)));
}

cairo_status_t Append(void* bytes, const unsigned char* data, unsigned size) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

Result PngOfSvg(std::string_view svg, double most_pixels, double* scale) {
  GError* error = nullptr;
  std::unique_ptr<GInputStream, void (*)(gpointer)> bytes(
      g_memory_input_stream_new_from_data(svg.data(), static_cast<gssize>(svg.size()), nullptr),
      g_object_unref);
  std::unique_ptr<RsvgHandle, Free> handle(rsvg_handle_new_from_stream_sync(
      bytes.get(), nullptr, RSVG_HANDLE_FLAG_UNLIMITED, nullptr, &error));
  if (!handle) return {false, TextOf(error)};
  gdouble width = 0, height = 0;
  rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height);
  *scale = ScaleFor(width, height, most_pixels);
  int columns = std::max(1, static_cast<int>(std::ceil(width * *scale)));
  int rows = std::max(1, static_cast<int>(std::ceil(height * *scale)));
  std::unique_ptr<cairo_surface_t, Free> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows));
  std::unique_ptr<cairo_t, Free> canvas(cairo_create(surface.get()));
  RsvgRectangle area = {0, 0, static_cast<double>(columns), static_cast<double>(rows)};
  if (!rsvg_handle_render_document(handle.get(), canvas.get(), &area, &error))
    return {false, TextOf(error)};
  std::string png;
  cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), Append, &png);
  if (status != CAIRO_STATUS_SUCCESS) return {false, cairo_status_to_string(status)};
  return {true, std::move(png)};
}

}  // namespace grapnel_picture
