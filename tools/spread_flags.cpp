#include "tools/spread_flags.h"

#include "lib/job/run_devices.h"
#include "tools/command.h"

namespace grapnel {

void SpreadFlags::AddTo(CommandLine& line) {
  line.Option(
          "--devices", devices,
          "place the graph on these logical CPUs and GPUs (cpu:4, gpu:2, or names), split it, "
          "and run the parts in parallel, on the CPU; on a machine with a GPU, all logical GPUs "
          "share its first one and the graph is not split, unless it has Switch, Merge, sends, "
          "receives or collectives")
      .ShownAs("D,...");
  line.Flag("--hard", hard,
            "with --devices: an unsatisfiable request, or a GPU to simulate, is an error");
  line.Flag("--log-device-placement", log_placement,
            "print where each node runs, as TensorFlow does, on standard error");
}

Error SpreadFlags::CheckCombination() const {
  if (hard && devices.empty()) return MakeError("--hard requires --devices D,...");
  return Error::success();
}

Error SpreadFlags::Announce(const RunRequest& request, const MessageSink& sink) const {
  if (devices.empty()) return Error::success();
  ASSIGN_OR_RETURN(DeviceSet listed, DeviceSet::Parse(devices));
  RETURN_IF_ERROR(CheckRunDevices(listed, request));
  std::string gpus = LogicalGpusText(listed, RealGpuFor(listed, nullptr));
  if (!gpus.empty()) sink(Severity::kWarning, gpus);
  return Error::success();
}

void SpreadFlags::Fill(RunRequest* request, const char* device) const {
  RunFlagNames& words = request->words;
  words.placer.devices = "--devices";
  words.placer.hard = "--hard";
  words.placement_log = "--log-device-placement";
  words.device = device;
  request->devices = devices;
  request->hard = hard;
  if (log_placement) request->placement_log = &Invocation().err();
}

}  // namespace grapnel
