#include "lib/diff/timeline_text.h"

#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

size_t Changed(const Diff& diff) {
  return llvm::count_if(diff.matched, [](const MatchedPair& p) { return !p.changes.empty(); });
}

}  // namespace

void WriteTimelineJson(const Timeline& timeline, llvm::json::OStream& json) {
  auto names = [&](const char* key, llvm::ArrayRef<NodeEntry> nodes) {
    json.attributeArray(key, [&] {
      for (const NodeEntry& node : nodes) json.value(llvm::json::fixUTF8(node.name));
    });
  };
  json.attributeArray("stages", [&] {
    for (const TimelineStage& stage : timeline.stages) {
      json.object([&] {
        json.attribute("file", llvm::json::fixUTF8(stage.dump.file));
        json.attribute("stage", llvm::json::fixUTF8(stage.dump.stage));
        json.attribute("graph", llvm::json::fixUTF8(stage.dump.line));
        if (stage.before >= 0)
          json.attribute("before", llvm::json::fixUTF8(timeline.stages[stage.before].dump.file));
        json.attribute("nodes", static_cast<int64_t>(stage.nodes));
        json.attribute("edges", static_cast<int64_t>(stage.edges));
        names("added", stage.diff.added);
        names("removed", stage.diff.removed);
        json.attributeArray("changed", [&] {
          for (const MatchedPair& pair : stage.diff.matched) {
            if (!pair.changes.empty()) json.value(llvm::json::fixUTF8(pair.b.name));
          }
        });
        json.attributeArray("replaced", [&] {
          for (const GroupEntry& group : stage.diff.groups) {
            json.object([&] {
              names("a", group.a);
              names("b", group.b);
            });
          }
        });
      });
    }
  });
  json.attributeArray("problems", [&] {
    for (const auto* problems : {&timeline.skipped, &timeline.problems}) {
      for (const std::string& problem : *problems) json.value(llvm::json::fixUTF8(problem));
    }
  });
}

void WriteTimelineTable(const Timeline& timeline, llvm::raw_ostream& os) {
  std::vector<std::vector<std::string>> rows = {
      {"stage", "nodes", "edges", "removed", "added", "changed", "replaced"}};
  std::string line;
  auto count = [](size_t n) { return n ? WithCommas(n) : std::string(); };
  for (const TimelineStage& stage : timeline.stages) {
    if (stage.dump.line != line) rows.push_back({stage.dump.line + ":"});
    line = stage.dump.line;
    rows.push_back({"  " + stage.dump.stage, WithCommas(stage.nodes), WithCommas(stage.edges),
                    count(stage.diff.removed.size()), count(stage.diff.added.size()),
                    count(Changed(stage.diff)), count(stage.diff.groups.size())});
  }
  for (auto& row : rows) row.resize(7);
  os << Table(rows);
}

void WriteTimelineChanges(const Timeline& timeline, const DiffTextOptions& options,
                          llvm::raw_ostream& os) {
  for (const TimelineStage& stage : timeline.stages) {
    if (stage.before < 0 || stage.diff.Same()) continue;
    os << stage.dump.file << " (" << stage.dump.stage << "): " << DiffSummary(stage.diff) << "\n";
    WriteDiffText(stage.diff, options, os);
  }
}

}  // namespace grapnel
