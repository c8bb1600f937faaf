#include "lib/render/picture_json.h"

#include "lib/support/printable.h"

namespace grapnel {
namespace {

using llvm::json::OStream;

llvm::StringRef KindName(BoxKind kind) {
  switch (kind) {
    case BoxKind::kOp:
      return "op";
    case BoxKind::kScope:
      return "scope";
    case BoxKind::kFunction:
      return "function";
    case BoxKind::kRest:
      return "rest";
    case BoxKind::kStub:
      return "missing";
  }
  return "";
}

llvm::StringRef KindName(PictureEdge::Kind kind) {
  switch (kind) {
    case PictureEdge::Kind::kData:
      return "data";
    case PictureEdge::Kind::kControl:
      return "control";
    case PictureEdge::Kind::kCall:
      return "call";
    case PictureEdge::Kind::kDangling:
      return "missing";
    case PictureEdge::Kind::kThrough:
      return "through";
  }
  return "";
}

void Text(OStream& json, llvm::StringRef key, const std::string& text) {
  if (!text.empty()) json.attribute(key, text);
}

void Lines(OStream& json, llvm::StringRef key, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  json.attributeArray(key, [&] {
    for (const std::string& line : lines) json.value(line);
  });
}

void WriteParts(OStream& json, const Box& box) {
  json.attributeArray("parts", [&] {
    for (const std::vector<NodeId>& part : box.parts) {
      json.array([&] {
        for (NodeId node : part) json.value(Printable(box.graph->node(node).name()));
      });
    }
  });
}

void WriteBox(OStream& json, const Picture& picture, const Box& box) {
  json.object([&] {
    json.attribute("id", box.id);
    json.attribute("kind", KindName(box.kind));
    Text(json, "title", box.title);
    Text(json, "name", box.name);
    Text(json, "layer", box.layer);
    if (box.made_up) json.attribute("made_up", true);
    if (!picture.colors.empty()) Text(json, "color", picture.colors[box.color].name);
    Lines(json, "notes", box.notes);
    if (box.cluster >= 0) json.attribute("frame", box.cluster);
    if (!box.parts.empty()) WriteParts(json, box);
  });
}

void WriteEdge(OStream& json, const PictureEdge& edge) {
  json.object([&] {
    json.attribute("from", edge.from);
    json.attribute("to", edge.to);
    json.attribute("kind", KindName(edge.kind));
    json.attribute("count", edge.count);
    Text(json, "label", edge.label);
    if (edge.back) json.attribute("back", true);
  });
}

}  // namespace

void WritePictureJson(const Picture& picture, OStream& json) {
  Text(json, "title", picture.title);
  Lines(json, "header", picture.header);
  json.attributeArray("boxes", [&] {
    for (const Box& box : picture.boxes) WriteBox(json, picture, box);
  });
  json.attributeArray("frames", [&] {
    for (const Cluster& cluster : picture.clusters) {
      json.object([&] {
        json.attribute("id", cluster.id);
        Text(json, "title", cluster.title);
        Text(json, "layer", cluster.layer);
        if (cluster.made_up) json.attribute("made_up", true);
        if (cluster.parent >= 0) json.attribute("parent", cluster.parent);
      });
    }
  });
  json.attributeArray("edges", [&] {
    for (const PictureEdge& edge : picture.edges) WriteEdge(json, edge);
  });
}

}  // namespace grapnel
