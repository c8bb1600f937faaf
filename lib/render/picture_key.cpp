#include "lib/render/picture_key.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {

std::string PictureKey(const Picture& picture, const DrawnAs& drawn_as) {
  static constexpr const char* kWays[] = {"down", "up", "to the right"};
  auto has_box = [&](auto&& is) { return llvm::any_of(picture.boxes, is); };
  auto has_edge = [&](PictureEdge::Kind kind) {
    return llvm::any_of(picture.edges, [&](const PictureEdge& edge) { return edge.kind == kind; });
  };
  std::string text = std::string("data flows ") + kWays[static_cast<int>(picture.direction)];
  if (has_edge(PictureEdge::Kind::kControl))
    text += std::string("; ") + drawn_as.control + ": control edge";
  if (has_edge(PictureEdge::Kind::kThrough))
    text += std::string("; ") + drawn_as.through + ": through hidden ops";
  if (has_edge(PictureEdge::Kind::kCall)) text += "; dotted: calls a function";
  if (has_box([](const Box& box) { return box.input || box.output; }))
    text += "; round: input or output";
  if (has_box([](const Box& box) { return box.focus; })) text += "; thick frame: requested node";
  bool is_closed = has_box(
      [](const Box& box) { return box.kind == BoxKind::kScope || box.kind == BoxKind::kFunction; });
  if (is_closed)
    text += std::string("; ") + drawn_as.closed + ": closed, --scope or --function opens it";
  if (has_box([](const Box& box) { return box.made_up; }) ||
      llvm::any_of(picture.clusters, [](const Cluster& cluster) { return cluster.made_up; }))
    text += "; dashed frame: grouped by grapnel";
  return text;
}

std::vector<Swatch> NamedColors(const Picture& picture) {
  std::vector<Swatch> named;
  for (size_t i = 1; i <= picture.colors.size(); ++i) {
    const Swatch& swatch = picture.colors[i % picture.colors.size()];
    if (!swatch.name.empty()) named.push_back(swatch);
  }
  return named;
}

}  // namespace grapnel
