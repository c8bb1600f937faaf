// Opens grapnel_cuda.so; its devices, streams, events and memory.
#include "kernels/gpu/cuda_device.h"

#include <dlfcn.h>

#include <cstdlib>

#include "kernels/cuda/cuda_build.h"
#include "lib/support/loadable_module.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
namespace {

template <typename Call>
Error Checked(Call&& call) {
  char why[512] = "";
  if (call(why, static_cast<int32_t>(sizeof why)) == 0) return Error::success();
  return MakeError("CUDA: {0}", why);
}

OpenedModule<GrapnelCudaApi> Load() {
  const char* wish = std::getenv("GRAPNEL_CUDA");
  if (!(wish && *wish) && !HasCudaModule())
    return {nullptr, std::string("built without CUDA (") + CudaBuildText() + ")"};
  return OpenModule<GrapnelCudaApi, GrapnelCudaEntryFn>(
      {"grapnel_cuda.so", GRAPNEL_CUDA_ENTRY, "GRAPNEL_CUDA"}, GRAPNEL_CUDA_API_VERSION);
}

class CudaEvent : public Event {
 public:
  CudaEvent(const GrapnelCudaApi& api, GrapnelCudaEvent* event) : api_(api), event_(event) {}
  ~CudaEvent() override { api_.destroy_event(event_); }
  Error Record(Stream& stream) override {
    return Checked([&](char* why, int32_t size) {
      return api_.record_event(event_, static_cast<CudaStream&>(stream).get(), why, size);
    });
  }
  Error Wait() override {
    return Checked([&](char* why, int32_t size) { return api_.wait_event(event_, why, size); });
  }
  Error MakeWait(Stream& stream) override {
    return static_cast<CudaStream&>(stream).Call(&GrapnelCudaApi::stream_waits_event, event_);
  }

 private:
  const GrapnelCudaApi& api_;
  GrapnelCudaEvent* event_;
};

class CudaDevice : public Device {
 public:
  CudaDevice(const GrapnelCudaApi& api, int ordinal, const GrapnelCudaDeviceInfo& info)
      : Device("GPU", ordinal), api_(api), info_(info), allocator_(*this) {}

  std::string Describe() const override {
    return llvm::formatv("{0}, {1} GiB, compute capability {2}.{3}", info_.name, info_.memory >> 30,
                         info_.major, info_.minor)
        .str();
  }
  Allocator& allocator() override { return allocator_; }

  Expected<std::unique_ptr<Stream>> NewStream() override {
    GrapnelCudaStream* made = nullptr;
    RETURN_IF_ERROR(Checked(
        [&](char* why, int32_t size) { return api_.make_stream(ordinal(), &made, why, size); }));
    return std::make_unique<CudaStream>(api_, made);
  }
  Expected<std::unique_ptr<Event>> NewEvent() override {
    GrapnelCudaEvent* made = nullptr;
    RETURN_IF_ERROR(Checked(
        [&](char* why, int32_t size) { return api_.make_event(ordinal(), &made, why, size); }));
    return std::make_unique<CudaEvent>(api_, made);
  }

  Error Copy(void* to, const void* from, size_t bytes, Way way, Stream& stream) override {
    GrapnelCudaWay how = way == Way::kFromHost ? kGrapnelCudaFromHost
                         : way == Way::kToHost ? kGrapnelCudaToHost
                                               : kGrapnelCudaInside;
    return static_cast<CudaStream&>(stream).Call(&GrapnelCudaApi::copy, to, from,
                                                 static_cast<int64_t>(bytes), how);
  }

  Expected<bool> Count(const Tensor& tensor, Stream& stream, ElementCounts* counts) override {
    switch (tensor.dtype()) {
      case proto::DT_FLOAT:
      case proto::DT_DOUBLE:
      case proto::DT_HALF:
      case proto::DT_BFLOAT16:
      case proto::DT_INT32:
      case proto::DT_INT64:
      case proto::DT_UINT8:
      case proto::DT_INT8:
      case proto::DT_BOOL:
        break;
      default:
        return false;
    }
    int64_t found[6] = {};
    RETURN_IF_ERROR(static_cast<CudaStream&>(stream).Call(
        &GrapnelCudaApi::count, static_cast<GrapnelCudaType>(tensor.dtype()), tensor.device_data(),
        tensor.num_elements(), found));
    *counts = {found[0], found[1], found[2], found[3], found[4], found[5]};
    return true;
  }

 private:
  class Memory : public Buffer {
   public:
    Memory(void* data, size_t size, CudaDevice& device)
        : Buffer(data, size, &device), cuda_(device) {}
    ~Memory() override { cuda_.api_.release(cuda_.ordinal(), data_); }

   private:
    CudaDevice& cuda_;
  };
  class DeviceAllocator : public Allocator {
   public:
    explicit DeviceAllocator(CudaDevice& device) : device_(device) {}
    Expected<BufferRef> Allocate(size_t bytes) override {
      void* data = nullptr;
      RETURN_IF_ERROR(Checked([&](char* why, int32_t size) {
        return device_.api_.allocate(device_.ordinal(), static_cast<int64_t>(bytes), &data, why,
                                     size);
      }));
      return BufferRef(new Memory(data, bytes, device_));
    }

   private:
    CudaDevice& device_;
  };

  const GrapnelCudaApi& api_;
  GrapnelCudaDeviceInfo info_;
  DeviceAllocator allocator_;
};

Expected<std::vector<std::unique_ptr<Device>>> FindGpus() {
  auto api = Cuda();
  if (!api) return MakeError("no GPU here: {0}", TextOf(api.takeError()));
  int32_t count = 0;
  Error error =
      Checked([&](char* why, int32_t size) { return (*api)->device_count(&count, why, size); });
  if (error) {
    std::string text = TextOf(std::move(error));
    // CUDA's runtime reports a missing driver as an outdated one.
    if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
      text = std::string("cannot open the driver: ") + dlerror();
    return MakeError("no GPU here: {0}", text);
  }
  if (count == 0) return MakeError("no GPU here: CUDA finds no GPU");
  std::vector<std::unique_ptr<Device>> devices;
  for (int32_t i = 0; i < count; ++i) {
    GrapnelCudaDeviceInfo info = {};
    RETURN_IF_ERROR(
        Checked([&](char* why, int32_t size) { return (*api)->describe(i, &info, why, size); }));
    devices.push_back(std::make_unique<CudaDevice>(**api, i, info));
  }
  return devices;
}

GRAPNEL_DEVICE_KIND("GPU", FindGpus);

}  // namespace

Expected<const GrapnelCudaApi*> Cuda() {
  static const OpenedModule<GrapnelCudaApi> loaded = Load();
  if (!loaded.api) return MakeError("{0}", loaded.problem);
  return loaded.api;
}

Error CudaStream::Wait() {
  return Checked([&](char* why, int32_t size) { return api_.wait_stream(stream_, why, size); });
}

}  // namespace grapnel
