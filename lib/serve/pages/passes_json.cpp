#include "lib/serve/pages/passes_json.h"

#include <algorithm>

#include "lib/diff/diff_text.h"
#include "lib/render/labels.h"
#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// A node, and the page that it is on.
struct PageNode {
  size_t page;
  DiffGraph::Place place;
};

constexpr size_t kMostRewrites = 2000, kMostNames = 200, kMostNearMisses = 3000;

void WriteStage(const PassRun& run, size_t index, size_t first, llvm::json::OStream& json) {
  const TimelineStage& stage = run.timeline->stages[index];
  json.object([&] {
    json.attribute("entry", first + index);
    json.attribute("title", Printable(stage.dump.stage));
    json.attribute("line", Printable(stage.dump.line));
    json.attribute("nodes", stage.nodes);
    json.attribute("edges", stage.edges);
    json.attribute("library_nodes", stage.library_nodes);
    if (const StageRecord* record = run.record.StageOf(stage.dump.file)) {
      if (!record->stage.function.empty())
        json.attribute("function", Printable(record->stage.function));
      if (run.record.has_times) json.attribute("ms", record->stage.time.count() / 1e6);
      if (run.record.has_rewrites) json.attribute("rewrites", record->stage.rewrites);
    }
    if (stage.before < 0) return;
    const TimelineStage& before = run.timeline->stages[stage.before];
    json.attribute("before", first + stage.before);
    json.attribute("nodes_before", before.nodes);
    json.attribute("edges_before", before.edges);
    json.attribute("library_nodes_before", before.library_nodes);
    json.attribute("removed", stage.diff.removed.size());
    json.attribute("added", stage.diff.added.size());
    json.attribute("changed", llvm::count_if(stage.diff.matched, [](const MatchedPair& pair) {
                     return !pair.changes.empty();
                   }));
    json.attribute("replaced", stage.diff.groups.size());
    if (stage.diff.Same()) json.attribute("same", true);
    std::string remark = DiffRemark(stage.diff);
    if (!remark.empty()) json.attribute("remark", Printable(remark));
  });
}

// Writes the passes that never changed anything, and the total time of the passes' runs that
// changed nothing.
void WriteIdle(const RunRecord& record, llvm::json::OStream& json) {
  std::vector<std::string> idle;
  double ms = 0;
  for (const StageRecord& stage : record.stages) {
    if (stage.stage.changed) continue;
    ms += stage.stage.time.count() / 1e6;
    bool worked = llvm::any_of(record.stages, [&](const StageRecord& other) {
      return other.stage.pass == stage.stage.pass && other.stage.changed;
    });
    if (!worked && !llvm::is_contained(idle, stage.stage.pass)) idle.push_back(stage.stage.pass);
  }
  json.attributeArray("idle", [&] {
    for (const std::string& pass : idle) json.value(Printable(pass));
  });
  if (record.has_times) json.attribute("idle_ms", ms);
}

void WritePlacedNode(llvm::StringRef name, std::optional<DiffGraph::Place> place,
                     llvm::json::OStream& json) {
  json.array([&] {
    json.value(Printable(name));
    if (!place) return;
    json.value(place->first);
    json.value(place->second);
  });
}

void WriteNearMisses(llvm::ArrayRef<Refusal> misses,
                     llvm::function_ref<std::optional<PageNode>(const Refusal&)> find,
                     llvm::json::OStream& json) {
  json.attribute("near_miss_count", misses.size());
  json.attributeArray("near_misses", [&] {
    for (const Refusal& miss : misses.take_front(kMostNearMisses)) {
      json.object([&] {
        json.attribute("pass", Printable(miss.pass));
        json.attribute("rule", Printable(miss.rule));
        json.attribute("help", RuleHelp(miss.pass, miss.rule));
        json.attribute("node", Printable(miss.node));
        if (!miss.function.empty()) json.attribute("function", Printable(miss.function));
        json.attribute("reason", Printable(miss.reason));
        if (auto at = find(miss)) {
          json.attribute("entry", at->page);
          json.attribute("body", at->place.first);
          json.attribute("id", at->place.second);
        }
      });
    }
  });
}

