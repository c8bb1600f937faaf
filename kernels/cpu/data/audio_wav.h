// Encodes audio as a WAV file with 16 bits per sample.
#ifndef GRAPNEL_KERNELS_CPU_DATA_AUDIO_WAV_H_
#define GRAPNEL_KERNELS_CPU_DATA_AUDIO_WAV_H_

#include <string>

#include "lib/support/error.h"

namespace grapnel {

// `samples` range from -1 to 1, with the channels of a frame adjacent; `rate` is in frames per
// second.
Expected<std::string> WavOf(const float* samples, int64_t frames, int64_t channels, int64_t rate);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_AUDIO_WAV_H_
