#include "lib/serve/pages/placement_graph.h"

#include "lib/ir/device_name.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

std::string BytesText(int64_t known) { return HumanBytes(static_cast<uint64_t>(known)); }

}  // namespace

std::string CrossingsText(const PlacementReport& report) {
  int64_t bytes = 0;
  size_t unknown = 0, copied = 0;
  for (const DeviceTransfer& crossing : report.crossings) {
    if (!crossing.is_copied) continue;
    ++copied;
    bytes += std::max<int64_t>(crossing.bytes, 0);
    unknown += crossing.bytes < 0;
  }
  size_t stay = report.crossings.size() - copied;
  std::string text = "nothing crosses between devices";
  if (copied > 0) {
    text = Plural(copied, "tensor") + (copied == 1 ? " crosses" : " cross") + " between devices, " +
           BytesText(bytes);
  }
  if (unknown > 0) text += " and " + Plural(unknown, "tensor") + " of unknown size";
  if (stay > 0) {
    text += "; " + Plural(stay, "tensor") + (stay == 1 ? " goes" : " go") +
            " between devices in the host's memory, without a copy";
  }
  return text;
}

PlacementGraph::PlacementGraph(const PlacementContext& context, std::string title,
                               size_t most_explained)
    : context_(context), mark_(context.graph.end_id(), kNone) {
  PlacementReport report = MakePlacementReport(context);
  MarkNodes(report);
  marks_.title = "placement";
  marks_.kinds = {"CPU island", "not on the requested device"};
  marks_.color_by_device = true;
  const Graph* placed = &context_.graph;
  marks_.kind_of = [this, placed](const Node& node) {
    return &node.graph() == placed ? mark_[node.id()] : kNone;
  };
  marks_.device_of = [this, placed](const Node& node) {
    return &node.graph() == placed ? DeviceOf(node) : node.device().str();
  };
  bool explained = context.graph.num_nodes() <= most_explained;
  if (explained) {
    marks_.details = [this, placed](const Node& node) {
      return &node.graph() == placed ? Details(node) : std::vector<PageMarks::Detail>();
    };
  }
  marks_.summary.push_back(CrossingsText(report));
  for (size_t i = 0; i < report.memory.size(); ++i) {
    const DeviceMemory& memory = report.memory[i];
    marks_.summary.push_back(ShortDevice(context.devices.device(static_cast<int>(i)).text) + ": " +
                             BytesText(memory.weights) + " of weights, " + BytesText(memory.peak) +
                             " of other tensors at once");
  }
  if (!explained)
    marks_.summary.push_back("too many nodes to explain each: `place --explain NODE` does one");
  page_ = std::make_unique<GraphPage>(context.graph.module(), llvm::ArrayRef<Signature>(),
                                      std::move(title), &marks_);
}

void PlacementGraph::MarkNodes(const PlacementReport& report) {
  for (Node node : context_.graph.nodes()) {
    if (node.device().empty() || context_.placement.Of(node.id()).device < 0) continue;
    auto asked = DeviceSpec::Parse(node.device()), got = DeviceSpec::Parse(DeviceOf(node));
    bool moved = asked && got && !asked->Matches(*got);
    if (!asked) llvm::consumeError(asked.takeError());
    if (!got) llvm::consumeError(got.takeError());
    if (moved) mark_[node.id()] = kMoved;
  }
  for (const Island& island : report.islands) {
    for (NodeId id : island.nodes) mark_[id] = kIsland;
  }
}

std::string PlacementGraph::DeviceOf(const Node& node) const {
  int device = context_.placement.Of(node.id()).device;
  return device < 0 ? "" : context_.devices.device(device).text;
}

std::vector<PageMarks::Detail> PlacementGraph::Details(const Node& node) const {
  PageMarks::Detail why;
  why.what = "Why it is there";
  why.text = ExplainNode(context_, node);
  return {why};
}

}  // namespace grapnel
