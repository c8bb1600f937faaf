// `grapnel place MODEL`: where each node runs, and why.
#include "lib/place/placer.h"
#include "lib/place/tensorflow_kernels.h"
#include "llvm/Support/JSON.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, devices, default_device;
  bool hard = false;
};

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(DeviceSet devices, DeviceSet::Parse(flags.devices));
  ASSIGN_OR_RETURN(InputGraph input, OpenInput(flags.model, flags.graph));
  PlacerOptions options;
  options.soft = !flags.hard;
  if (!flags.default_device.empty()) {
    ASSIGN_OR_RETURN(DeviceName name, DeviceName::Parse(flags.default_device));
    options.default_device = devices.Find(name);
  }
  auto kernels = MakeTensorFlowKernels();
  const Graph& graph = input.module().main;
  Placement placement = Place(graph, devices, *kernels, options);
  llvm::json::OStream json(invocation.out());
  json.object([&] {
    json.attributeObject("placements", [&] {
      for (NodeId id : placement.order) json.attribute(graph.node(id).name(), devices.device(placement.Of(id).device).text);
    });
    if (placement.failure) json.attribute("error", placement.failure->message); else json.attribute("error", nullptr);
  });
  return placement.failure ? kExitNo : kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph to place").Required();
  line.Option("--graph", flags->graph, "which graph of a file with several");
  line.Option("--devices", flags->devices, "devices").Required();
  line.Option("--default-device", flags->default_device, "default");
  line.Flag("--hard", flags->hard, "hard");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("place", "where each node runs, and why", "place model.pb --devices cpu:1,gpu:2", SetUp);

}  // namespace
}  // namespace grapnel
