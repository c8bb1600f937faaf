#include "lib/render/picture_views.h"

#include "lib/render/frame_views.h"
#include "lib/render/picture_key.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {
namespace {

using llvm::json::OStream;

// As lib/render/web/draw.js draws.
constexpr DrawnAs kDrawnOnPage = {
    .closed = "stack of sheets", .control = "dashed", .through = "long dashes"};

class ViewsWriter {
 public:
  ViewsWriter(const Picture& picture, OStream& json)
      : picture_(picture), json_(json), views_(MakeFrameViews(picture)) {}

  void Write() {
    static constexpr const char* kDirections[] = {"down", "up", "right"};
    json_.object([&] {
      json_.attribute("title", picture_.title);
      Lines("header", picture_.header);
      json_.attribute("key", PictureKey(picture_, kDrawnOnPage));
      if (picture_.colors.size() > 1) Colors();
      json_.attribute("direction", kDirections[static_cast<int>(picture_.direction)]);
      json_.attributeArray("views", [&] {
        for (const FrameView& view : views_) json_.object([&] { View(view); });
      });
    });
  }

 private:
  void Lines(llvm::StringRef key, llvm::ArrayRef<std::string> lines) {
    json_.attributeArray(key, [&] {
      for (const std::string& line : lines) json_.value(line);
    });
  }

  void Flag(llvm::StringRef key, bool is_set) {
    if (is_set) json_.attribute(key, true);
  }

  void Colors() {
    json_.attributeObject("colors", [&] {
      json_.attribute("title", "color: " + picture_.color_title);
      json_.attributeArray("swatches", [&] {
        for (const Swatch& swatch : NamedColors(picture_)) {
          json_.object([&] {
            json_.attribute("name", swatch.name);
            json_.attribute("fill", swatch.fill);
          });
        }
      });
    });
  }

  void View(const FrameView& view) {
    json_.attributeArray("boxes", [&] {
      for (const FrameItem& item : view.items) {
        json_.object([&] {
          json_.attribute("key", item.Key());
          json_.attribute("fixed", true);
          if (item.is_cluster) {
            Opened(item.index);
          } else {
            Closed(picture_.boxes[item.index]);
          }
        });
      }
    });
    Above(view.items);
    Ports("sources", view.sources);
    Ports("sinks", view.sinks);
    json_.attributeArray("edges", [&] {
      for (const FrameEdge& edge : view.edges) json_.object([&] { Edge(view, edge); });
    });
  }

  void Above(llvm::ArrayRef<FrameItem> items) {
    auto is_kept = [&](const FrameItem& item) {
      return item.is_cluster ? picture_.clusters[item.index].kept : picture_.boxes[item.index].kept;
    };
    if (llvm::none_of(items, is_kept)) return;
    json_.attributeArray("above", [&] {
      for (size_t i = 0; i < items.size(); ++i) {
        if (is_kept(items[i])) json_.value(i);
      }
    });
  }

  void Ports(llvm::StringRef side, llvm::ArrayRef<std::string> keys) {
    json_.attributeArray(side, [&] {
      for (const std::string& key : keys) json_.object([&] { json_.attribute("key", key); });
    });
  }

  void Opened(uint32_t index) {
    const Cluster& cluster = picture_.clusters[index];
    json_.attribute("kind", "scope");
    json_.attribute("name", (cluster.function ? "function " : "") + cluster.title);
    if (!cluster.name.empty()) json_.attribute("className", cluster.name);
    json_.attribute("tip", cluster.tooltip);
    json_.attribute("frame", index + 1);
    Flag("isFunction", cluster.function);
    Flag("made_up", cluster.made_up);
  }

  void Closed(const Box& box) {
    bool function = box.kind == BoxKind::kFunction;
    if (box.kind == BoxKind::kScope) {
      json_.attribute("kind", "scope");
      json_.attribute("name", box.title);
      if (!box.name.empty()) json_.attribute("className", box.name);
      json_.attribute("ops", box.num_ops);
      Lines("notes", llvm::ArrayRef(box.notes).drop_front());  // the first one is the number of ops
    } else {
      std::string title = (function ? "function " : "") + box.title;
      if (box.repeat > 1) title = WithCommas(box.repeat) + " \xc3\x97 " + title;
      json_.attribute("kind", function ? "function" : "op");
      json_.attribute("op", title);
      if (box.name != box.title) json_.attribute("name", box.name);
      Lines("notes", box.notes);
    }
    json_.attribute("tip", box.tooltip);
    if (!picture_.colors.empty()) json_.attribute("fill", picture_.colors[box.color].fill);
    Flag("stack", function || box.repeat > 1);
    Flag("input", box.input);
    Flag("output", box.output);
    Flag("focus", box.focus);
    Flag("rest", box.kind == BoxKind::kRest);
    Flag("made_up", box.made_up);
    Flag("missing", box.kind == BoxKind::kStub);
  }

  std::string NameOf(const FrameView& view, uint32_t item) const {
    if (item >= view.items.size()) return "";
    const FrameItem& found = view.items[item];
    return found.is_cluster ? picture_.clusters[found.index].id : picture_.boxes[found.index].id;
  }

  void Edge(const FrameView& view, const FrameEdge& edge) {
    json_.attribute("from", edge.from);
    json_.attribute("to", edge.to);
    json_.attribute("count", edge.count);
    if (!edge.label.empty()) json_.attribute("label", edge.label);
    Flag("control", edge.kind == PictureEdge::Kind::kControl);
    Flag("call", edge.kind == PictureEdge::Kind::kCall);
    Flag("missing", edge.kind == PictureEdge::Kind::kDangling);
    Flag("through", edge.kind == PictureEdge::Kind::kThrough);
    Flag("back", edge.back);
    std::string from = NameOf(view, edge.from), to = NameOf(view, edge.to);
    if (!from.empty() && !to.empty()) {
      std::string label = edge.label.empty() ? "" : ": " + edge.label;
      json_.attribute("tip", from + " \xe2\x86\x92 " + to + label);
    }
  }

  const Picture& picture_;
  OStream& json_;
  std::vector<FrameView> views_;
};

}  // namespace

std::string PictureViewsJson(const Picture& picture) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  {
    OStream json(stream);
    ViewsWriter(picture, json).Write();
  }
  return stream.str();
}

}  // namespace grapnel
