// Devices: memory, queues of work and copies between them. The CPU is one; others come with their
// kernels.
#ifndef GRAPNEL_LIB_EXEC_DEVICE_H_
#define GRAPNEL_LIB_EXEC_DEVICE_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Does the work of one device in the order in which it was queued. Thread-safe. Work still uses its
// memory after the call that queued it has returned. A pool that serves one stream alone may hand
// that memory out again at once, because its next use is queued later.
class GRAPNEL_PUBLIC Stream {
 public:
  virtual ~Stream() = default;
  // Returns when everything queued so far is done. The error is that of any work that failed.
  virtual Error Wait() = 0;
};

// A place in a stream that others can wait for. Before Record() there is none. Not thread-safe.
class GRAPNEL_PUBLIC Event {
 public:
  virtual ~Event() = default;
  // Stands for what is queued on `stream` by now; a second call moves it. `stream` is of the device
  // that made the event.
  virtual Error Record(Stream& stream) = 0;
  virtual Error Wait() = 0;  // the calling thread
  // Work queued on `stream` from now on waits; the caller does not. `stream` is of the same device.
  virtual Error MakeWait(Stream& stream) = 0;
};

// How many elements of a tensor are what; together all of a numeric tensor's.
struct GRAPNEL_PUBLIC ElementCounts {
  int64_t neg_inf = 0, pos_inf = 0, nan = 0;
  int64_t negative = 0, zero = 0, positive = 0;  // finite; -0 is zero
  ElementCounts& operator+=(const ElementCounts& other);
};

class GRAPNEL_PUBLIC Device {
 public:
  Device(std::string kind, int ordinal);
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& kind() const { return kind_; }  // "CPU", "GPU": kernels are registered for it
  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }    // "/device:GPU:0"
  virtual std::string Describe() const { return ""; }  // for people: the model, its memory

  // Its memory, one allocation a call: executors put a pool before it (MakePoolAllocator). Buffers
  // say which device they are of; those of the CPU say none.
  virtual Allocator& allocator() = 0;
  virtual Expected<std::unique_ptr<Stream>> NewStream() = 0;
  virtual Expected<std::unique_ptr<Event>> NewEvent() = 0;

  // Queues a copy between this device and the host, or inside of the device, on `stream`, which is
  // of this device. `from` of the host has been read when this returns; `to` of the host is there
  // when the stream has come so far.
  enum class Way { kFromHost, kToHost, kInside };
  virtual Error Copy(void* to, const void* from, size_t bytes, Way way, Stream& stream) = 0;

  // Counts the elements of a tensor that lies here, after what is queued on `stream`, and waits for
  // the result. False: not a dtype that this device can count.
  virtual Expected<bool> Count(const Tensor& /*tensor*/, Stream& /*stream*/,
                               ElementCounts* /*counts*/) {
    return false;
  }

 private:
  std::string kind_;
  int ordinal_;
  std::string name_;
};

// "CPU:0": host memory, and streams that run at once. Buffers in host memory name no device, so
// that a null Device* and this one mean the same place.
GRAPNEL_PUBLIC Device& CpuDevice();
inline bool IsHost(const Device* device) { return !device || device == &CpuDevice(); }

// The same tensor in the memory of `to` (null: the host), which `allocator` gives; queued on
// `stream`, which is of the one device of the two that is not the host. An error for elements that
// live in this process only: strings, resources, variants.
GRAPNEL_PUBLIC Expected<Tensor> CopyTensor(const Tensor& tensor, Device* to, Stream& stream,
                                           Allocator& allocator);

// The devices of this process, found when a kind is first asked for and kept for good. Thread-safe.
class GRAPNEL_PUBLIC Devices {
 public:
  static Devices& Get();

  // Lists the devices of one kind, or says why there are none: "no GPU here: ...".
  using Finder = Expected<std::vector<std::unique_ptr<Device>>> (*)();
  // At namespace scope of a file of the device's kernels, through GRAPNEL_DEVICE_KIND.
  bool AddKind(const char* kind, Finder finder);

  // "GPU" (the first), "GPU:1" or any longer name. The error says what there is.
  Expected<Device*> Find(llvm::StringRef name);
  // Of one kind, by number.
  Expected<std::vector<Device*>> OfKind(llvm::StringRef kind);
  std::vector<std::string> Kinds() const;  // "CPU" first, the others sorted

 private:
  struct Kind {
    std::string name;
    Finder finder = nullptr;
    bool looked = false;
    std::vector<std::unique_ptr<Device>> devices;
    std::string problem;
  };
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Kind>> kinds_;
};

#define GRAPNEL_DEVICE_KIND(kind, finder)                                                   \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(device_kind_registered_, __COUNTER__) = \
      ::grapnel::Devices::Get().AddKind(kind, finder)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_DEVICE_H_
