#include "lib/diff/layer_story.h"

#include <algorithm>
#include <map>
#include <set>

#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostLines = 12, kMostNamed = 3, kMostTold = 4;

class StoryWriter {
 public:
  StoryWriter(const DiffOfLayers& graphs, const ValueReport* values) : graphs_(graphs) {
    LayerChanges changes = LayerChangesOf(graphs);
    for (const LayerChange& change : changes.structure) AddChange(change);
    for (const auto& [before, now] : changes.renamed) {
      LayerEvent& event = EventOf(now, LayerChange::kChanged);
      event.was = before;
      event.what.insert(event.what.begin(), "was " + before);
    }
    if (values) AddValues(*values);
    AddDevices();
  }

  LayerStory Finish() && {
    if (!llvm::any_of(story_.events, [](const LayerEvent& one) { return !one.layer.empty(); }))
      return {};
    std::set<std::string> told;
    for (const LayerEvent& event : story_.events) told.insert(event.layer);
    for (std::string& layer : LayersInOrder())
      if (told.insert(layer).second) story_.unchanged.push_back(std::move(layer));
    return std::move(story_);
  }

 private:
  void AddChange(const LayerChange& change) {
    LayerEvent& event = EventOf(change.layer, change.kind);
    event.what = change.details;
    if (change.dtypes.empty()) return;
    auto [before, after] = llvm::StringRef(change.dtypes).split(" -> ");
    event.what.push_back((after + " instead of " + before).str());
  }

  // Returns the event of a layer, which it adds if there is none. A layer that is gone may have the
  // name of a new one.
  LayerEvent& EventOf(const std::string& layer, LayerChange::Kind kind) {
    auto [place, is_new] = places_.try_emplace({layer, kind}, story_.events.size());
    if (is_new) story_.events.push_back({layer, "", kind, {}});
    return story_.events[place->second];
  }

  LayerEvent& EventOfLayerNow(const std::string& layer) {
    bool is_new_layer = places_.count({layer, LayerChange::kNew}) > 0;
    return EventOf(layer, is_new_layer ? LayerChange::kNew : LayerChange::kChanged);
  }

  void AddValues(const ValueReport& values) {
    std::map<std::string, std::set<std::string>> by_layer;
    for (const ValueDiff& value : values.different) {
      if (!value.in_b || value.a.empty() || !value.problem.empty()) continue;
      std::string layer = graphs_.layers_now.Of(value.in_b);
      by_layer[layer].insert(llvm::StringRef(value.b).rsplit('/').second.str());
    }
    for (const auto& [layer, names] : by_layer)
      EventOfLayerNow(layer).what.push_back("other values");
  }

  // Adds where the nodes of layers were placed.
  void AddDevices() {
    constexpr llvm::StringLiteral kPlaced = "placed on ";
    std::map<std::string, std::map<std::string, size_t>> by_layer;
    for (const CountedChange& counted : graphs_.diff.counted) {
      llvm::StringRef device = counted.what;
      if (!device.consume_front(kPlaced)) continue;
      for (const std::string& name : counted.nodes) {
        auto node = FindNode(graphs_.now, name);
        bool is_short = !device.starts_with("/");
        if (node)
          ++by_layer[graphs_.layers_now.Of(*node)][is_short ? device.upper() : device.str()];
        else
          llvm::consumeError(node.takeError());
      }
    }
    for (const auto& [layer, devices] : by_layer) {
      std::string text;
      for (const auto& [device, nodes] : devices)
        text += (text.empty() ? "" : ", ") + Plural(nodes, "node") + " on " + device;
      if (devices.size() == 1) text = "on " + devices.begin()->first;
      EventOfLayerNow(layer).what.push_back(std::move(text));
    }
  }

  // Returns the layers of the second graph, without models that contain them.
  std::vector<std::string> LayersInOrder() const {
    const LayerNames& names = graphs_.layers_now;
    std::vector<std::string> layers;
    for (size_t i = 0; i < names.table().layers().size(); ++i) {
      bool is_model = names.table().layers()[i].is_model;
      if (!is_model) layers.push_back(names.PathOf(static_cast<int>(i)));
    }
    if (!names.empty()) return layers;
    std::set<std::string> seen = {""};
    for (const Node& node : graphs_.now.main.nodes()) {
      if (node.op() == "Const" || IsVariable(node)) continue;
      std::string layer = names.Of(node);
      if (seen.insert(layer).second) layers.push_back(std::move(layer));
    }
    return layers;
  }

  const DiffOfLayers& graphs_;
  std::map<std::pair<std::string, LayerChange::Kind>, size_t> places_;
  LayerStory story_;
};

