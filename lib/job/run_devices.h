// The devices of `run --devices`: logical ones, on a GPU of this machine or simulated on the CPU.
#ifndef GRAPNEL_LIB_JOB_RUN_DEVICES_H_
#define GRAPNEL_LIB_JOB_RUN_DEVICES_H_

#include <string>
#include <vector>

#include "lib/exec/device.h"
#include "lib/ir/module.h"
#include "lib/place/device_set.h"

namespace grapnel {

struct RunRequest;  // lib/job/run.h

bool HasGpu(const DeviceSet& devices);

// Adds the CPU of the first device's task, which TensorFlow always has, if there is no CPU: ops
// without a GPU kernel run there. Returns true if it added one.
Expected<bool> AddHost(DeviceSet* devices);

// Refuses devices that are neither CPUs nor GPUs and, if the request is `hard`, GPUs on a machine
// without one.
Error CheckRunDevices(const DeviceSet& devices, const RunRequest& request);

// Returns the GPU of this machine on which the logical GPUs of `devices` run, together: its first.
// Null: `devices` has no GPU, or they are simulated, since there is none or since the nodes of
// `graph` that control flow, send and receive run on the CPU only. A null `graph` has no such
// nodes.
Device* RealGpuFor(const DeviceSet& devices, const Graph* graph);

// Makes the nodes on logical GPUs ask for `gpu`.
void MoveToRealGpu(const Device& gpu, Module& module);

struct LogicalDevice {
  std::string name, kind;
  // "simulated on the CPU", or the GPU of this machine and what it is; empty for a CPU.
  std::string text;
  bool is_simulated = false;
};
// Lists the devices of a run for `text`, as for DeviceSet::Parse. Errors: those of Parse and of
// CheckRunDevices.
Expected<std::vector<LogicalDevice>> LogicalDevices(llvm::StringRef text,
                                                    const RunRequest& request);

// Says on what the logical GPUs are: "simulated on the CPU: 'a', 'b'", "on /device:GPU:0: 'a'"; ""
// if there are none.
std::string LogicalGpusText(const DeviceSet& devices, const Device* gpu);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_RUN_DEVICES_H_
