// Writes the shapes of its inputs on a node that oneDNN may rewrite when TensorFlow runs the graph.
//
//   Before:  x:[1,8], w:[8,4] -> MatMul -> y
//   After:   x, w -> MatMul {_input_shapes=[[1,8],[8,4]]} -> y
//
// Applies only to nodes that are visited after the pass first needed shapes, and that no other rule
// fused.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

Verdict NoteInputShapes(Remapper& rule, const Node& node) {
  if (!rule.shapes_wanted) return rule.NotMine();
  std::string shapes = rule.InputShapes(node);
  if (shapes.empty()) return rule.NotMine();
  rule.edit.SetAttr(node, "_input_shapes", shapes);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_layer_norm",
              .name = "note_input_shapes",
              .ops = {"Conv2D", "DepthwiseConv2dNative", "BiasAdd", "Transpose", "Sigmoid",
                      "MatMul", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"},
              .help = "writes _input_shapes on nodes that oneDNN may rewrite when TensorFlow runs "
                      "the graph, once the pass has needed shapes",
              .apply = NoteInputShapes});

}  // namespace
}  // namespace grapnel::remapper
