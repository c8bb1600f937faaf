#include "lib/place/placement_json.h"

#include "lib/ir/tensor_name.h"
#include "lib/place/cost_text.h"

namespace grapnel {
namespace {

void WriteReport(llvm::json::OStream& json, const PlacementContext& c,
                 const PlacementReport& report) {
  auto name = [&](NodeId id) { return llvm::json::fixUTF8(c.graph.node(id).name()); };
  json.attributeArray("crossings", [&] {
    for (const Crossing& crossing : report.crossings) {
      json.object([&] {
        json.attribute("tensor", OutputName(name(crossing.from.node), crossing.from.index));
        json.attribute("reader", name(crossing.reader));
        json.attribute("from", c.devices.device(crossing.source).text);
        json.attribute("to", c.devices.device(crossing.target).text);
        json.attribute("from_host", crossing.from_host);
        json.attribute("to_host", crossing.to_host);
        json.attribute("copied", crossing.is_copied);
        if (crossing.bytes >= 0) {
          json.attribute("bytes", crossing.bytes);
        } else {
          json.attribute("bytes", nullptr);
        }
      });
    }
  });
  json.attributeArray("islands", [&] {
    for (const Island& island : report.islands) {
      json.object([&] {
        json.attributeArray("nodes", [&] {
          for (NodeId id : island.nodes) json.value(name(id));
        });
        json.attribute("device", c.devices.device(island.device).text);
        json.attribute("bytes_in", island.bytes_in);
        json.attribute("bytes_out", island.bytes_out);
        if (island.pinned.empty()) return;
        json.attribute("because_of", name(island.pinned.front()));
        json.attributeArray("without_kernel", [&] {
          for (NodeId id : island.pinned) json.value(name(id));
        });
      });
    }
  });
  json.attributeObject("memory", [&] {
    for (int i = 0; i < c.devices.size(); ++i) {
      json.attributeObject(c.devices.device(i).text, [&] {
        json.attribute("weights", report.memory[i].weights);
        json.attribute("peak", report.memory[i].peak);
        json.attribute("unknown", report.memory[i].unknown);
        json.attribute("size", c.devices.device(i).memory);
      });
    }
  });
}

}  // namespace

void WritePlacementJson(llvm::json::OStream& json, const PlacementContext& c,
                        llvm::ArrayRef<std::string> logged, const PlacementReport* report,
                        const CostReport* cost) {
  auto name = [&](NodeId id) { return llvm::json::fixUTF8(c.graph.node(id).name()); };
  const auto& failure = c.placement.failure;
  json.attributeObject("placements", [&] {
    if (failure) return;
    for (NodeId id : c.placement.order)
      json.attribute(name(id), c.devices.device(c.placement.Of(id).device).text);
  });
  if (failure) {
    json.attribute("error", llvm::json::fixUTF8(failure->message));
    json.attributeArray("conflict", [&] {
      for (NodeId id : failure->nodes) json.value(name(id));
    });
    json.attributeArray("advice", [&] {
      for (const std::string& advice : failure->advice) json.value(llvm::json::fixUTF8(advice));
    });
  } else {
    json.attribute("error", nullptr);
  }
  json.attributeObject("requested", [&] {
    for (Node node : c.graph.nodes()) {
      if (!node.device().empty())
        json.attribute(name(node.id()), llvm::json::fixUTF8(node.device()));
    }
  });
  if (!logged.empty()) {
    json.attributeObject("logged", [&] {
      for (Node node : c.graph.nodes()) {
        if (!logged[node.id()].empty()) json.attribute(name(node.id()), logged[node.id()]);
      }
    });
  }
  if (report) WriteReport(json, c, *report);
  if (cost) json.attributeObject("cost", [&] { WriteCostJson(json, c, *cost); });
}

}  // namespace grapnel