// Splits "block12/conv" into "block", 12 and "/conv", at the first number; nullopt without one.
struct SplitName {
  llvm::StringRef before, after;
  uint64_t number = 0;
};
std::optional<SplitName> ReadNumbered(llvm::StringRef name) {
  size_t begin = name.find_first_of("0123456789");
  if (begin == llvm::StringRef::npos) return std::nullopt;
  size_t end = std::min(name.size(), name.find_first_not_of("0123456789", begin));
  SplitName read{name.take_front(begin), name.drop_front(end), 0};
  if (name.slice(begin, end).getAsInteger(10, read.number)) return std::nullopt;
  return read;
}

// True for "block1", "block2", "block3": names that only differ in a number, which counts up.
bool AreCountedUp(llvm::ArrayRef<std::string> names) {
  auto last = ReadNumbered(names[0]);
  for (const std::string& name : names.drop_front()) {
    auto next = ReadNumbered(name);
    bool follows = last && next && next->before == last->before && next->after == last->after &&
                   next->number == last->number + 1;
    if (!follows) return false;
    last = next;
  }
  return last.has_value();
}

// Returns "a", "a and b", "block1 to block4", "12 layers (a, b, c, ...)".
std::string TogetherText(llvm::ArrayRef<std::string> names, bool all) {
  auto shown = [](const std::string& name) {
    return name.empty() ? std::string("outside of layers") : Printable(name);
  };
  if (names.size() == 1) return shown(names[0]);
  if (names.size() > 2 && AreCountedUp(names))
    return shown(names.front()) + " to " + shown(names.back());
  if (names.size() > kMostNamed && !all) {
    std::string text = std::to_string(names.size()) + " layers (";
    for (const std::string& name : names.take_front(kMostNamed)) text += shown(name) + ", ";
    return text + "...)";
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + shown(names[i]);
  return text;
}

std::string EventText(const LayerEvent& event, bool all) {
  std::string text;
  size_t told = 0;
  for (const std::string& what : event.what) {
    if (told++ == kMostTold && !all) {
      text += " and " + Plural(event.what.size() - kMostTold, "more change");
      break;
    }
    text += (text.empty() ? "" : "; ") + Printable(what);
  }
  if (event.kind == LayerChange::kChanged) return text;
  const char* how = event.kind == LayerChange::kGone ? "gone" : "new";
  return text.empty() ? how : how + std::string(" (") + text + ")";
}

}  // namespace

LayerStory StoryOf(const DiffOfLayers& graphs, const ValueReport* values) {
  return StoryWriter(graphs, values).Finish();
}

void WriteLayerTexts(llvm::ArrayRef<LayerText> texts, bool all, llvm::StringRef flag,
                     llvm::raw_ostream& os) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;  // the layers of each text
  std::map<std::string, size_t> places;
  for (const LayerText& one : texts) {
    auto [place, is_new] = places.try_emplace(one.text, lines.size());
    if (is_new) lines.push_back({one.text, {}});
    lines[place->second].second.push_back(one.layer);
  }
  size_t shown = all || lines.size() <= kMostLines ? lines.size() : kMostLines - 1, hidden = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto& [text, layers] = lines[i];
    if (i >= shown) {
      hidden += layers.size();
      continue;
    }
    bool follows = llvm::StringRef(text).starts_with("on ");
    os << "  " << TogetherText(layers, all) << (follows ? " " : ": ") << text << "\n";
  }
  if (hidden > 0) os << "  and " << Plural(hidden, "more layer") << " (" << flag << ")\n";
}

void WriteLayerStory(const LayerStory& story, llvm::StringRef title, bool all,
                     llvm::raw_ostream& os) {
  if (story.events.empty()) return;
  std::vector<LayerText> texts;
  for (const LayerEvent& event : story.events)
    texts.push_back({event.layer, EventText(event, all)});
  std::stable_partition(texts.begin(), texts.end(),
                        [](const LayerText& text) { return !text.layer.empty(); });
  os << title << "\n";
  WriteLayerTexts(texts, all, "--all", os);
  if (!story.unchanged.empty())
    os << "  " << Plural(story.unchanged.size(), "layer") << " unchanged\n";
  os << "\n";
}

void WriteLayerStoryJson(const LayerStory& story, llvm::json::OStream& json) {
  using llvm::json::fixUTF8;
  json.attributeArray("layers", [&] {
    for (const LayerEvent& event : story.events) {
      json.object([&] {
        if (event.layer.empty())
          json.attribute("layer", nullptr);
        else
          json.attribute("layer", fixUTF8(event.layer));
        json.attribute("change", event.kind == LayerChange::kGone  ? "gone"
                                 : event.kind == LayerChange::kNew ? "new"
                                                                   : "changed");
        if (!event.was.empty()) json.attribute("was", fixUTF8(event.was));
        json.attributeArray("what", [&] {
          for (const std::string& what : event.what) json.value(fixUTF8(what));
        });
      });
    }
  });
  json.attributeArray("unchanged_layers", [&] {
    for (const std::string& layer : story.unchanged) json.value(fixUTF8(layer));
  });
}

}  // namespace grapnel
