// Sound as a WAV file of 16 bits a sample.
#ifndef GRAPNEL_KERNELS_CPU_DATA_AUDIO_WAV_H_
#define GRAPNEL_KERNELS_CPU_DATA_AUDIO_WAV_H_

#include <string>

#include "lib/support/error.h"

namespace grapnel {

// `samples` from -1 to 1, the channels of a frame together; `rate` in frames a second.
Expected<std::string> WavOf(const float* samples, int64_t frames, int64_t channels, int64_t rate);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_AUDIO_WAV_H_
