#include "lib/serve/work/log_work.h"

#include "lib/ir/device_name.h"
#include "lib/job/logged_placement.h"
#include "lib/job/placement_history.h"
#include "lib/place/log_text.h"
#include "lib/render/labels.h"
#include "lib/serve/pages/stage_page.h"
#include "lib/serve/work/place_request.h"
#include "lib/support/printable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Casting.h"

namespace grapnel {
namespace {

constexpr size_t kMostRows = 20000;  // rows for one graph

enum RowKind { kSame, kElsewhere, kExplained, kGone };

struct LogRow {
  RowKind kind = kSame;
  std::string node, op, asked, placed, logged, why;
  int64_t line = 0;  // the line's number in the log; 0: not in the log
};

class LogRows {
 public:
  LogRows(const PlacedGraphs& placed, const LoggedPlacement& logged, size_t graph)
      : c_(placed.of(graph).context()),
        log_(*logged.log),
        of_(*logged.of(graph)),
        story_(logged.story_of(graph)),
        is_recorded_(IsPlaced(c_.graph)) {
    if (graph == 0) assumed_ = placed.view.assumed;
  }

  bool is_recorded() const { return is_recorded_; }
  // Returns a row for each node of the graph or of its log, rows with differences first; none if
  // the log does not contain the graph.
  std::vector<LogRow> All() const {
    if (of_.used.empty()) return {};  // the log is about other graphs
    std::vector<NodeStory> reasons = ReasonsOf(c_.graph, of_, log_, story_);
    std::vector<LogRow> rows;
    for (NodeId id : c_.placement.order) rows.push_back(Of(c_.graph.node(id), reasons[id].text));
    for (const LoggedNode* line : of_.gone) {
      LogRow& row = rows.emplace_back();
      row = {kGone, line->node, line->op, Asked(line->node, ""), "", "", "", line->line};
      row.logged = ShortDevice(line->device);
      row.why = ReasonOfGone(*line, story_).text;
    }
    llvm::stable_sort(rows, [](const LogRow& a, const LogRow& b) {
      return (a.kind == kSame ? kGone + 1 : a.kind) < (b.kind == kSame ? kGone + 1 : b.kind);
    });
    return rows;
  }

 private:
  // Returns the device that the node requested before TensorFlow placed it.
  std::string Asked(llvm::StringRef name, llvm::StringRef device) const {
    auto asked = story_.asked.find(name);
    if (asked != story_.asked.end()) return ShortDevice(asked->second);
    return is_recorded_ ? "" : ShortDevice(device);
  }

  LogRow Of(const Node& node, const std::string& reason) const {
    const NodePlacement& placement = c_.placement.Of(node.id());
    const std::string& device = c_.devices.device(placement.device).text;
    LogRow row = {kSame,
                  node.name().str(),
                  node.op().str(),
                  Asked(node.name(), node.device()),
                  ShortDevice(device),
                  "",
                  reason};
    if (!reason.empty()) row.kind = kExplained;
    if (const LoggedNode* line = of_.of[node.id()]) {
      row.logged = ShortDevice(line->device);
      row.line = line->line;
      if (line->device != device) row.kind = kElsewhere;
    }
    if (row.kind == kElsewhere && reason.empty()) {
      row.why = std::string("placed here: ") + RuleText(placement.rule);
      if (placement.was_softened) row.why += ", request given up";
    } else if (reason.empty() && llvm::is_contained(assumed_, node.name())) {
      row.why = kAssumedText;
    }
    return row;
  }

