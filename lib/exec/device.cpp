#include "lib/exec/device.h"

#include <algorithm>
#include <cstring>

#include "lib/ir/device_name.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class CpuStream : public Stream {
 public:
  Error Wait() override { return Error::success(); }
};

class CpuEvent : public Event {
 public:
  Error Record(Stream&) override { return Error::success(); }
  Error Wait() override { return Error::success(); }
  Error MakeWait(Stream&) override { return Error::success(); }
};

class Cpu : public Device {
 public:
  Cpu() : Device("CPU", 0) {}
  Allocator& allocator() override { return HeapAllocator(); }
  Expected<std::unique_ptr<Stream>> NewStream() override { return std::make_unique<CpuStream>(); }
  Expected<std::unique_ptr<Event>> NewEvent() override { return std::make_unique<CpuEvent>(); }
  Error Copy(void* to, const void* from, size_t bytes, Way, Stream&) override {
    if (bytes) std::memmove(to, from, bytes);
    return Error::success();
  }
};

}  // namespace

ElementCounts& ElementCounts::operator+=(const ElementCounts& other) {
  neg_inf += other.neg_inf;
  pos_inf += other.pos_inf;
  nan += other.nan;
  negative += other.negative;
  zero += other.zero;
  positive += other.positive;
  return *this;
}

Device::Device(std::string kind, int ordinal)
    : kind_(std::move(kind)), ordinal_(ordinal), name_(LocalDeviceName(kind_, ordinal)) {}

Device& CpuDevice() {
  static Cpu* cpu = new Cpu;
  return *cpu;
}

Expected<Tensor> CopyTensor(const Tensor& tensor, Device* to, Stream& stream,
                            Allocator& allocator) {
  Device* from = tensor.device();
  if (IsHost(to)) to = nullptr;
  if (DataTypeSize(tensor.dtype()) == 0) {
    return MakeError(
        "a tensor of dtype {0} exists only in host memory and cannot be copied to a device",
        DataTypeName(tensor.dtype()));
  }
  assert(!from || !to || from == to);
  ASSIGN_OR_RETURN(Tensor copy, Tensor::Allocate(tensor.dtype(), tensor.dims(), allocator));
  assert(copy.device() == to);
  Device& device = from ? *from : to ? *to : CpuDevice();
  Device::Way way = from && to ? Device::Way::kInside
                    : to       ? Device::Way::kFromHost
                               : Device::Way::kToHost;
  RETURN_IF_ERROR(
      device.Copy(copy.device_data(), tensor.device_data(), tensor.byte_size(), way, stream));
  return copy;
}

Devices& Devices::Get() {
  static Devices* devices = new Devices;
  return *devices;
}

bool Devices::AddKind(const char* kind, Finder finder) {
  std::lock_guard lock(mutex_);
  auto added = std::make_unique<Kind>();
  added->name = kind;
  added->finder = finder;
  kinds_.push_back(std::move(added));
  return true;
}

std::vector<std::string> Devices::Kinds() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& kind : kinds_) names.push_back(kind->name);
  llvm::sort(names);
  names.insert(names.begin(), "CPU");
  return names;
}

Expected<std::vector<Device*>> Devices::OfKind(llvm::StringRef name) {
  if (name == "CPU") return std::vector<Device*>{&CpuDevice()};
  std::lock_guard lock(mutex_);
  for (const auto& kind : kinds_) {
    if (name != kind->name) continue;
    if (!kind->looked) {
      kind->looked = true;
      auto found = kind->finder();
      if (found) {
        kind->devices = std::move(*found);
      } else {
        kind->problem = TextOf(found.takeError());
      }
    }
    if (!kind->problem.empty()) return MakeError("{0}", kind->problem);
    std::vector<Device*> devices;
    for (const auto& device : kind->devices) devices.push_back(device.get());
    return devices;
  }
  std::vector<std::string> known = {"CPU"};
  for (const auto& kind : kinds_) known.push_back(kind->name);
  return NotFound("kind of device", name, known);
}

Expected<Device*> Devices::Find(llvm::StringRef name) {
  ASSIGN_OR_RETURN(DeviceSpec wanted, DeviceSpec::ParseTyped(name));
  if (!wanted.type)
    return MakeError("'{0}' names no type of device: CPU, GPU or GPU:1 was expected", name);
  std::string kind = wanted.type.text().upper();
  ASSIGN_OR_RETURN(std::vector<Device*> devices, OfKind(kind));
  int ordinal = std::max(wanted.id, 0);
  for (Device* device : devices) {
    if (device->ordinal() == ordinal) return device;
  }
  return MakeError("there is no device '{0}': of kind {1} there are {2}", name, kind,
                   devices.size());
}

}  // namespace grapnel
