// Encodes pixels as PNG.
#ifndef GRAPNEL_LIB_IO_PNG_WRITER_H_
#define GRAPNEL_LIB_IO_PNG_WRITER_H_

#include <cstdint>
#include <string>

#include "lib/support/error.h"

namespace grapnel {

// Returns the pixels as PNG. `channels` is 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA); `pixels`
// are row-major with interleaved channels. Fails for a width or height of 0, which PNG does not
// allow, and above 2 GiB.
Expected<std::string> PngOf(const uint8_t* pixels, int64_t height, int64_t width, int channels);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_PNG_WRITER_H_
