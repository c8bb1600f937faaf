// Parses and prints device names, whole ("/job:worker/replica:0/task:3/device:GPU:1") and partial
// ("/device:CPU:*", "/gpu:0"). All other code uses this parser. The accepted spellings, the merging
// and its error messages are those of TensorFlow (DeviceNameUtils).
#ifndef GRAPNEL_LIB_IR_DEVICE_NAME_H_
#define GRAPNEL_LIB_IR_DEVICE_NAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// A job name or device type, interned: two words are equal if their texts are. Of() is thread-safe;
// the distinct texts are few and live as long as the process.
class GRAPNEL_PUBLIC DeviceWord {
 public:
  DeviceWord() = default;  // none
  static DeviceWord Of(llvm::StringRef text);
  explicit operator bool() const { return index_ != 0; }
  bool operator==(DeviceWord other) const { return index_ == other.index_; }
  bool operator!=(DeviceWord other) const { return index_ != other.index_; }
  llvm::StringRef text() const;  // empty for none
  // A number that is the same for equal words. It differs between processes, so use it in tables,
  // but never for an order.
  uint32_t index() const { return index_; }

 private:
  uint32_t index_ = 0;
};

// A device name in which any component (job, replica, task, type, id) may be unset. Takes twenty
// bytes and allocates nothing.
struct GRAPNEL_PUBLIC DeviceSpec {
  static constexpr int32_t kOpen = -1;
  DeviceWord job;
  int32_t replica = kOpen;
  int32_t task = kOpen;
  DeviceWord type;  // "CPU", "GPU", ...
  int32_t id = kOpen;

  // Parses any spelling that TensorFlow accepts: components in any order, "*" for an unset
  // component, and the short forms "/cpu:0" and "/gpu:0". "" is a name in which no component is
  // set. The error quotes the text and says what was expected.
  static Expected<DeviceSpec> Parse(llvm::StringRef text);
  // Parses a device that a user typed in a flag: accepts what Parse accepts, and also a bare type
  // with or without a number, such as "GPU" or "gpu:1".
  static Expected<DeviceSpec> ParseTyped(llvm::StringRef text);
  // Returns the spec "/job:worker" for the job "worker"; an error if `job` is not a valid job name.
  static Expected<DeviceSpec> OfJob(llvm::StringRef job);

  bool IsOpen() const { return *this == DeviceSpec(); }  // no component is set
  bool IsFull() const { return job && replica >= 0 && task >= 0 && type && id >= 0; }
  bool operator==(const DeviceSpec& other) const {
    return job == other.job && replica == other.replica && task == other.task &&
           type == other.type && id == other.id;
  }
  bool operator!=(const DeviceSpec& other) const { return !(*this == other); }

  // TensorFlow's spelling: "/job:a/replica:0/task:0/device:CPU:0", "/device:GPU:*"; omits unset
  // components.
  std::string ToString() const;
  // Like ToString, but without the device type and id: "/job:a/replica:0/task:0".
  std::string TaskToString() const;

  // True if each component that is set in both specs is equal in both.
  bool IsCompatibleWith(const DeviceSpec& other) const;
  // True if each component that is set in this spec is equal in `device`, a full name.
  bool Matches(const DeviceSpec& device) const;

  // Sets the components that `other` sets; a conflict is a component that both set differently.
  // Hard (not `soft`): a conflict is an error in TensorFlow's words ("Cannot merge devices with
  // incompatible ids: ..."), and nothing changes. Soft: a conflict of types unsets type and id, one
  // of ids unsets the id; a conflict of job, replica or task is still an error.
  Error Merge(const DeviceSpec& other, bool soft);
  // Replaces the components of this spec that `other` sets.
  void Override(const DeviceSpec& other);
};

// The full name that TensorFlow gives the CPU of a process that is not part of a cluster.
inline constexpr const char* kLocalCpu = "/job:localhost/replica:0/task:0/device:CPU:0";
// Returns the name of a device of this process: "/device:GPU:1" for type "GPU" and id 1.
GRAPNEL_PUBLIC std::string LocalDeviceName(llvm::StringRef type, int id);

// Converts a device that a user typed to the form that nodes use: "GPU" to "/device:GPU:0", "gpu:1"
// to "/device:GPU:1"; a name with "/" stays unchanged. Errors: that of ParseTyped; also for "*",
// which names no type.
GRAPNEL_PUBLIC Expected<std::string> DeviceNameFromTyped(llvm::StringRef text);

// The functions IsOn to TaskOf take the device string of a node. As in Grappler, a name that cannot
// be parsed counts as an empty one.

// True if the device has this type and a number, as in Grappler's NodeIsOnCpu and NodeIsOnGpu:
// "/device:CPU:0" and "/cpu:0" are on the type "CPU", "/device:CPU:*" is not.
GRAPNEL_PUBLIC bool IsOn(llvm::StringRef device, llvm::StringRef type);
// Returns "GPU" for "/job:a/device:GPU:0" and "/device:GPU:*"; empty if the name has no type.
GRAPNEL_PUBLIC llvm::StringRef DeviceTypeOf(llvm::StringRef device);
// Returns "/job:a/task:1" for "/job:a/task:1/device:GPU:0"; nullopt if the type or the number is
// missing, as in TensorFlow's DeviceNameUtils::SplitDeviceName.
GRAPNEL_PUBLIC std::optional<std::string> TaskOf(llvm::StringRef device);
// Returns the same spelling for all names that mean the same; a name that cannot be parsed stays
// unchanged.
GRAPNEL_PUBLIC std::string CanonicalDevice(llvm::StringRef device);
// Returns the text for a device in a message: "'/device:CPU:0'", or "no device" for an empty name.
GRAPNEL_PUBLIC std::string QuotedDevice(llvm::StringRef device);
// Returns "cpu:0" for "/device:CPU:0", with or without "/job:localhost", "/replica:0" and "/task:0"
// before it, and likewise for other types. Other names stay unchanged.
GRAPNEL_PUBLIC std::string ShortDevice(llvm::StringRef device);

// Converts ",job_localhost,replica_0,task_0,device_CPU_0", a folder name of tfdbg v1, to
// "/job:localhost/replica:0/task:0/device:CPU:0".
GRAPNEL_PUBLIC std::string DeviceOfDumpFolder(llvm::StringRef folder);

// The functions from here on search the text of a device name, as Grappler's passes do. They also
// work on malformed names, and XLA_GPU counts as a GPU.

// True if the text after the last '/' contains `type`, ignoring case; false without a '/'.
// Grappler's auto_mixed_precision and layout passes test devices this way.
GRAPNEL_PUBLIC bool DevicePartMentions(llvm::StringRef device, llvm::StringRef type);
// MentionsGpu: true if the name contains "gpu", ignoring case, as Grappler's auto_parallel and
// memory_optimizer test it. MentionsCpu: true if it contains "CPU" in capitals, as
// pin_to_host_optimizer tests it.
GRAPNEL_PUBLIC bool MentionsGpu(llvm::StringRef device);
GRAPNEL_PUBLIC bool MentionsCpu(llvm::StringRef device);
// Returns the CPU of the machine that has the GPU `device`: "/job:w/device:CPU:0" for
// "/job:w/device:GPU:1". It is the name up to the last "GPU", plus "CPU:0"; empty without "GPU" in
// the name. As in Grappler's pin_to_host_optimizer.
GRAPNEL_PUBLIC std::string HostOfGpu(llvm::StringRef device);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_DEVICE_NAME_H_
