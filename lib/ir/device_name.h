// Names of devices, whole and partial: "/job:worker/replica:0/task:3/device:GPU:1",
// "/device:CPU:*", "/gpu:0". Nobody else takes one apart. Which spellings there are, how two merge
// and what the errors say is TensorFlow's (DeviceNameUtils).
#ifndef GRAPNEL_LIB_IR_DEVICE_NAME_H_
#define GRAPNEL_LIB_IR_DEVICE_NAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The name of a job or of a type of device, as a number: two are equal when their texts are. Made
// by Of(), thread-safe; the few texts that there are live as long as the process.
class GRAPNEL_PUBLIC DeviceWord {
 public:
  DeviceWord() = default;  // none
  static DeviceWord Of(llvm::StringRef text);
  explicit operator bool() const { return index_ != 0; }
  bool operator==(DeviceWord other) const { return index_ == other.index_; }
  bool operator!=(DeviceWord other) const { return index_ != other.index_; }
  llvm::StringRef text() const;  // empty for none
  // The same in every run of one process only: for tables, never for order.
  uint32_t index() const { return index_; }

 private:
  uint32_t index_ = 0;
};

// A name of which any part may be open. Twenty bytes, no memory of its own.
struct GRAPNEL_PUBLIC DeviceSpec {
  static constexpr int32_t kOpen = -1;
  DeviceWord job;
  int32_t replica = kOpen;
  int32_t task = kOpen;
  DeviceWord type;  // "CPU", "GPU", ...
  int32_t id = kOpen;

  // Reads any spelling that TensorFlow takes: parts in any order, "*" for an open one, "/cpu:0" and
  // "/gpu:0" for short. The error quotes the text and says what was expected. "" is a name of which
  // all is open.
  static Expected<DeviceSpec> Parse(llvm::StringRef text);
  // As a person types it for a flag: the same, and a type alone or with a number, "GPU", "gpu:1".
  static Expected<DeviceSpec> ParseTyped(llvm::StringRef text);
  // "/job:worker"; an error when no job can be called so.
  static Expected<DeviceSpec> OfJob(llvm::StringRef job);

  bool IsOpen() const { return *this == DeviceSpec(); }  // says nothing at all
  bool IsFull() const { return job && replica >= 0 && task >= 0 && type && id >= 0; }
  bool operator==(const DeviceSpec& other) const {
    return job == other.job && replica == other.replica && task == other.task &&
           type == other.type && id == other.id;
  }
  bool operator!=(const DeviceSpec& other) const { return !(*this == other); }

  // TensorFlow's spelling: "/job:a/replica:0/task:0/device:CPU:0", "/device:GPU:*"; open parts are
  // left out.
  std::string ToString() const;
  // The same without the device: "/job:a/replica:0/task:0".
  std::string TaskToString() const;

  // Whether no part says another thing than the same part of `other`.
  bool IsCompatibleWith(const DeviceSpec& other) const;
  // Whether `device`, a full name, is one of those that this names.
  bool Matches(const DeviceSpec& device) const;

  // Takes over what `other` says. Hard: a part that says another thing is an error, in TensorFlow's
  // words ("Cannot merge devices with incompatible ids: ..."), and nothing changes. Soft: types
  // that differ open type and id, ids that differ open the id; job, replica and task are errors
  // still.
  Error Merge(const DeviceSpec& other, bool soft);
  // Takes over what `other` says, whatever was said before.
  void Override(const DeviceSpec& other);
};

// The CPU of a program that runs by itself, as TensorFlow names it in full.
inline constexpr const char* kLocalCpu = "/job:localhost/replica:0/task:0/device:CPU:0";
// "/device:GPU:1".
GRAPNEL_PUBLIC std::string LocalDeviceName(llvm::StringRef type, int id);

// What a person typed as a node has it: "GPU" is "/device:GPU:0", "gpu:1" is "/device:GPU:1", and a
// name with parts stays as it is. The error is ParseTyped's.
GRAPNEL_PUBLIC Expected<std::string> DeviceNameFromTyped(llvm::StringRef text);

// What a node's device says. A name that cannot be read says nothing: Grappler passes over it.

// Whether it is a device of that type with a number, as Grappler asks (NodeIsOnCpu, NodeIsOnGpu):
// "/device:CPU:0" and "/cpu:0" are CPUs, "/device:CPU:*" is not one yet.
GRAPNEL_PUBLIC bool IsOn(llvm::StringRef device, llvm::StringRef type);
// "GPU" of "/job:a/device:GPU:0" and of "/device:GPU:*"; empty when no type is said.
GRAPNEL_PUBLIC llvm::StringRef DeviceTypeOf(llvm::StringRef device);
// "/job:a/task:1" of "/job:a/task:1/device:GPU:0"; nullopt when no type or no number is said
// (DeviceNameUtils::SplitDeviceName).
GRAPNEL_PUBLIC std::optional<std::string> TaskOf(llvm::StringRef device);
// One spelling for all that mean the same; of a name that cannot be read, the name.
GRAPNEL_PUBLIC std::string CanonicalDevice(llvm::StringRef device);
// As a message has it: "'/device:CPU:0'", and of no name "no device".
GRAPNEL_PUBLIC std::string QuotedDevice(llvm::StringRef device);
// "/job:localhost/replica:0/task:0/device:CPU:0" -> "cpu:0"; other spellings as they are.
GRAPNEL_PUBLIC std::string ShortDevice(llvm::StringRef device);

// Of ",job_localhost,replica_0,task_0,device_CPU_0", the name of a folder of tfdbg v1:
// "/job:localhost/replica:0/task:0/device:CPU:0".
GRAPNEL_PUBLIC std::string DeviceOfDumpFolder(llvm::StringRef folder);

// What Grappler asks of the text, malformed or not: XLA_GPU is a GPU to it.

// Whether `type` stands in the part after the last '/', capitals apart (auto_mixed_precision,
// layout).
GRAPNEL_PUBLIC bool DevicePartMentions(llvm::StringRef device, llvm::StringRef type);
// Whether "gpu" stands anywhere, capitals apart (auto_parallel, memory_optimizer); "CPU", in
// capitals (pin_to_host_optimizer).
GRAPNEL_PUBLIC bool MentionsGpu(llvm::StringRef device);
GRAPNEL_PUBLIC bool MentionsCpu(llvm::StringRef device);
// The CPU beside a GPU: the text up to the last "GPU" and "CPU:0", "/job:w/device:CPU:0" of
// "/job:w/device:GPU:1"; empty when there is no "GPU" (pin_to_host_optimizer).
GRAPNEL_PUBLIC std::string HostOfGpu(llvm::StringRef device);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_DEVICE_NAME_H_
