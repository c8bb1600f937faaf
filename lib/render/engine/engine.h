// Runs the scripts that draw pictures, without a browser.
#ifndef GRAPNEL_LIB_RENDER_ENGINE_ENGINE_H_
#define GRAPNEL_LIB_RENDER_ENGINE_ENGINE_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Calls the global `function` of the module lib/render/web/`name` with these strings, after loading
// that module and its imports, and returns the string it returns. The first call opens
// grapnel_picture.so (see ModulePath) in some 30 ms; each call makes a new engine (some 5 ms). The
// same arguments give the same string. Errors: grapnel_picture.so cannot be loaded, or its engine
// cannot start; the script throws an exception, or takes more than two minutes.
Expected<std::string> CallScript(llvm::StringRef name, const std::string& function,
                                 llvm::ArrayRef<std::string> arguments);

struct PngImage {
  std::string bytes;
  double scale = 1;  // pixels for each unit of the picture
};

// Paints the calls that `picturePaint` of picture_file.js returns, and returns a PNG file with one
// pixel for each unit; smaller if it would exceed 2^26 pixels, or 32,000 pixels on a side. The same
// calls give the same bytes.
Expected<PngImage> PngOfCalls(llvm::StringRef calls);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_ENGINE_ENGINE_H_
