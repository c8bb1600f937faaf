// Names of devices, whole and partial: "/job:worker/replica:0/task:3/device:GPU:1",
// "/device:CPU:*",
// "/gpu:0". Which spellings there are, how two merge and what the errors say is TensorFlow's.
#ifndef GRAPNEL_LIB_PLACE_DEVICE_NAME_H_
#define GRAPNEL_LIB_PLACE_DEVICE_NAME_H_

#include <cstdint>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The name of a job or of a type of device, as a number: two are equal when their texts are. Made
// by Of(), thread-safe; the few texts that there are live as long as the process.
class DeviceWord {
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
struct DeviceSpec {
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

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_DEVICE_NAME_H_
