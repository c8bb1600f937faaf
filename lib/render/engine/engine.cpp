#include "lib/render/engine/engine.h"

#include "lib/io/png_writer.h"
#include "lib/render/engine/api.h"
#include "lib/render/web/script_bundle.h"
#include "lib/render/web/web_file.h"
#include "lib/support/loadable_module.h"

namespace grapnel {
namespace {

constexpr double kMostSeconds = 120, kMostPixels = 1 << 26;

Expected<const GrapnelPictureApi*> PictureModule() {
  static const auto opened = OpenModule<GrapnelPictureApi, GrapnelPictureEntryFn>(
      {"grapnel_picture.so", GRAPNEL_PICTURE_ENTRY, nullptr}, GRAPNEL_PICTURE_API_VERSION);
  if (opened.api) return opened.api;
  return MakeError("cannot draw: {0}; a .dot file can be written without this module",
                   opened.problem);
}

void Take(void* text, const char* bytes, size_t size) {
  static_cast<std::string*>(text)->assign(bytes, size);
}

}  // namespace

Expected<std::string> CallScript(llvm::StringRef name, const std::string& function,
                                 llvm::ArrayRef<std::string> arguments) {
  ASSIGN_OR_RETURN(const GrapnelPictureApi* api, PictureModule());
  ASSIGN_OR_RETURN(std::string script, BundleScripts(name, FindPictureFile));
  std::vector<const char*> texts;
  texts.reserve(arguments.size());
  for (const std::string& argument : arguments) texts.push_back(argument.c_str());
  std::string answer;
  if (!api->run(script.c_str(), function.c_str(), texts.data(), static_cast<int32_t>(texts.size()),
                kMostSeconds, Take, &answer))
    return MakeError("cannot draw: {0}", answer);
  return answer;
}

Expected<PngImage> PngOfCalls(llvm::StringRef calls) {
  ASSIGN_OR_RETURN(const GrapnelPictureApi* api, PictureModule());
  std::string pixels;
  GrapnelPictureSize size = {};
  if (!api->paint(calls.data(), calls.size(), kMostPixels, &size, Take, &pixels))
    return MakeError("cannot draw: {0}", pixels);
  ASSIGN_OR_RETURN(std::string png, PngOf(reinterpret_cast<const uint8_t*>(pixels.data()),
                                          size.rows, size.columns, /*channels=*/3));
  return PngImage{std::move(png), size.scale};
}

}  // namespace grapnel
