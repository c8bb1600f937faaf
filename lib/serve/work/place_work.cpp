#include "lib/serve/work/place_work.h"

#include "lib/ir/device_name.h"
#include "lib/place/cost_text.h"
#include "lib/place/placement_text.h"
#include "lib/render/labels.h"
#include "lib/serve/pages/placement_page.h"
#include "lib/serve/work/place_request.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// Returns the number of a page for the placement of `source`: a new page, or an existing one with
// the same title, which states the settings. `opened` is the graph that was placed: `source`, or a
// copy of it in which calls are inlined.
size_t AddPlaced(PageSet& pages, const std::shared_ptr<const OpenedGraph>& source,
                 std::shared_ptr<const OpenedGraph> opened, std::unique_ptr<PlacedGraph> placed,
                 const std::string& title, size_t model) {
  for (size_t i = 0, end = pages.size(); i < end; ++i) {
    std::shared_ptr<Page> kept = pages.at(i);
    const auto* page = llvm::dyn_cast<PlacementPage>(kept.get());
    if (page && page->IsOf(source) && page->title() == title) return i;
  }
  std::vector<std::unique_ptr<Page>> one;
  one.push_back(
      std::make_unique<PlacementPage>(std::move(opened), std::move(placed), title, source));
  return pages.AddMade(std::move(one), model);
}

struct DeviceRow {
  std::string device;
  size_t nodes = 0;
  DeviceMemory memory;
};

std::vector<DeviceRow> RowsOf(const PlacedGraph& placed, const PlacementReport& report) {
  std::vector<DeviceRow> rows;
  for (const ListedDevice& device : placed.setup.devices.devices())
    rows.push_back({ShortDevice(device.text), 0, report.memory[rows.size()]});
  for (const NodePlacement& node : placed.placement.nodes) {
    if (node.device >= 0) ++rows[node.device].nodes;
  }
  return rows;
}

void WriteDevices(llvm::ArrayRef<DeviceRow> rows, llvm::json::OStream& json) {
  json.attributeArray("devices", [&] {
    for (const DeviceRow& row : rows) {
      json.object([&] {
        json.attribute("device", row.device);
        json.attribute("nodes", row.nodes);
        json.attribute("weights", HumanBytes(row.memory.weights));
        json.attribute("peak", HumanBytes(row.memory.peak));
      });
    }
  });
}

}  // namespace

Expected<std::string> PlaceFromPage(PageSet& pages, const Page& page, llvm::StringRef request) {
  ASSIGN_OR_RETURN(std::shared_ptr<const OpenedGraph> opened, OpenToPlace(page));
  ASSIGN_OR_RETURN(PlaceAsked asked, ParsePlaceRequest(request));
  RETURN_IF_ERROR(CheckValid(*opened, nullptr));
  ASSIGN_OR_RETURN(RuntimeView view, OpenForPlacing(*opened, {asked.settings, {}, {}}));
  ASSIGN_OR_RETURN(PlacedGraph made, PlaceView(view, *opened));
  auto placed = std::make_unique<PlacedGraph>(std::move(made));
  PlacementContext context = placed->context();
  std::string moves;
  if (!asked.what_if.empty()) {
    PlacerSettings other = WithChanges(asked.settings, asked.what_if);
    auto second_view = OpenForPlacing(*opened, {other, {}, {}});
    if (!second_view) return Annotate("what if", second_view.takeError());
    auto second = PlaceView(*second_view, *opened);
    if (!second) return Annotate("what if", second.takeError());
    moves = MovesText(context, TitleOf(asked.settings), second->context(), TitleOf(other));
  }
  if (placed->placement.failure) return FailureJson(context, moves);
  PlacementReport report = MakePlacementReport(context);
  CostReport cost = MakeCostReport(context);
  std::vector<DeviceRow> rows = RowsOf(*placed, report);
  std::string costs = CostTables(context, cost);
  std::string title =
      llvm::sys::path::filename(opened->model().path).str() + " on " + TitleOf(asked.settings);
  std::shared_ptr<const OpenedGraph> shown = opened;
  if (view.own) shown = std::move(view.own);
  size_t entry = AddPlaced(pages, opened, std::move(shown), std::move(placed), title, page.model());
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("entry", entry);
      json.attribute("title", Printable(title));
      json.attribute("crossings", CrossingsText(report));
      WriteDevices(rows, json);
      WriteLines("report", costs, json);
      if (!moves.empty()) WriteLines("moves", moves, json);
    });
  });
}

}  // namespace grapnel
