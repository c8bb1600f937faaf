// DecodeWav and EncodeWav: audio with 16 bits per sample.
#include "kernels/cpu/data/audio_wav.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/kernel_of.h"

namespace grapnel {
namespace {

template <typename T>
T Number(llvm::StringRef bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
template <typename T>
void Append(std::string* bytes, T value) {
  char text[sizeof value];
  std::memcpy(text, &value, sizeof value);
  bytes->append(text, sizeof value);
}

struct Wav {
  int64_t channels = 0;
  uint32_t rate = 0;
  llvm::StringRef samples;
};

Error ReadFormat(llvm::StringRef chunk, Wav* wav) {
  if (chunk.size() < 16)
    return MakeError("the format chunk of a WAV must have 16 bytes or more, got {0}", chunk.size());
  int kind = Number<uint16_t>(chunk, 0), bits = Number<uint16_t>(chunk, 14);
  wav->channels = Number<uint16_t>(chunk, 2);
  wav->rate = Number<uint32_t>(chunk, 4);
  if (kind != 1) return MakeError("bad audio format for WAV: expected 1 (PCM), but got {0}", kind);
  if (bits != 16) return MakeError("can only read 16-bit WAV files, but received {0}", bits);
  if (wav->channels < 1) return MakeError("a WAV must have at least one channel");
  int frame = Number<uint16_t>(chunk, 12);
  if (frame != 2 * wav->channels)
    return MakeError("bad bytes per sample in WAV header: expected {0}, but got {1}",
                     2 * wav->channels, frame);
  uint64_t per_second = uint64_t{wav->rate} * frame;
  if (Number<uint32_t>(chunk, 8) != per_second)
    return MakeError("bad bytes per second in WAV header: expected {0}, but got {1}", per_second,
                     Number<uint32_t>(chunk, 8));
  return Error::success();
}

Expected<Wav> ReadWav(llvm::StringRef bytes) {
  if (bytes.size() < 12 || !bytes.starts_with("RIFF") || bytes.substr(8, 4) != "WAVE")
    return MakeError("header mismatch: a WAV must start with RIFF, four bytes and WAVE");
  bytes = bytes.drop_front(12);
  Wav wav;
  while (bytes.size() >= 8) {
    llvm::StringRef name = bytes.take_front(4);
    size_t size = Number<uint32_t>(bytes, 4);
    bytes = bytes.drop_front(8);
    if (name == "data") {
      if (wav.channels == 0) return MakeError("no format chunk found before the WAV's data");
      if (size > bytes.size())
        return MakeError("data too short when trying to read {0} bytes of WAV data, there are {1}",
                         size, bytes.size());
      wav.samples = bytes.take_front(size);
      return wav;
    }
    if (size > bytes.size()) return MakeError("chunk '{0}' of the WAV is cut off", name);
    if (name == "fmt ") RETURN_IF_ERROR(ReadFormat(bytes.take_front(size), &wav));
    // Chunks start at even offsets.
    bytes = bytes.drop_front(std::min(size + size % 2, bytes.size()));
  }
  return MakeError("no data chunk found in the WAV");
}

// -1 for `channels` or `length` means as many as in the file. Missing channels repeat the last one;
// missing samples are zeros.
Error DecodeWav(KernelContext& ctx, int64_t channels, int64_t length) {
  if (ctx.input(0).num_elements() != 1)
    return MakeError("contents must have one element, got shape {0}",
                     DimsText(ctx.input(0).dims()));
  ASSIGN_OR_RETURN(Wav wav, ReadWav(*ctx.input(0).data<std::string>()));
  int64_t have = static_cast<int64_t>(wav.samples.size()) / (2 * wav.channels);
  if (channels < 0) channels = wav.channels;
  if (length < 0) length = have;
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {length, channels}));
  ASSIGN_OR_RETURN(Tensor * rate, ctx.Allocate(1, {}));
  *rate->data<int32_t>() = static_cast<int32_t>(wav.rate);
  float* to = out->data<float>();
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      int64_t at = i * wav.channels + std::min(c, wav.channels - 1);
      *to++ = i < have ? static_cast<float>(Number<int16_t>(wav.samples, 2 * at)) / 32768 : 0.f;
    }
  }
  return Error::success();
}

Expected<KernelFn> MakeDecodeWav(const KernelSetup& setup) {
  int64_t channels = setup.node().GetInt("desired_channels", -1);
  int64_t length = setup.node().GetInt("desired_samples", -1);
  if (channels < -1 || length < -1 || length > (int64_t{1} << 31))
    return MakeError(
        "desired_channels must be at least -1 and desired_samples in [-1, 2^31], got {0} and {1}",
        channels, length);
  return KernelFn(
      [channels, length](KernelContext& ctx) { return DecodeWav(ctx, channels, length); });
}

Error EncodeWav(KernelContext& ctx) {
  const Tensor &audio = ctx.input(0), &rate = ctx.input(1);
  if (audio.rank() != 2)
    return MakeError("audio must be 2-dimensional, got shape {0}", DimsText(audio.dims()));
  if (rate.num_elements() != 1) return MakeError("sample_rate must have one element");
  ASSIGN_OR_RETURN(std::string text,
                   WavOf(audio.data<float>(), audio.dim(0), audio.dim(1), rate.IntAt(0)));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<std::string>() = std::move(text);
  return Error::success();
}

GRAPNEL_CPU_KERNEL("DecodeWav", MakeDecodeWav);
GRAPNEL_CPU_KERNEL("EncodeWav", KernelOf<EncodeWav>);

}  // namespace

Expected<std::string> WavOf(const float* samples, int64_t frames, int64_t channels, int64_t rate) {
  if (channels < 1 || channels > 65535 / 2)
    return MakeError("channels must be in [1, 32767], got {0}", channels);
  if (frames < 1 || frames > INT32_MAX / 2 / channels)
    return MakeError("a WAV of {1} channels must have 1 to {2} samples per channel, got {0}",
                     frames, channels, INT32_MAX / 2 / channels);
  if (rate < 1) return MakeError("sample_rate must be positive, got {0}", rate);
  int64_t bytes = 2 * frames * channels;
  std::string text = "RIFF";
  auto hertz = static_cast<uint32_t>(rate);
  Append(&text, static_cast<uint32_t>(36 + bytes));
  text += "WAVEfmt ";
  Append(&text, uint32_t{16});
  Append(&text, uint16_t{1});
  Append(&text, static_cast<uint16_t>(channels));
  Append(&text, hertz);
  Append(&text, static_cast<uint32_t>(hertz * 2 * channels));
  Append(&text, static_cast<uint16_t>(2 * channels));
  Append(&text, uint16_t{16});
  text += "data";
  Append(&text, static_cast<uint32_t>(bytes));
  for (int64_t i = 0; i < frames * channels; ++i) {
    float value = std::round(samples[i] * 32768);
    // NaN becomes 0.
    value = std::isnan(value) ? 0 : std::clamp(value, -32768.f, 32767.f);
    Append(&text, static_cast<int16_t>(value));
  }
  return text;
}

}  // namespace grapnel
