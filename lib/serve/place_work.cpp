#include "lib/serve/place_work.h"

#include "lib/ir/print.h"
#include "lib/render/labels.h"
#include "lib/serve/placement_page.h"
#include "lib/support/text.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

Expected<PlacerSettings> ParseSettings(llvm::StringRef text) {
  auto json = llvm::json::parse(text);
  if (!json) return Annotate("the request is no JSON", json.takeError());
  const llvm::json::Object* object = json->getAsObject();
  auto devices = object ? object->getString("devices") : std::nullopt;
  if (!devices) return MakeError("the request has no 'devices'");
  PlacerSettings settings;
  settings.devices = devices->str();
  settings.soft = object->getBoolean("soft").value_or(true);
  settings.may_read = false;
  return settings;
}

void WriteLines(llvm::StringRef key, llvm::StringRef text, llvm::json::OStream& json) {
  llvm::SmallVector<llvm::StringRef, 16> lines;
  text.rtrim('\n').split(lines, '\n');
  json.attributeArray(key, [&] {
    for (llvm::StringRef line : lines) json.value(Printable(line));
  });
}

void WriteDevices(const PlacedGraph& placed, const PlacementReport& report,
                  llvm::json::OStream& json) {
  std::vector<size_t> nodes(placed.setup.devices.size(), 0);
  for (const NodePlacement& node : placed.placement.nodes) {
    if (node.device >= 0) ++nodes[node.device];
  }
  json.attributeArray("devices", [&] {
    for (size_t i = 0; i < nodes.size(); ++i) {
      json.object([&] {
        json.attribute("device", ShortDevice(placed.setup.devices.device(i).text));
        json.attribute("nodes", nodes[i]);
        json.attribute("weights", HumanBytes(report.memory[i].weights));
        json.attribute("peak", HumanBytes(report.memory[i].peak));
      });
    }
  });
}

}  // namespace

Expected<std::string> PlaceFromPage(PageSet& pages, OpenedGraph opened, llvm::StringRef request) {
  ASSIGN_OR_RETURN(PlacerSettings settings, ParseSettings(request));
  ASSIGN_OR_RETURN(PlacerSetup setup, PlacerSetup::Make(settings));
  auto placed = std::make_unique<PlacedGraph>();
  std::string title = llvm::sys::path::filename(opened.model->path).str() + " on " +
                      settings.devices + (settings.soft ? " (soft)" : " (hard)");
  placed->opened = std::move(opened);
  placed->setup = std::move(setup);
  placed->placement = Place(placed->opened.module().main, placed->setup.devices,
                            *placed->setup.kernels, placed->setup.options);
  PlacementContext context = placed->context();
  if (placed->placement.failure) {
    return PageDocument([&](llvm::json::OStream& json) {
      json.object([&] { WriteLines("failure", ExplainFailure(context), json); });
    });
  }
  PlacementReport report = MakePlacementReport(context.graph, context.devices, context.placement);
  Error error = Error::success();
  std::string document = PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      WriteDevices(*placed, report, json);
      json.attribute("crossings", CrossingsText(report));
      json.attribute("title", Printable(title));
      auto entry = pages.AddPlaced(std::move(placed), title);
      if (entry) {
        json.attribute("entry", *entry);
      } else {
        error = llvm::joinErrors(std::move(error), entry.takeError());
      }
    });
  });
  if (error) return error;
  return document;
}

}  // namespace grapnel
