#include "lib/render/picture_colors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "lib/ir/device_name.h"
#include "lib/render/labels.h"
#include "lib/render/number_colors.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr size_t kMaxColors = 8;

// Returns, by scope, the name in the legend: that of the scope's ancestor directly below the root,
// or directly below a scope that contains more than 80 % of all nodes.
std::vector<std::string> TopNames(const BodyPlan& plan) {
  const ScopeTree& tree = *plan.tree;
  ScopeId base = tree.scope(kRootScope).core;
  const Scope& root = tree.scope(base);
  for (ScopeId child = root.first_child; child < root.first_child + root.num_children; ++child) {
    if (tree.scope(child).num_ops * 5 > root.num_ops * 4) base = tree.scope(child).core;
  }
  std::vector<std::string> names(tree.size());
  for (ScopeId id = 1; id < tree.size(); ++id) {
    ScopeId parent = tree.scope(id).parent;
    bool top = parent == base || (parent == kRootScope && id != base);
    names[id] = top ? Printable(tree.PathText(id)) : names[parent];
  }
  return names;
}

// The legend's name for a node's color; empty for the neutral color.
std::string ColorName(ColorBy color_by, const Node& node, const BodyPlan& plan,
                      llvm::ArrayRef<std::string> tops) {
  switch (color_by) {
    case ColorBy::kOp:
      return OpGroupName(GroupOf(node.op())).str();
    case ColorBy::kDevice:
      return Printable(ShortDevice(node.device()));
    case ColorBy::kScope:
      return tops[plan.tree->ScopeOf(node.id())];
  }
  return "";
}

// Returns the name of each box's color: that of its nodes, if they agree. When coloring by op, a
// layer has the color of the ops that say most about it, and other closed scopes have no color.
std::vector<std::string> ColorNames(llvm::ArrayRef<BodyBoxes> bodies, ColorBy color_by,
                                    const Picture& picture) {
  bool by_op = color_by == ColorBy::kOp;
  std::vector<std::optional<std::string>> names(picture.boxes.size());
  for (const BodyBoxes& body : bodies) {
    std::map<uint32_t, std::map<StringId, size_t>> layers;  // kinds of ops, by box
    std::vector<std::string> tops;
    if (color_by == ColorBy::kScope) tops = TopNames(*body.plan);
    for (Node node : body.plan->graph->nodes()) {
      uint32_t index = body.box_of[node.id()];
      if (index >= kBoxFolded || body.plan->folding.uses[node.id()] != NodeUse::kShown) continue;
      bool is_op = picture.boxes[index].kind == BoxKind::kOp;
      if (by_op && !is_op && !picture.boxes[index].layer.empty()) ++layers[index][node.op_id()];
      if (by_op && !is_op) continue;
      if (names[index] && names[index]->empty()) continue;
      std::string name = ColorName(color_by, node, *body.plan, tops);
      names[index] = !names[index] || *names[index] == name ? name : "";
    }
    for (const auto& [index, kinds] : layers)
      names[index] = OpGroupName(MainGroup(*body.plan->graph, kinds)).str();
  }
  std::vector<std::string> result;
  result.reserve(names.size());
  for (auto& name : names) result.push_back(name.value_or(""));
  return result;
}

std::string FillOfGroup(llvm::StringRef name) {
  for (int group = 0; group <= static_cast<int>(OpGroup::kControl); ++group) {
    if (OpGroupName(static_cast<OpGroup>(group)) == name)
      return OpGroupFill(static_cast<OpGroup>(group)).str();
  }
  return kNeutralFill.str();
}

// Colors boxes as ColorBoxes does, but with the caller's colors. Neutral nodes in a closed scope or
// function do not count, so that it shows the color of marked nodes in it.
void Paint(llvm::ArrayRef<BodyBoxes> bodies, const Painting& painting, Picture* picture) {
  int several = static_cast<int>(painting.swatches.size());
  std::vector<int> found(picture->boxes.size(), -1);
  std::vector<size_t> counted(picture->boxes.size(), 0);
  auto count = [&](const Node& node, size_t index) {
    int swatch = painting.swatch_of(node);
    counted[index] += swatch >= 0 && swatch == painting.counted;
    if (swatch >= 0) found[index] = found[index] < 0 || found[index] == swatch ? swatch : several;
  };
  for (const BodyBoxes& body : bodies) {
    for (Node node : body.plan->graph->nodes()) {
      if (body.box_of[node.id()] < kBoxFolded) count(node, body.box_of[node.id()]);
    }
  }
  for (size_t i = 0; i < picture->boxes.size(); ++i) {
    if (picture->boxes[i].kind != BoxKind::kFunction) continue;
    for (Node node : picture->boxes[i].graph->nodes()) count(node, i);
  }
  for (size_t i = 0; i < counted.size(); ++i) {
    if (counted[i] == 0 || picture->boxes[i].kind != BoxKind::kScope) continue;
    picture->boxes[i].notes.push_back(WithCommas(counted[i]) + " " +
                                      painting.swatches[painting.counted].name);
  }
  picture->color_title = painting.title;
  picture->colors.reserve(painting.swatches.size() + 2);
  picture->colors.push_back({"", kNeutralFill.str()});
  for (int swatch = 0; swatch <= several; ++swatch) {
    if (std::find(found.begin(), found.end(), swatch) == found.end()) continue;
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i] == swatch) picture->boxes[i].color = static_cast<int>(picture->colors.size());
    }
    picture->colors.push_back(swatch == several ? painting.several : painting.swatches[swatch]);
  }
}

}  // namespace

void ColorBoxes(llvm::ArrayRef<BodyBoxes> bodies, const ViewOptions& options, Picture* picture) {
  if (options.numbers) return ColorByNumbers(bodies, options, picture);
  if (options.painting) return Paint(bodies, *options.painting, picture);
  static constexpr const char* kTitles[] = {"op", "device", "scope"};
  picture->color_title = kTitles[static_cast<int>(options.color_by)];
  bool by_op = options.color_by == ColorBy::kOp;
  picture->colors.push_back({by_op ? "" : "other, or several", kNeutralFill.str()});
  std::vector<std::string> names = ColorNames(bodies, options.color_by, *picture);
  std::map<std::string, size_t> weights;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) weights[names[i]] += picture->boxes[i].num_ops;
  }
  std::map<std::string, int> number;
  while (weights.size() > kMaxColors) {
    weights.erase(std::min_element(weights.begin(), weights.end(),
                                   [](auto& a, auto& b) { return a.second < b.second; }));
  }
  for (auto& [name, weight] : weights) {
    number[name] = static_cast<int>(picture->colors.size());
    picture->colors.push_back(
        {name, by_op ? FillOfGroup(name) : PaletteFill(number[name] - 1).str()});
  }
  for (size_t i = 0; i < names.size(); ++i) {
    auto found = number.find(names[i]);
    if (found != number.end()) picture->boxes[i].color = found->second;
  }
}

}  // namespace grapnel
