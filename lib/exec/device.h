// Devices: memory, streams of work and copies between them. The CPU is one device; other kinds of
// devices are registered along with their kernels.
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

// A queue that does the work of one device in the order in which it was enqueued. Thread-safe. Work
// still uses its buffers after the call that enqueued the work has returned. A pool that serves a
// single stream may nevertheless reuse a released buffer at once, because the buffer's next use is
// enqueued later.
class GRAPNEL_PUBLIC Stream {
 public:
  virtual ~Stream() = default;
  // Returns when all work queued so far is done. If some of the work failed, returns its error.
  virtual Error Wait() = 0;
};

// A point in a stream that threads and other streams can wait for. Marks no point before Record().
// Not thread-safe.
class GRAPNEL_PUBLIC Event {
 public:
  virtual ~Event() = default;
  // Marks the work enqueued on `stream` so far; a second call moves the mark. `stream` must belong
  // to the device that made the event.
  virtual Error Record(Stream& stream) = 0;
  virtual Error Wait() = 0;  // blocks the calling thread
  // Makes work that is enqueued on `stream` from now on wait for this event, without blocking the
  // caller. `stream` must belong to the device that made the event.
  virtual Error MakeWait(Stream& stream) = 0;
};

// The numbers of elements of a tensor in each class (NaN, zero, ...). The code that counts may
// leave classes or dtypes out (lib/watch/health.h); if it leaves out none, the counts add up to all
// elements.
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

  const std::string& kind() const { return kind_; }  // "CPU", "GPU": kernels register for a kind
  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }    // "/device:GPU:0"
  virtual std::string Describe() const { return ""; }  // for users: model, memory size

  // The allocator of the device's memory, which makes one system allocation for each call:
  // executors put a pool in front of it (MakePoolAllocator). A buffer names its device; a buffer of
  // the CPU names none.
  virtual Allocator& allocator() = 0;
  virtual Expected<std::unique_ptr<Stream>> NewStream() = 0;
  virtual Expected<std::unique_ptr<Event>> NewEvent() = 0;

  // Enqueues on `stream`, a stream of this device, a copy between the device and the host, or
  // within the device. When this returns, a `from` on the host has been read; a `to` on the host is
  // filled later, when the stream reaches the copy.
  enum class Way { kFromHost, kToHost, kInside };
  virtual Error Copy(void* to, const void* from, size_t bytes, Way way, Stream& stream) = 0;

  // Counts the elements of a tensor on this device, after the work enqueued on `stream`, and waits
  // for the result. Returns false if the device does not count tensors of this dtype.
  virtual Expected<bool> Count(const Tensor& /*tensor*/, Stream& /*stream*/,
                               ElementCounts* /*counts*/) {
    return false;
  }

 private:
  std::string kind_;
  int ordinal_;
  std::string name_;
};

// "CPU:0": host memory, and streams that run work at once. Buffers in host memory name no device,
// so a null Device* means the same as this one.
GRAPNEL_PUBLIC Device& CpuDevice();
inline bool IsHost(const Device* device) { return !device || device == &CpuDevice(); }

// Copies the tensor to memory of `to` (null: the host), which `allocator` provides. The copy is
// enqueued on `stream`, a stream of whichever device is not the host. Errors: such as too little
// memory, or elements that exist only in this process (strings, resources, variants).
GRAPNEL_PUBLIC Expected<Tensor> CopyTensor(const Tensor& tensor, Device* to, Stream& stream,
                                           Allocator& allocator);

// The devices of this process. Those of a kind are discovered when the kind is first requested,
// then kept. Thread-safe.
class GRAPNEL_PUBLIC Devices {
 public:
  static Devices& Get();

  // Lists the devices of one kind, or explains why there are no devices: "no GPU here: ...".
  using Finder = Expected<std::vector<std::unique_ptr<Device>>> (*)();
  // Registers a kind. Call it at namespace scope in a file of the device's kernels, through
  // GRAPNEL_DEVICE_KIND.
  bool AddKind(const char* kind, Finder finder);

  // Finds a device by name: "GPU" (number 0 of its kind), "GPU:1", or a full device name. Errors:
  // `name` is not a device name; those of OfKind(); the kind has no device of this number.
  Expected<Device*> Find(llvm::StringRef name);
  // The devices of one kind. Errors: an unknown kind, or the finder's error.
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
