#include "lib/render/repeats.h"

#include <map>
#include <string>
#include <tuple>

namespace grapnel {
namespace {

// Fewer than kRepeat equal siblings are drawn one by one, as are all boxes in pictures of at most
// kRepeatAbove boxes.
constexpr size_t kRepeat = 3, kRepeatAbove = 20;

// Returns the properties of each box except its name, as text: op, cluster, device, notes, edges.
// Empty if the box must not be merged.
std::vector<std::string> LooksOf(const Picture& picture) {
  std::vector<std::string> looks(picture.boxes.size());
  for (size_t i = 0; i < looks.size(); ++i) {
    const Box& box = picture.boxes[i];
    bool may = box.kind == BoxKind::kOp && !box.input && !box.output && !box.focus;
    if (may)
      looks[i] =
          llvm::formatv("{0}|{1}|{2}|", box.title, box.cluster, box.graph->node(box.node).device());
    for (const std::string& note : box.notes) looks[i] += may ? note + "|" : "";
  }
  for (const PictureEdge& edge : picture.edges) {
    std::string words =
        llvm::formatv("{0},{1},{2}|", static_cast<int>(edge.kind), edge.count, edge.label);
    bool plain = edge.kind == PictureEdge::Kind::kData || edge.kind == PictureEdge::Kind::kControl;
    for (bool out : {true, false}) {
      std::string& mine = looks[out ? edge.from : edge.to];
      if (!plain || edge.from == edge.to) mine.clear();
      if (!mine.empty())
        mine += llvm::formatv("{0}{1}:{2}", out ? ">" : "<", out ? edge.to : edge.from, words);
    }
  }
  return looks;
}

// Merges each box i, with its edges, into box into[i], which is i itself for boxes to keep.
void Merge(const std::vector<uint32_t>& into, std::vector<BodyBoxes>& bodies, Picture* picture) {
  std::vector<uint32_t> number(into.size());
  std::vector<Box> boxes;
  for (uint32_t i = 0; i < into.size(); ++i) {
    if (into[i] != i) continue;
    number[i] = static_cast<uint32_t>(boxes.size());
    boxes.push_back(std::move(picture->boxes[i]));
  }
  for (uint32_t i = 0; i < into.size(); ++i) number[i] = number[into[i]];
  for (BodyBoxes& body : bodies) {
    for (uint32_t& box : body.box_of) {
      if (box < kBoxFolded) box = number[box];
    }
  }
  std::vector<PictureEdge> edges;
  std::map<std::tuple<uint32_t, uint32_t, PictureEdge::Kind, std::string>, size_t> index;
  for (PictureEdge& edge : picture->edges) {
    edge.from = number[edge.from];
    edge.to = number[edge.to];
    std::string role = edge.kind == PictureEdge::Kind::kCall ? edge.label : "";
    auto [it, fresh] = index.try_emplace({edge.from, edge.to, edge.kind, role}, edges.size());
    if (fresh) {
      edges.push_back(std::move(edge));
    } else {
      edges[it->second].count += edge.count;  // equal boxes have equal edge labels
    }
  }
  picture->boxes = std::move(boxes);
  picture->edges = std::move(edges);
}

}  // namespace

void FoldRepeats(std::vector<BodyBoxes>& bodies, Picture* picture) {
  if (picture->boxes.size() <= kRepeatAbove) return;
  std::vector<std::string> looks = LooksOf(*picture);
  std::map<std::string, std::vector<uint32_t>> alike;
  for (uint32_t i = 0; i < looks.size(); ++i) {
    if (!looks[i].empty()) alike[looks[i]].push_back(i);
  }
  std::vector<uint32_t> into(looks.size());
  for (uint32_t i = 0; i < into.size(); ++i) into[i] = i;
  for (auto& [look, boxes] : alike) {
    if (boxes.size() < kRepeat) continue;
    Box& first = picture->boxes[boxes[0]];
    first.repeat = boxes.size();
    first.num_ops = boxes.size();
    first.made_up = true;
    first.name += " ... " + picture->boxes[boxes.back()].name;
    for (uint32_t box : boxes) into[box] = boxes[0];
  }
  Merge(into, bodies, picture);
}

}  // namespace grapnel
