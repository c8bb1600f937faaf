// The devices that a graph is placed on. They are given, not found: a laptop answers for a cluster.
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
  DeviceSpec name;     // full
  std::string text;    // the same as TensorFlow writes it
  int64_t memory = 0;  // bytes; 0: not known
  // For the cost model (cost_report.h); 0: what is usual for the type.
  double flops = 0;             // floating point operations a second
  double memory_bandwidth = 0;  // bytes a second
};

// What is between two devices, both ways.
struct GRAPNEL_PUBLIC DeviceLink {
  int a, b;  // indices of devices, a < b
  double bytes_per_second = 0;
  double latency_seconds = 0;
};

class GRAPNEL_PUBLIC DeviceSet {
 public:
  // Names with commas between: full ones, partial ones (what is open is job localhost, replica 0,
  // task 0, id 0), and counts: "cpu:4" or "gpu:8" stands for that many of task 0. A text that names
  // a file that is there is read with FromClusterFile. Errors: no device, a malformed name, a
  // device twice.
  static Expected<DeviceSet> Parse(llvm::StringRef text);
  // The same of text that must not choose files.
  static Expected<DeviceSet> ParseNames(llvm::StringRef text);

  // A cluster on paper, as JSON (docs/placement.md has an example):
  //   {"jobs": [{"name": "worker", "tasks": 2,
  //              "devices": [{"type": "GPU", "count": 4, "memory": "16 GB", "teraflops": 15,
  //                           "memory_gigabytes_per_second": 900}]}],
  //    "links": [{"between": ["/job:worker/task:0", "/job:worker/task:1"],
  //               "gigabytes_per_second": 12.5, "microseconds": 10}]}
  // The ends of a link are partial names: each pair of devices, one of either end, has it. Errors
  // name the file and the place in it: a job twice, a pair with two links, an end that names no
  // device.
  static Expected<DeviceSet> FromClusterFile(llvm::StringRef path);

  // `name` is full; twice is an error.
  Error Add(const DeviceSpec& name, int64_t memory = 0, double flops = 0,
            double memory_bandwidth = 0);

  llvm::ArrayRef<ListedDevice> devices() const { return devices_; }
  const ListedDevice& device(int i) const { return devices_[i]; }
  int size() const { return static_cast<int>(devices_.size()); }
  llvm::ArrayRef<DeviceLink> links() const { return links_; }
  const DeviceLink* FindLink(int a, int b) const;  // null when nothing was said of it

  // The device that a name, full or partial, stands for: the first that matches; nullopt when none
  // does.
  std::optional<int> Find(const DeviceSpec& name) const;
  // Types of devices, the one that TensorFlow prefers first (GPU before CPU before others), each
  // once; at most 32.
  llvm::ArrayRef<DeviceWord> types() const { return types_; }
  // Index in types() of a device's type.
  int TypeOf(int device) const { return type_of_[device]; }
  // Which of two devices comes first where TensorFlow has the choice: the preferred type, then the
  // first device's job and task before others, then by the name's letters.
  bool IsPreferred(int a, int b) const;
  // "a, b, c", sorted, as error messages list them.
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
