// Runs the scripts of pictures where there is no browser.
#ifndef GRAPNEL_LIB_RENDER_ENGINE_ENGINE_H_
#define GRAPNEL_LIB_RENDER_ENGINE_ENGINE_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Calls the global `function` of lib/render/web/NAME.js, and of what that imports, with these
// strings; gives the string that comes back. Needs grapnel_picture.so beside the binary, which is
// opened by the first call (some 30 ms); each call has an engine of its own (some 5 ms). The same
// arguments give the same string. Errors: no module; what the script throws; it takes longer than
// two minutes.
Expected<std::string> CallScript(llvm::StringRef name, const std::string& function,
                                 llvm::ArrayRef<std::string> arguments);

struct PngImage {
  std::string bytes;
  double scale = 1;  // pixels for each unit of the picture
};

// A PNG file of what `picturePaint` of picture_file.js gives, a pixel for each of its units;
// smaller where that were more than 2^26 pixels, or 32,000 on a side. The same calls give the same
// bytes.
Expected<PngImage> PngOfCalls(llvm::StringRef calls);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_ENGINE_ENGINE_H_
