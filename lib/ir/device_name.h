// Parses and prints device names, whole and partial: "/job:worker/replica:0/task:3/device:GPU:1",
// "/device:CPU:*", "/gpu:0". All other code uses this parser. Accepted spellings, merging and error
// messages are those of TensorFlow (DeviceNameUtils).
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
  // An index that is the same for equal words, but only within one process: use it for tables,
  // never for ordering.
  uint32_t index() const { return index_; }

 private:
  uint32_t index_ = 0;
};

// A device name in which any component (job, replica, task, type, id) may be unset. Twenty bytes,
// without memory of its own.
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
  // Parses a device that a user typed for a flag: what Parse accepts, or just a type with or
  // without a number, "GPU" or "gpu:1".
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

  // True if no component that both specs set differs.
  bool IsCompatibleWith(const DeviceSpec& other) const;
  // True if `device`, a full name, has all components that this spec sets.
  bool Matches(const DeviceSpec& device) const;

  // Merges the components that `other` sets into this spec. Hard (not `soft`): a conflicting
  // component is an error in TensorFlow's words ("Cannot merge devices with incompatible ids:
  // ..."), and nothing changes. Soft: conflicting types unset the type and the id, conflicting ids
  // unset the id; conflicts of job, replica and task are still errors.
  Error Merge(const DeviceSpec& other, bool soft);
  // Copies the components that `other` sets, which replace those of this spec.
  void Override(const DeviceSpec& other);
};

// The full name that TensorFlow gives the CPU of a process that is not part of a cluster.
inline constexpr const char* kLocalCpu = "/job:localhost/replica:0/task:0/device:CPU:0";
// Returns the name of a device of this process: "/device:GPU:1" for type "GPU" and id 1.
GRAPNEL_PUBLIC std::string LocalDeviceName(llvm::StringRef type, int id);

// Converts a device that a user typed to the form that nodes use: "GPU" to "/device:GPU:0", "gpu:1"
// to "/device:GPU:1"; a name that starts with "/" stays unchanged. The error is that of ParseTyped.
GRAPNEL_PUBLIC Expected<std::string> DeviceNameFromTyped(llvm::StringRef text);

// --- Functions on the device string of a node. A name that cannot be parsed counts as empty, as in
// Grappler.

// True for a device of that type with a number, as in Grappler's NodeIsOnCpu and NodeIsOnGpu:
// "/device:CPU:0" and "/cpu:0" are CPUs, "/device:CPU:*" is not.
GRAPNEL_PUBLIC bool IsOn(llvm::StringRef device, llvm::StringRef type);
// Returns "GPU" for "/job:a/device:GPU:0" and "/device:GPU:*"; empty if the name has no type.
GRAPNEL_PUBLIC llvm::StringRef DeviceTypeOf(llvm::StringRef device);
// Returns "/job:a/task:1" for "/job:a/task:1/device:GPU:0"; nullopt if the type or the number is
// missing (DeviceNameUtils::SplitDeviceName).
GRAPNEL_PUBLIC std::optional<std::string> TaskOf(llvm::StringRef device);
// Returns one spelling for all equivalent names; a name that cannot be parsed stays unchanged.
GRAPNEL_PUBLIC std::string CanonicalDevice(llvm::StringRef device);
// Returns a device for a message: "'/device:CPU:0'", or "no device" for an empty name.
GRAPNEL_PUBLIC std::string QuotedDevice(llvm::StringRef device);
// Returns "cpu:0" for "/job:localhost/replica:0/task:0/device:CPU:0"; other names stay unchanged.
GRAPNEL_PUBLIC std::string ShortDevice(llvm::StringRef device);

// Converts ",job_localhost,replica_0,task_0,device_CPU_0", a folder name of tfdbg v1, to
// "/job:localhost/replica:0/task:0/device:CPU:0".
GRAPNEL_PUBLIC std::string DeviceOfDumpFolder(llvm::StringRef folder);

// --- Grappler's text searches, which also work on malformed names: XLA_GPU counts as a GPU.

// True if the text after the last '/' contains `type`, ignoring case (as in auto_mixed_precision
// and layout).
GRAPNEL_PUBLIC bool DevicePartMentions(llvm::StringRef device, llvm::StringRef type);
// MentionsGpu: true if the name contains "gpu", ignoring case (as in auto_parallel and
// memory_optimizer). MentionsCpu: true if the name contains "CPU" in capitals (as in
// pin_to_host_optimizer).
GRAPNEL_PUBLIC bool MentionsGpu(llvm::StringRef device);
GRAPNEL_PUBLIC bool MentionsCpu(llvm::StringRef device);
// Returns the CPU of the host of a GPU: the name up to the last "GPU", plus "CPU:0":
// "/job:w/device:CPU:0" for "/job:w/device:GPU:1"; empty if there is no "GPU" in the name (as in
// pin_to_host_optimizer).
GRAPNEL_PUBLIC std::string HostOfGpu(llvm::StringRef device);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_DEVICE_NAME_H_
