#include "lib/diff/timeline_text.h"

#include "lib/diff/fates_json.h"
#include "lib/diff/timeline_layers.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The names of the nodes that a stage added, removed and changed, in the main graph or in
// functions.
struct Names {
  std::vector<llvm::StringRef> added, removed, changed;
};

Names NamesOf(const Diff& diff, bool of_library) {
  Names names;
  auto add = [&](const NodeEntry& node, std::vector<llvm::StringRef>* list) {
    if (node.function().empty() != of_library) list->push_back(node.name);
  };
  for (const NodeEntry& node : diff.added) add(node, &names.added);
  for (const NodeEntry& node : diff.removed) add(node, &names.removed);
  for (const GroupEntry& group : diff.groups) {
    auto is_kept = [](const NodeEntry& node, llvm::ArrayRef<NodeEntry> in) {
      return llvm::any_of(in, [&](const NodeEntry& other) { return other.name == node.name; });
    };
    for (const NodeEntry& node : group.a)
      if (!is_kept(node, group.b)) add(node, &names.removed);
    for (const NodeEntry& node : group.b)
      add(node, is_kept(node, group.a) ? &names.changed : &names.added);
  }
  for (const MatchedPair& pair : diff.matched)
    if (!pair.changes.empty()) add(pair.b, &names.changed);
  for (std::vector<llvm::StringRef>* list : {&names.added, &names.removed, &names.changed})
    llvm::sort(*list);
  return names;
}

class StageJson {
 public:
  StageJson(const Timeline& timeline, TimelineLayers& layers, llvm::json::OStream& json)
      : timeline_(timeline), layers_(layers), json_(json) {}

  void Write(const TimelineStage& stage) {
    Text("file", stage.dump.file);
    Text("stage", stage.dump.stage);
    Text("graph", stage.dump.line);
    if (stage.before >= 0) Text("before", timeline_.stages[stage.before].dump.file);
    Counts(stage.nodes, stage.edges, NamesOf(stage.diff, /*of_library=*/false));
    json_.attributeObject("library", [&] {
      Counts(stage.library_nodes, stage.library_edges, NamesOf(stage.diff, /*of_library=*/true));
    });
    WriteFatesJson(stage.diff, json_);
    WriteLayerStoryJson(layers_.OfStage(static_cast<int>(&stage - timeline_.stages.data())), json_);
    Array("replaced", stage.diff.groups, [&](const GroupEntry& group) {
      Nodes("a", group.a);
      Nodes("b", group.b);
    });
  }

 private:
  void Text(const char* key, llvm::StringRef text) {
    json_.attribute(key, llvm::json::fixUTF8(text));
  }
  void List(const char* key, llvm::ArrayRef<llvm::StringRef> names) {
    json_.attributeArray(key, [&] {
      for (llvm::StringRef name : names) json_.value(llvm::json::fixUTF8(name));
    });
  }
  void Nodes(const char* key, llvm::ArrayRef<NodeEntry> nodes) {
    json_.attributeArray(key, [&] {
      for (const NodeEntry& node : nodes) json_.value(llvm::json::fixUTF8(node.name));
    });
  }
  template <typename List, typename Write>
  void Array(const char* key, const List& list, Write write) {
    json_.attributeArray(key, [&] {
      for (const auto& one : list) json_.object([&] { write(one); });
    });
  }

  void Counts(size_t nodes, size_t edges, const Names& names) {
    json_.attribute("nodes", static_cast<int64_t>(nodes));
    json_.attribute("edges", static_cast<int64_t>(edges));
    List("added", names.added);
    List("removed", names.removed);
    List("changed", names.changed);
  }

  const Timeline& timeline_;
  TimelineLayers& layers_;
  llvm::json::OStream& json_;
};

}  // namespace

void WriteTimelineJson(const Timeline& timeline, llvm::json::OStream& json) {
  TimelineLayers layers(timeline);
  json.attributeArray("stages", [&] {
    for (const TimelineStage& stage : timeline.stages)
      json.object([&] { StageJson(timeline, layers, json).Write(stage); });
  });
  json.attributeArray("graphs", [&] {
    for (const TimelineLayers::Whole& whole : layers.Graphs()) {
      LayerStory story = layers.OfGraph(whole);
      if (story.events.empty()) continue;
      const DumpStage& last = timeline.stages[whole.last].dump;
      json.object([&] {
        json.attribute("graph", llvm::json::fixUTF8(last.line));
        json.attribute("before", llvm::json::fixUTF8(timeline.stages[whole.first].dump.file));
        json.attribute("file", llvm::json::fixUTF8(last.file));
        WriteLayerStoryJson(story, json);
      });
    }
  });
  json.attributeArray("problems", [&] {
    for (const auto* problems : {&timeline.skipped, &timeline.problems}) {
      for (const std::string& problem : *problems) json.value(llvm::json::fixUTF8(problem));
    }
  });
}

void WriteTimelineTable(const Timeline& timeline, bool brief, llvm::raw_ostream& os) {
  std::vector<std::vector<std::string>> rows = {
      {"stage", "nodes", "edges", "in functions", "removed", "added", "changed"}};
  bool has_library = llvm::any_of(
      timeline.stages, [](const TimelineStage& stage) { return stage.library_nodes > 0; });
  std::vector<std::string> remarks = {""};
  std::string line;
  auto count = [](size_t n) { return n ? WithCommas(n) : std::string(); };
  size_t unlisted = 0;
  for (const TimelineStage& stage : timeline.stages) {
    if (brief && stage.before >= 0 && stage.diff.Same()) {
      ++unlisted;
      continue;
    }
    if (stage.dump.line != line) {
      rows.push_back({stage.dump.line + ":"});
      remarks.emplace_back();
    }
    line = stage.dump.line;
    Names names = NamesOf(stage.diff, /*of_library=*/false);
    rows.push_back({"  " + stage.dump.stage, WithCommas(stage.nodes), WithCommas(stage.edges),
                    count(stage.library_nodes), count(names.removed.size()),
                    count(names.added.size()), count(names.changed.size())});
    remarks.push_back(DiffRemark(stage.diff));
  }
  for (auto& row : rows) {
    row.resize(7);
    if (!has_library) row.erase(row.begin() + 3);
  }
  std::string table = Table(rows);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(table).split(lines, '\n', -1, /*KeepEmpty=*/false);
  size_t width = lines.front().size();
  for (auto [text, remark] : llvm::zip(lines, remarks)) {
    os << text;
    if (!remark.empty()) os.indent(width > text.size() ? width - text.size() : 0) << "  " << remark;
    os << "\n";
  }
  if (unlisted > 0) os << Plural(unlisted, "more stage") << " changed nothing\n";
}

void WriteTimelineChanges(const Timeline& timeline, const DiffTextOptions& options,
                          llvm::raw_ostream& os) {
  TimelineLayers layers(timeline);
  for (size_t i = 0; i < timeline.stages.size(); ++i) {
    const TimelineStage& stage = timeline.stages[i];
    if (stage.before < 0 || stage.diff.Same()) continue;
    os << stage.dump.file << " (" << stage.dump.stage << "): " << DiffSummary(stage.diff) << "\n";
    WriteLayerStory(layers.OfStage(static_cast<int>(i)), "layers", options.all, os);
    WriteDiffText(stage.diff, options, os);
  }
}

}  // namespace grapnel
