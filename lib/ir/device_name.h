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

// A job name or device type, interned: two are equal if their texts are. Of() is thread-safe; the
// texts are few and live as long as the process.
class GRAPNEL_PUBLIC DeviceWord {
 public:
  DeviceWord() = default;  // none
  static DeviceWord Of(llvm::StringRef text);
  explicit operator bool() const { return index_ != 0; }
  bool operator==(DeviceWord other) const { return index_ == other.index_; }
  bool operator!=(DeviceWord other) const { return index_ != other.index_; }
  llvm::StringRef text() const;  // empty for none
  // Stable within one process only: use it for tables, never for ordering.
  uint32_t index() const { return index_; }

 private:
  uint32_t index_ = 0;
};

// A device name in which any part may be open. Twenty bytes, without memory of its own.
struct GRAPNEL_PUBLIC DeviceSpec {
  static constexpr int32_t kOpen = -1;
  DeviceWord job;
  int32_t replica = kOpen;
  int32_t task = kOpen;
  DeviceWord type;  // "CPU", "GPU", ...
  int32_t id = kOpen;

  // Parses any spelling that TensorFlow accepts: parts in any order, "*" for an open part, and the
  // short forms "/cpu:0" and "/gpu:0". "" is a fully open name. The error quotes the text and says
  // what was expected.
  static Expected<DeviceSpec> Parse(llvm::StringRef text);
  // Parses what a user types for a flag: the same, or just a type, "GPU", with or without a number,
  // "gpu:1".
  static Expected<DeviceSpec> ParseTyped(llvm::StringRef text);
  // Returns "/job:worker"; an error if `job` is not a valid job name.
  static Expected<DeviceSpec> OfJob(llvm::StringRef job);

  bool IsOpen() const { return *this == DeviceSpec(); }  // no part is set
  bool IsFull() const { return job && replica >= 0 && task >= 0 && type && id >= 0; }
  bool operator==(const DeviceSpec& other) const {
    return job == other.job && replica == other.replica && task == other.task &&
           type == other.type && id == other.id;
  }
  bool operator!=(const DeviceSpec& other) const { return !(*this == other); }

  // TensorFlow's spelling: "/job:a/replica:0/task:0/device:CPU:0", "/device:GPU:*"; omits open
  // parts.
  std::string ToString() const;
  // The same without the device: "/job:a/replica:0/task:0".
  std::string TaskToString() const;

  // True if no part of it conflicts with the same part of `other`.
  bool IsCompatibleWith(const DeviceSpec& other) const;
  // True if this spec matches `device`, a full name.
  bool Matches(const DeviceSpec& device) const;

  // Merges the parts of `other` into this one. Hard: a conflicting part is an error in TensorFlow's
  // words ("Cannot merge devices with incompatible ids: ..."), and nothing changes. Soft:
  // conflicting types open the type and the id, conflicting ids open the id; conflicts of job,
  // replica and task are still errors.
  Error Merge(const DeviceSpec& other, bool soft);
  // Takes over the parts that `other` sets; they win over this one's.
  void Override(const DeviceSpec& other);
};

// TensorFlow's full name for the CPU of a standalone process.
inline constexpr const char* kLocalCpu = "/job:localhost/replica:0/task:0/device:CPU:0";
// "/device:GPU:1".
GRAPNEL_PUBLIC std::string LocalDeviceName(llvm::StringRef type, int id);

// Converts what a user typed to the form that nodes use: "GPU" to "/device:GPU:0", "gpu:1" to
// "/device:GPU:1"; a name with parts stays unchanged. The error is that of ParseTyped.
GRAPNEL_PUBLIC Expected<std::string> DeviceNameFromTyped(llvm::StringRef text);

// --- Queries of a node's device string. A name that cannot be parsed counts as empty, as in
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
// The form for messages: "'/device:CPU:0'", or "no device" for an empty name.
GRAPNEL_PUBLIC std::string QuotedDevice(llvm::StringRef device);
// "/job:localhost/replica:0/task:0/device:CPU:0" -> "cpu:0"; other names stay unchanged.
GRAPNEL_PUBLIC std::string ShortDevice(llvm::StringRef device);

// Converts ",job_localhost,replica_0,task_0,device_CPU_0", a folder name of tfdbg v1, to
// "/job:localhost/replica:0/task:0/device:CPU:0".
GRAPNEL_PUBLIC std::string DeviceOfDumpFolder(llvm::StringRef folder);

// --- Grappler's text searches, which apply to malformed names too: XLA_GPU counts as a GPU.

// True if the part after the last '/' contains `type`, ignoring case (auto_mixed_precision,
// layout).
GRAPNEL_PUBLIC bool DevicePartMentions(llvm::StringRef device, llvm::StringRef type);
// MentionsGpu: true if the text contains "gpu", ignoring case (auto_parallel, memory_optimizer).
// MentionsCpu: true if it contains "CPU" in capitals (pin_to_host_optimizer).
GRAPNEL_PUBLIC bool MentionsGpu(llvm::StringRef device);
GRAPNEL_PUBLIC bool MentionsCpu(llvm::StringRef device);
// Returns the CPU that belongs to a GPU: the text up to the last "GPU", plus "CPU:0":
// "/job:w/device:CPU:0" for "/job:w/device:GPU:1"; empty if there is no "GPU"
// (pin_to_host_optimizer).
GRAPNEL_PUBLIC std::string HostOfGpu(llvm::StringRef device);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_DEVICE_NAME_H_
