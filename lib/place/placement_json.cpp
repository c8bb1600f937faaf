#include "lib/place/placement_json.h"

#include "lib/ir/tensor_name.h"
#include "lib/place/cost_text.h"

namespace grapnel {
namespace {

void WriteReport(llvm::json::OStream& json, const PlacementContext& c,
                 const PlacementReport& report) {
  auto name = [&](NodeId id) { return llvm::json::fixUTF8(c.graph.node(id).name()); };
  json.attributeArray("crossings", [&] {
    for (const DeviceTransfer& crossing : report.crossings) {
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

void WriteText(llvm::json::OStream& json, llvm::StringRef key, llvm::StringRef text) {
  if (text.empty()) {
    json.attribute(key, nullptr);
  } else {
    json.attribute(key, llvm::json::fixUTF8(text));
  }
}

// Writes a node's line of the log, or null if there is none, and what passes did to the node.
void WriteLine(llvm::json::OStream& json, const LoggedNode* line, const NodeStory& why) {
  WriteText(json, "device", line ? line->device : "");
  WriteText(json, "op", line ? line->op : "");
  if (line) {
    json.attribute("line", line->line);
  } else {
    json.attribute("line", nullptr);
  }
  WriteText(json, "why", why.text);
  WriteText(json, "pass", why.pass);
}

void WriteGraphs(llvm::json::OStream& json, llvm::StringRef key,
                 llvm::ArrayRef<const LoggedGraph*> graphs) {
  json.attributeArray(key, [&] {
    for (const LoggedGraph* graph : graphs) {
      json.object([&] {
        WriteText(json, "name", graph->name);
        json.attribute("first_line", graph->nodes.front().line);
        json.attribute("last_line", graph->nodes.back().line);
        json.attribute("nodes", static_cast<int64_t>(graph->nodes.size()));
      });
    }
  });
}

const char* ChosenBy(LogOfGraph::Reason reason) {
  switch (reason) {
    case LogOfGraph::kName:
      return "name";
    case LogOfGraph::kNodes:
      return "nodes";
    case LogOfGraph::kDevices:
      return "devices";
    case LogOfGraph::kOrder:
      return "order";
    default:
      return "only";
  }
}

void WriteBroken(llvm::json::OStream& json, const PlacementLog& log) {
  json.attribute("unreadable", log.broken_lines);
  json.attributeArray("unreadable_lines", [&] {
    for (int64_t line : log.broken) json.value(line);
  });
  if (log.cut_line == 0) return json.attribute("cut", nullptr);
  json.attributeObject("cut", [&] {
    json.attribute("line", log.cut_line);
    WriteText(json, "node", log.cut_node);
  });
}

void WriteNodes(llvm::json::OStream& json, const PlacementContext& c, const LogFindings& found) {
  std::vector<NodeStory> reasons = ReasonsOf(c.graph, found.logged, found.log, found.story);
  json.attributeObject("nodes", [&] {
    for (Node node : c.graph.nodes()) {
      json.attributeObject(llvm::json::fixUTF8(node.name()), [&] {
        WriteLine(json, found.logged.of[node.id()], reasons[node.id()]);
      });
    }
  });
  json.attributeArray("gone", [&] {
    for (const LoggedNode* line : found.logged.gone) {
      json.object([&] {
        json.attribute("node", llvm::json::fixUTF8(line->node));
        WriteLine(json, line, ReasonOfGone(*line, found.story));
      });
    }
  });
}

void WriteLog(llvm::json::OStream& json, const PlacementContext& c, const LogFindings& found) {
  json.attributeObject("logged", [&] {
    for (Node node : c.graph.nodes()) {
      llvm::StringRef device = found.logged.DeviceOf(node.id());
      if (!device.empty()) json.attribute(llvm::json::fixUTF8(node.name()), device);
    }
  });
  json.attributeObject("log", [&] {
    json.attribute("found", static_cast<int64_t>(found.logged.found()));
    WriteGraphs(json, "graphs", found.logged.used);
    json.attribute("chosen_by", ChosenBy(found.logged.reason));
    WriteGraphs(json, "rivals", found.logged.rivals);
    json.attribute("differing", static_cast<int64_t>(found.logged.differing));
    json.attribute("other_graphs", found.log.other_graphs);
    json.attributeArray("other_names", [&] {
      for (const std::string& name : found.log.other_names) json.value(llvm::json::fixUTF8(name));
    });
    WriteBroken(json, found.log);
    WriteNodes(json, c, found);
    json.attributeArray("eager", [&] {
      for (const auto& eager : found.log.eager) {
        json.object([&] {
          json.attribute("op", llvm::json::fixUTF8(eager.first.first));
          json.attribute("device", eager.first.second);
          json.attribute("times", eager.second);
        });
      }
    });
  });
}

}  // namespace

void WritePlacementJson(llvm::json::OStream& json, const PlacementContext& c,
                        const PlacementExtras& extras) {
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
  if (!extras.assumed.empty()) {
    json.attributeArray("assumed", [&] {
      for (const std::string& argument : extras.assumed) json.value(llvm::json::fixUTF8(argument));
    });
  }
  if (extras.log) WriteLog(json, c, *extras.log);
  if (extras.report) WriteReport(json, c, *extras.report);
  if (extras.cost) json.attributeObject("cost", [&] { WriteCostJson(json, c, *extras.cost); });
}

}  // namespace grapnel
