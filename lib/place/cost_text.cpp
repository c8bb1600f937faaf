#include "lib/place/cost_text.h"

#include <cmath>

#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

namespace grapnel {
namespace {

std::string Time(double seconds) {
  auto with_unit = [](double value, const char* unit) {
    return llvm::formatv("{0:f2} {1}", value, unit).str();
  };
  if (seconds < 1e-3) return with_unit(seconds * 1e6, "us");
  return seconds < 1 ? with_unit(seconds * 1e3, "ms") : with_unit(seconds, "s");
}

std::string Share(double part, double whole) {
  return llvm::formatv("{0:f0} %", whole > 0 ? 100 * part / whole : 0).str();
}

// The `most` longest steps of the critical path, in the order of the path.
std::vector<PathStep> LongestSteps(const CostReport& report, size_t most) {
  std::vector<size_t> order(report.path.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  auto length = [&](size_t i) { return report.path[i].seconds + report.path[i].transfer; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return length(a) > length(b); });
  order.resize(std::min(order.size(), most));
  llvm::sort(order);
  std::vector<PathStep> steps;
  steps.reserve(order.size());
  for (size_t i : order) steps.push_back(report.path[i]);
  return steps;
}

std::string DeviceTable(const PlacementContext& context, const CostReport& report) {
  std::vector<std::vector<std::string>> rows = {{"device", "nodes", "at work", "of the time"}};
  for (int i = 0; i < context.devices.size(); ++i) {
    const DeviceLoad& load = report.devices[i];
    rows.push_back({context.devices.device(i).text, WithCommas(load.nodes), Time(load.seconds),
                    Share(load.seconds, report.seconds)});
  }
  return Table(rows, "  ");
}

std::string LinkTable(const PlacementContext& context, const CostReport& report) {
  std::vector<std::vector<std::string>> rows = {
      {"from", "to", "transfers", "bytes", "of unknown size", "sending"}};
  for (const LinkLoad& link : report.links) {
    rows.push_back({context.devices.device(link.source).text,
                    context.devices.device(link.target).text, WithCommas(link.transfers),
                    HumanBytes(link.bytes), WithCommas(link.unknown), Time(link.seconds)});
  }
  return Table(rows, "  ");
}

}  // namespace

std::string CostTables(const PlacementContext& context, const CostReport& report) {
  constexpr size_t kMostSteps = 20;
  double working = 0, moving = 0;
  for (const PathStep& step : report.path) {
    working += step.seconds;
    moving += step.transfer;
  }
  std::string text =
      "a run would take " + Time(report.seconds) + " (an estimate: docs/guide/placement.md)";
  if (report.unknown > 0) {
    text += ", not counting tensors of unknown size at " + Plural(report.unknown, "node");
  }
  text += "\n" + DeviceTable(context, report);
  if (!report.links.empty()) text += "\nlinks\n" + LinkTable(context, report);
  text += llvm::formatv("\ncritical path: {0}, {1} working, {2} in transfers",
                        Plural(report.path.size(), "node"), Time(working), Time(moving))
              .str();
  if (report.path.size() > kMostSteps) text += llvm::formatv("; its {0} longest", kMostSteps).str();
  std::vector<std::vector<std::string>> rows = {
      {"starts", "works", "came by", "device", "node", ""}};
  for (const PathStep& step : LongestSteps(report, kMostSteps)) {
    Node node = context.graph.node(step.node);
    const std::string& device = context.devices.device(context.placement.Of(step.node).device).text;
    rows.push_back({Time(step.start), Time(step.seconds),
                    step.transfer > 0 ? Time(step.transfer) : "", device,
                    (node.name() + " (" + node.op() + ")").str(),
                    step.was_queued ? "waited for its device" : ""});
  }
  return text + "\n" + Table(rows, "  ");
}

void WriteCostJson(llvm::json::OStream& json, const PlacementContext& context,
                   const CostReport& report) {
  auto device = [&](int i) { return context.devices.device(i).text; };
  auto nanoseconds = [&](const char* key, double seconds) {
    json.attribute(key, static_cast<int64_t>(std::llround(seconds * 1e9)));
  };
  nanoseconds("total_ns", report.seconds);
  json.attribute("unknown", report.unknown);
  json.attributeArray("devices", [&] {
    for (int i = 0; i < context.devices.size(); ++i) {
      json.object([&] {
        json.attribute("device", device(i));
        json.attribute("nodes", report.devices[i].nodes);
        nanoseconds("work_ns", report.devices[i].seconds);
      });
    }
  });
  json.attributeArray("links", [&] {
    for (const LinkLoad& link : report.links) {
      json.object([&] {
        json.attribute("source", device(link.source));
        json.attribute("target", device(link.target));
        json.attribute("transfers", link.transfers);
        json.attribute("bytes", link.bytes);
        json.attribute("unknown", link.unknown);
        nanoseconds("sending_ns", link.seconds);
      });
    }
  });
  json.attributeArray("path", [&] {
    for (const PathStep& step : report.path) {
      json.object([&] {
        json.attribute("node", llvm::json::fixUTF8(context.graph.node(step.node).name()));
        json.attribute("device", device(context.placement.Of(step.node).device));
        nanoseconds("start_ns", step.start);
        nanoseconds("work_ns", step.seconds);
        nanoseconds("transfer_ns", step.transfer);
        json.attribute("was_queued", step.was_queued);
      });
    }
  });
}

}  // namespace grapnel
