// The devices to place a graph on. The user lists them; they need not
// exist on this machine, so that a laptop can place a graph for a cluster.
#ifndef GRAPNEL_LIB_PLACE_DEVICE_SET_H_
#define GRAPNEL_LIB_PLACE_DEVICE_SET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/device_name.h"
#include "lib/support/public.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

struct GRAPNEL_PUBLIC ListedDevice {
  DeviceSpec name;     // a full name
  std::string text;    // `name` in TensorFlow's spelling
  int64_t memory = 0;  // bytes; 0: unknown
  // For the cost model (cost_report.h); 0: the default for the device type.
  double flops = 0;             // floating point operations a second
  double memory_bandwidth = 0;  // bytes a second
};

// The link between two devices, in both directions.
struct GRAPNEL_PUBLIC DeviceLink {
  int a, b;  // indices of devices, a < b
  double bytes_per_second = 0;
  double latency_seconds = 0;
};

class GRAPNEL_PUBLIC DeviceSet {
 public:
  // Parses names separated by commas: full ones, partial ones (defaults are job localhost, replica
  // 0, task 0, id 0), and counts: "cpu:4" or "gpu:8" means that many devices of task 0. If the text
  // is the path of an existing file, reads it with FromClusterFile. Errors: such as no device, a
  // malformed name, a device listed twice.
  static Expected<DeviceSet> Parse(llvm::StringRef text);
  // Like Parse, but never opens a file: for text that does not come from the user of this machine.
  static Expected<DeviceSet> ParseNames(llvm::StringRef text);

  // Reads a cluster description, as JSON (docs/guide/placement.md has an example):
  //   {"jobs": [{"name": "worker", "tasks": 2,
  //              "devices": [{"type": "GPU", "count": 4, "memory": "16 GB", "teraflops": 15,
  //                           "memory_gigabytes_per_second": 900}]}],
  //    "links": [{"between": ["/job:worker/task:0", "/job:worker/task:1"],
  //               "gigabytes_per_second": 12.5, "microseconds": 10}]}
  // The ends of a link are partial names: the link connects each device that matches one end with
  // each device that matches the other. Errors name the file and usually the position: such as a
  // job listed twice, a pair with two links, an end that matches no device.
  static Expected<DeviceSet> FromClusterFile(llvm::StringRef path);

  // `name` must be full. Errors: it was added before, or there are too many types.
  Error Add(const DeviceSpec& name, int64_t memory = 0, double flops = 0,
            double memory_bandwidth = 0);

  llvm::ArrayRef<ListedDevice> devices() const { return devices_; }
  const ListedDevice& device(int i) const { return devices_[i]; }
  int size() const { return static_cast<int>(devices_.size()); }
  llvm::ArrayRef<DeviceLink> links() const { return links_; }
  const DeviceLink* FindLink(int a, int b) const;  // null if no link is listed

  // Returns the first device that matches a full or partial name; nullopt if there is none.
  std::optional<int> Find(const DeviceSpec& name) const;
  // Device types, in TensorFlow's order of preference (GPU before CPU before others), each once; at
  // most 32.
  llvm::ArrayRef<DeviceWord> types() const { return types_; }
  // Returns the index in types() of the type of `device`.
  int TypeOf(int device) const { return type_of_[device]; }
  // True if TensorFlow prefers `a` to `b` if a node can be on either. Compares the preference of
  // their types; then devices in the task of the set's first device precede others; then compares
  // names.
  bool IsPreferred(int a, int b) const;
  // The names of all devices as error messages list them: "a, b, c", sorted.
  std::string List() const;

 private:
  Error AddNames(llvm::StringRef item);
  Error AddLink(const DeviceSpec& a, const DeviceSpec& b, const DeviceLink& link);
  friend class ClusterReader;

  std::vector<ListedDevice> devices_;
  std::vector<DeviceLink> links_;
  std::vector<DeviceWord> types_;
  std::vector<int> type_of_;
  llvm::StringMap<int> by_text_;
  llvm::DenseMap<std::pair<int, int>, int> link_between_;  // index in links_
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_DEVICE_SET_H_