  PlacementContext c_;
  const PlacementLog& log_;
  const LogOfGraph& of_;
  const GraphStory& story_;
  bool is_recorded_;
  llvm::ArrayRef<std::string> assumed_;
};

void WriteText(llvm::StringRef key, llvm::StringRef text, llvm::json::OStream& json) {
  if (!text.empty()) json.attribute(key, Printable(text));
}

void WriteRow(const LogRow& row, const GraphPage* shown, llvm::json::OStream& json) {
  json.object([&] {
    if (row.kind != kSame) json.attribute("kind", static_cast<int>(row.kind));
    WriteText("node", row.node, json);
    WriteText("op", row.op, json);
    WriteText("asked", row.asked, json);
    WriteText("placed", row.placed, json);
    WriteText("logged", row.logged, json);
    if (row.line > 0) json.attribute("line", row.line);
    WriteText("why", row.why, json);
    if (!shown || row.kind == kGone) return;
    if (auto place = shown->Find("", row.node)) {
      json.attribute("body", place->first);
      json.attribute("id", place->second);
    }
  });
}

void WriteGraph(const PlacedGraphs& placed, const LoggedPlacement& logged, size_t graph,
                const GraphPage* shown, llvm::json::OStream& json) {
  LogRows made(placed, logged, graph);
  std::vector<LogRow> all = made.All();
  llvm::ArrayRef<LogRow> rows = all;
  auto count = [&](RowKind kind) {
    return llvm::count_if(rows, [&](const LogRow& row) { return row.kind == kind; });
  };
  json.object([&] {
    if (graph > 0) json.attribute("title", Printable(placed.Title(graph)));
    WriteLines("summary",
               LogSummary(placed.of(graph).context(), *logged.log, *logged.of(graph),
                          logged.story_of(graph)),
               json);
    if (made.is_recorded()) json.attribute("recorded", true);
    json.attribute("elsewhere", count(kElsewhere));
    json.attribute("explained", count(kExplained));
    json.attribute("gone", count(kGone));
    json.attributeArray("rows", [&] {
      for (const LogRow& row : rows.take_front(kMostRows))
        WriteRow(row, graph == 0 ? shown : nullptr, json);
    });
    if (rows.size() > kMostRows) json.attribute("left_off", rows.size() - kMostRows);
  });
}

std::string DevicesText(const PlacedGraph& placed) {
  std::string text;
  for (const ListedDevice& device : placed.setup.devices.devices())
    text += (text.empty() ? "" : ", ") + ShortDevice(device.text);
  return Printable(text);
}

std::vector<std::string> NotesOf(const OpenedGraph& opened, bool has_folder,
                                 const PlacedGraphs& placed, const LoggedPlacement& logged) {
  std::vector<std::string> notes;
  auto add = [&](llvm::StringRef text) {
    if (!text.empty()) notes.push_back(text.rtrim('\n').str());
  };
  add(AssumedText(placed.view, placed.main.context()));
  add(OthersText(logged.devices));
  if (!logged.story.source.empty()) add("the history of nodes is from " + logged.story.source);
  if (!has_folder && DumpNumberOf(opened) >= 0)
    add("`grapnel serve FOLDER`, with the folder of all dumps, also shows which pass made or "
        "removed a "
        "node");
  return notes;
}

void WriteLog(const PlacementLog& log, llvm::ArrayRef<std::string> notes,
              llvm::json::OStream& json) {
  json.attributeArray("problems", [&] {
    for (const std::string& problem : LogProblems(log)) json.value(Printable(problem));
  });
  json.attributeArray("unreadable", [&] {
    for (int64_t line : log.broken) json.value(line);
  });
  json.attributeArray("notes", [&] {
    for (const std::string& note : notes) json.value(Printable(note));
  });
  if (!log.eager.empty()) WriteLines("eager", EagerText(log), json);
}

}  // namespace

Expected<std::string> LogFromPage(const Page& page, Page& shown, llvm::StringRef request) {
  auto [head, text] = request.split('\n');
  ASSIGN_OR_RETURN(PlaceAsked asked, ParsePlaceRequest(head));
  if (text.trim().empty()) return MakeError("{0} is empty: it has no lines", asked.log);
  std::string& devices = asked.settings.devices;
  if (devices.empty()) devices = llvm::join(DevicesOfLog(text), ",");
  if (devices.empty()) devices = "cpu:1";
  // A folder of dumps is read only if the user serves that folder: then the page is a StagePage.
  bool has_folder = llvm::isa<StagePage>(page);
  ASSIGN_OR_RETURN(std::shared_ptr<const OpenedGraph> shared, OpenToPlace(page));
  RETURN_IF_ERROR(CheckValid(*shared, nullptr));
  OpenedGraph opened = shared->Copy();
  ASSIGN_OR_RETURN(PlacedGraphs placed, PlaceWithCalls(opened, {asked.settings, {}, {}}));
  LoggedPlacement logged;
  if (has_folder) {
    ASSIGN_OR_RETURN(logged.story, StoryOf(opened, ""));
  }
  llvm::StringRef log = text;
  auto read = [&](llvm::ArrayRef<LogTarget> targets) -> Expected<PlacementLog> {
    return ParsePlacementLog(asked.log, log, targets);
  };
  RETURN_IF_ERROR(PutLogOn(read, has_folder, opened, &placed, &logged));
  for (size_t i = 0; i < placed.size(); ++i) {
    PlacementContext context = placed.of(i).context();
    if (context.placement.failure) return FailureJson(context, "");
  }
  ASSIGN_OR_RETURN(const GraphPage* drawing, shown.Drawing());
  std::vector<std::string> notes = NotesOf(opened, has_folder, placed, logged);
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("devices", DevicesText(placed.main));
      WriteLog(*logged.log, notes, json);
      json.attributeArray("graphs", [&] {
        for (size_t i = 0; i < placed.size(); ++i) WriteGraph(placed, logged, i, drawing, json);
      });
    });
  });
}

}  // namespace grapnel
