// GPUs as devices, backed by the CUDA module.
#ifndef GRAPNEL_KERNELS_GPU_CUDA_DEVICE_H_
#define GRAPNEL_KERNELS_GPU_CUDA_DEVICE_H_

#include <memory>
#include <mutex>
#include <vector>

#include "kernels/cuda/cuda_api.h"
#include "lib/exec/device.h"

namespace grapnel {

// Returns the table of the module, which the first call opens: the file in GRAPNEL_CUDA, else
// grapnel_cuda.so (ModulePath). The error, one line, says why there is none, as when GRAPNEL_CUDA is
// "off". Thread-safe.
Expected<const GrapnelCudaApi*> Cuda();

class CudaStream : public Stream {
 public:
  CudaStream(const GrapnelCudaApi& api, GrapnelCudaStream* stream) : api_(api), stream_(stream) {}
  ~CudaStream() override { api_.destroy_stream(stream_); }
  Error Wait() override;

  // Calls a function of the table, which queues its work on this stream; one thread at a time.
  template <typename Fn, typename... Args>
  Error Call(Fn GrapnelCudaApi::*fn, Args... args) {
    char why[512] = "";
    std::lock_guard lock(mutex_);
    if ((api_.*fn)(stream_, args..., why, static_cast<int32_t>(sizeof why)) == 0)
      return Error::success();
    return MakeError("CUDA: {0}", why);
  }
  GrapnelCudaStream* get() const { return stream_; }

 private:
  const GrapnelCudaApi& api_;
  GrapnelCudaStream* stream_;
  std::mutex mutex_;
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_GPU_CUDA_DEVICE_H_
