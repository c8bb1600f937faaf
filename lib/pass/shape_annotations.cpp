#include "lib/pass/shape_annotations.h"

#include "lib/ir/node_types.h"
#include "lib/shape/arithmetic.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr const char* kOutputShapes = "_output_shapes";

bool IsStale(const Node& node, const AttrView& annotation, const ShapeMap& shapes) {
  std::optional<std::vector<Shape>> said = annotation.AsShapes();
  if (!said) return false;  // another attribute type: not TensorFlow's annotation
  int outputs = NumOutputs(node);
  if (outputs >= 0 && static_cast<int>(said->size()) != outputs) return true;
  for (int32_t i = 0; i < static_cast<int32_t>(said->size()); ++i) {
    if (!MergeShapes((*said)[i], shapes.OfPort({node.id(), i}))) return true;
  }
  return false;
}

}  // namespace

void DropShapeAnnotations(Graph& main) {
  if (!main.MayHaveAttr(kOutputShapes)) return;
  for (Node node : main.nodes()) {
    if (node.FindAttr(kOutputShapes) && DefinitionOf(node) && node.op() != "_Arg")
      main.RemoveAttr(node.id(), kOutputShapes);
  }
}

std::vector<NodeId> StaleShapeAnnotations(Graph& graph) {
  if (!graph.MayHaveAttr(kOutputShapes)) return {};
  std::vector<NodeId> annotated;
  for (Node node : graph.nodes()) {
    if (node.FindAttr(kOutputShapes)) annotated.push_back(node.id());
  }
  if (annotated.empty()) return {};
  ShapeMap shapes = InferShapes(graph);
  llvm::erase_if(annotated, [&](NodeId id) {
    Node node = graph.node(id);
    return !IsStale(node, *node.FindAttr(kOutputShapes), shapes);
  });
  return annotated;
}

void DropStaleShapeAnnotations(Editor& edit, llvm::ArrayRef<NodeId> nodes) {
  for (NodeId id : nodes) {
    Node node = edit.graph().node(id);
    if (!edit.Begin("drop_stale_output_shapes", node)) return;
    edit.RemoveAttr(node, kOutputShapes);
    edit.End();
  }
}

}  // namespace grapnel
