// Devices, memory, streams, events and copies, and the function table for the program.
#include <cstring>

#include "kernels/cuda/stream.h"

void* GrapnelCudaStream::Workspace(size_t bytes) {
  using grapnel::cuda::Check;
  if (bytes <= workspace_size) return workspace;
  // Queued work may still use the old workspace.
  Check(cudaStreamSynchronize(stream), "waiting for the stream");
  if (workspace) Check(cudaFree(workspace), "freeing memory");
  workspace = nullptr;
  workspace_size = 0;
  Check(cudaMalloc(&workspace, bytes), "allocating memory");
  workspace_size = bytes;
  return workspace;
}

namespace grapnel::cuda {
namespace {

int32_t DeviceCount(int32_t* count, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    int found = 0;
    cudaError_t status = cudaGetDeviceCount(&found);
    if (status == cudaErrorNoDevice) {
      cudaGetLastError();
      found = 0;
    } else {
      Check(status, "looking for GPUs");
    }
    *count = found;
  });
}

int32_t Describe(int32_t device, GrapnelCudaDeviceInfo* info, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    cudaDeviceProp properties;
    Check(cudaGetDeviceProperties(&properties, device), "asking what the GPU is");
    std::snprintf(info->name, sizeof info->name, "%s", properties.name);
    info->memory = static_cast<int64_t>(properties.totalGlobalMem);
    info->major = properties.major;
    info->minor = properties.minor;
  });
}

int32_t Allocate(int32_t device, int64_t bytes, void** memory, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    Check(cudaSetDevice(device), "choosing the device");
    Check(cudaMalloc(memory, bytes < 1 ? 1 : bytes), "allocating memory");
  });
}

void Release(int32_t device, void* memory) {
  cudaSetDevice(device);
  cudaFree(memory);
}

int32_t MakeStream(int32_t device, GrapnelCudaStream** made, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    Check(cudaSetDevice(device), "choosing the device");
    cudaStream_t stream;
    Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    *made = new GrapnelCudaStream;
    (*made)->device = device;
    (*made)->stream = stream;
  });
}

void DestroyStream(GrapnelCudaStream* stream) {
  cudaSetDevice(stream->device);
  cudaStreamSynchronize(stream->stream);
  if (stream->cublas) cublasLtDestroy(stream->cublas);
  if (stream->cudnn) cudnnDestroy(stream->cudnn);
  if (stream->workspace) cudaFree(stream->workspace);
  cudaStreamDestroy(stream->stream);
  delete stream;
}

int32_t WaitStream(GrapnelCudaStream* stream, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    stream->Use();
    Check(cudaStreamSynchronize(stream->stream), "the GPU's work");
  });
}

int32_t MakeEvent(int32_t device, GrapnelCudaEvent** made, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    Check(cudaSetDevice(device), "choosing the device");
    cudaEvent_t event;
    Check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
    *made = new GrapnelCudaEvent{device, event};
  });
}

void DestroyEvent(GrapnelCudaEvent* event) {
  cudaSetDevice(event->device);
  cudaEventDestroy(event->event);
  delete event;
}

int32_t RecordEvent(GrapnelCudaEvent* event, GrapnelCudaStream* stream, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    stream->Use();
    Check(cudaEventRecord(event->event, stream->stream), "recording an event");
  });
}

int32_t WaitEvent(GrapnelCudaEvent* event, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    Check(cudaSetDevice(event->device), "choosing the device");
    Check(cudaEventSynchronize(event->event), "the GPU's work");
  });
}

int32_t StreamWaitsEvent(GrapnelCudaStream* stream, GrapnelCudaEvent* event, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    stream->Use();
    Check(cudaStreamWaitEvent(stream->stream, event->event, 0), "waiting for an event");
  });
}

int32_t Copy(GrapnelCudaStream* stream, void* to, const void* from, int64_t bytes,
             GrapnelCudaWay way, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    if (bytes == 0) return;
    stream->Use();
    cudaMemcpyKind kind = way == kGrapnelCudaFromHost ? cudaMemcpyHostToDevice
                          : way == kGrapnelCudaToHost ? cudaMemcpyDeviceToHost
                                                      : cudaMemcpyDeviceToDevice;
    Check(cudaMemcpyAsync(to, from, bytes, kind, stream->stream), "copying");
    if (way != kGrapnelCudaFromHost) return;
    // The call returns after CUDA has read pageable memory, but pinned memory is read later.
    cudaPointerAttributes attributes;
    Check(cudaPointerGetAttributes(&attributes, from), "asking whose memory it is");
    if (attributes.type == cudaMemoryTypeHost)
      Check(cudaStreamSynchronize(stream->stream), "copying");
  });
}

constexpr GrapnelCudaApi kApi = {
    GRAPNEL_CUDA_API_VERSION,
    DeviceCount,
    Describe,
    Allocate,
    Release,
    MakeStream,
    DestroyStream,
    WaitStream,
    MakeEvent,
    DestroyEvent,
    RecordEvent,
    WaitEvent,
    StreamWaitsEvent,
    Copy,
    Fill,
    Cast,
    CopyStrided,
    Gather,
    Unary,
    Binary,
    Select,
    Reduce,
    Softmax,
    CrossEntropy,
    Bias,
    Pool,
    MatMul,
    Convolution,
    Count,
};

}  // namespace
}  // namespace grapnel::cuda

extern "C" __attribute__((visibility("default"))) const GrapnelCudaApi* GrapnelCudaEntry(
    uint32_t version) {
  return version == GRAPNEL_CUDA_API_VERSION ? &grapnel::cuda::kApi : nullptr;
}