void WriteRewrite(const Rewrite& rewrite, const DiffGraph& page, llvm::json::OStream& json) {
  auto before = [&](llvm::StringRef name) { return page.FindBefore(rewrite.function, name); };
  auto after = [&](llvm::StringRef name) { return page.FindAfter(rewrite.function, name); };
  auto names = [&](const char* key, llvm::ArrayRef<std::string> list, auto find) {
    if (list.empty()) return;
    json.attributeArray(key, [&] {
      for (const std::string& name : list.take_front(kMostNames))
        WritePlacedNode(name, find(name), json);
    });
    if (list.size() > kMostNames)
      json.attribute(std::string(key) + "_more", list.size() - kMostNames);
  };
  json.object([&] {
    json.attribute("number", rewrite.number);
    json.attribute("pass", Printable(rewrite.pass));
    json.attribute("rule", Printable(rewrite.rule));
    json.attribute("why", RuleHelp(rewrite.pass, rewrite.rule));
    if (!rewrite.function.empty()) json.attribute("function", Printable(rewrite.function));
    if (!rewrite.node.empty()) json.attribute("node", Printable(rewrite.node));
    names("removed", rewrite.removed, before);
    names("made", rewrite.made, after);
    names("changed", rewrite.changed, after);
    std::vector<std::string> read;
    for (const std::string& name : rewrite.used) {
      bool told = std::binary_search(rewrite.removed.begin(), rewrite.removed.end(), name) ||
                  std::binary_search(rewrite.changed.begin(), rewrite.changed.end(), name);
      if (!told) read.push_back(name);
    }
    names("used", read, before);
    json.attributeArray("functions", [&] {
      for (const std::string& function : rewrite.functions) json.value(Printable(function));
    });
    if (!rewrite.note.empty()) json.attribute("note", Printable(rewrite.note));
  });
}

// Finds the node at which a rule refused to rewrite: in the last graph of the run, else in the
// first graph.
std::optional<PageNode> FindRefused(const PageSet& pages, const StagePage& stage,
                                    const Refusal& refusal) {
  size_t first = stage.first(), last = first + stage.run().timeline->stages.size() - 1;
  while (last > first && !pages.at(last)->Differs()) --last;
  for (size_t page : {last, first}) {
    std::shared_ptr<Page> shown = pages.at(page);
    auto drawing = shown->Drawing();
    if (!drawing) {
      llvm::consumeError(drawing.takeError());
    } else if (auto place = (*drawing)->Find(refusal.function, refusal.node)) {
      return PageNode{page, *place};
    }
  }
  return std::nullopt;
}

void WriteBlock(const StagePage& stage, const Story& story, llvm::ArrayRef<const LifeEvent*> events,
                llvm::json::OStream& json) {
  json.object([&] {
    json.attribute("title", Printable(story.title));
    json.attribute("function", Printable(story.function));
    json.attribute("line", Printable(story.line));
    json.attributeArray("events", [&] {
      for (const LifeEvent* event : events) {
        const DumpStage& dump = stage.run().timeline->stages[event->stage].dump;
        json.object([&] {
          json.attribute("entry", stage.first() + event->stage);
          json.attribute("stage", Printable(dump.stage));
          if (dump.line != story.line) json.attribute("line", Printable(dump.line));
          json.attribute("text", Printable(event->text));
        });
      }
    });
  });
}

}  // namespace

std::string LifeJson(const StagePage& stage, llvm::StringRef node) {
  const PassRun& run = stage.run();
  std::vector<LifeEvent> life = LifeOf(*run.timeline, node);
  std::vector<std::vector<const LifeEvent*>> of(run.stories.size());
  for (const LifeEvent& event : life) of[run.story_of[event.stage]].push_back(&event);
  size_t own = run.story_of[stage.number() - stage.first()];
  const std::string& function = run.stories[own].function;
  std::vector<size_t> order;
  for (size_t i = 0; i < of.size(); ++i)
    if (!of[i].empty()) order.push_back(i);
  auto distance = [&](size_t i) {
    return i == own ? 0 : run.stories[i].function == function ? 1 : 2;
  };
  llvm::stable_sort(order, [&](size_t a, size_t b) { return distance(a) < distance(b); });
  return PageDocument([&](llvm::json::OStream& json) {
    json.array([&] {
      for (size_t i : order) WriteBlock(stage, run.stories[i], of[i], json);
    });
  });
}

std::string PassesJson(const PageSet& pages, const StagePage& stage) {
  const PassRun& run = stage.run();
  auto find = [&](const Refusal& refusal) { return FindRefused(pages, stage, refusal); };
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("stages", [&] {
        for (size_t i = 0; i < run.timeline->stages.size(); ++i)
          WriteStage(run, i, stage.first(), json);
      });
      json.attribute("has_rewrites", run.record.has_rewrites);
      json.attribute("has_times", run.record.has_times);
      WriteIdle(run.record, json);
      json.attributeArray("notes", [&] {
        for (const auto* list : {&run.notes, &run.record.problems}) {
          for (const std::string& note : *list) json.value(Printable(note));
        }
      });
      if (run.knows_near_misses) WriteNearMisses(run.near_misses, find, json);
    });
  });
}

Expected<std::string> RewritesJson(StagePage& stage) {
  ASSIGN_OR_RETURN(DiffGraph * merged, stage.Merged());
  llvm::ArrayRef<Rewrite> rewrites = stage.rewrites();
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("count", rewrites.size());
      json.attributeArray("rewrites", [&] {
        for (const Rewrite& rewrite : rewrites.take_front(kMostRewrites))
          WriteRewrite(rewrite, *merged, json);
      });
    });
  });
}

}  // namespace grapnel
