// How ops use layouts: families of ops that are converted alike.
#ifndef GRAPNEL_PASSES_LAYOUT_FAMILIES_H_
#define GRAPNEL_PASSES_LAYOUT_FAMILIES_H_

#include <vector>

#include "lib/ir/graph.h"

namespace grapnel::layout {

enum class Family {
  kNone,
  // Ops with a data_format, which the pass changes; it converts their inputs and outputs.
  kFirstInput,  // Conv2D, MaxPool, FusedBatchNorm ...: input 0 and output 0 have the layout
  kBiasAdd,
  kBiasAddGrad,
  kAvgPoolGrad,
  kConvBackpropFilter,
  kConvBackpropInput,
  kConv3D,
  kConv3DBackpropFilter,
  kConv3DBackpropInput,
  kBatchNormEx,
  kBatchNormGrad,
  kMaxPoolV2,
  kMaxPoolGrad,
  kMaxPoolGradV2,
  kLastSensitive = kMaxPoolGradV2,
  // Ops that work in any layout, if the dimensions they name are translated.
  kElementwise,
  kAddN,
  kBinary,
  kConcat,
  kFill,
  kIdentityN,
  kMerge,
  kPad,
  kReduce,
  kReverse,
  kSelect,
  kShape,
  kShapeN,
  kSlice,
  kSplit,
  kSplitV,
  kSqueeze,
  kStridedSlice,
  kSwitch,
  kTernary,
  kTile,
  kUnaryGrad,
};

Family FamilyOf(llvm::StringRef op);
inline Family FamilyOf(const Node& node) { return FamilyOf(node.op()); }
inline bool IsSensitive(Family family) {
  return family != Family::kNone && family <= Family::kLastSensitive;
}
inline bool IsAgnostic(Family family) { return family > Family::kLastSensitive; }

// DataInputs and DataOutputs return the inputs and outputs that are tensors with a layout, as far
// as the op alone determines them.
std::vector<int> DataInputs(const Node& node);
std::vector<int> DataOutputs(const Node& node);

}  // namespace grapnel::layout

#endif  // GRAPNEL_PASSES_LAYOUT_FAMILIES_H_
