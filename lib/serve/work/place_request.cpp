#include "lib/serve/work/place_request.h"

#include "lib/render/labels.h"
#include "lib/serve/pages/stage_page.h"
#include "lib/support/json.h"
#include "lib/support/printable.h"
#include "llvm/Support/Casting.h"

namespace grapnel {

Expected<PlaceAsked> ParsePlaceRequest(llvm::StringRef text) {
  auto json = ParseJson(text);
  if (!json) return Annotate("the request is not JSON", json.takeError());
  const llvm::json::Object* object = json->getAsObject();
  auto devices = object ? object->getString("devices") : std::nullopt;
  if (!devices) return MakeError("the request has no 'devices'");
  PlaceAsked asked;
  PlacerSettings& settings = asked.settings;
  settings.devices = devices->str();
  settings.soft = !object->getBoolean("hard").value_or(false);
  settings.may_read = false;
  settings.words.devices = "'Devices'";  // the field's name in the form of place_tab.js
  settings.words.hard = "'hard'";
  settings.default_device = object->getString("default_device").value_or("").str();
  settings.kernels = object->getString("kernels").value_or(settings.kernels).str();
  asked.what_if = object->getString("what_if").value_or("").str();
  asked.log = object->getString("name").value_or("the log").str();
  return asked;
}

Expected<std::shared_ptr<const OpenedGraph>> OpenToPlace(const Page& page) {
  const auto* stage = llvm::dyn_cast<StagePage>(&page);
  if (!stage) return OpenedOf(page);
  ASSIGN_OR_RETURN(OpenedGraph opened, stage->OpenDump());
  return std::make_shared<const OpenedGraph>(std::move(opened));
}

void WriteLines(llvm::StringRef key, llvm::StringRef text, llvm::json::OStream& json) {
  llvm::SmallVector<llvm::StringRef, 16> lines;
  text.rtrim('\n').split(lines, '\n');
  json.attributeArray(key, [&] {
    for (llvm::StringRef line : lines) json.value(Printable(line));
  });
}

std::string FailureJson(const PlacementContext& context, llvm::StringRef moves) {
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      WriteLines("failure", ExplainFailure(context), json);
      if (!moves.empty()) WriteLines("moves", moves, json);
    });
  });
}

}  // namespace grapnel
