// The words in a picture: names that fit, what an op's constants say, colors.
#ifndef GRAPNEL_LIB_RENDER_LABELS_H_
#define GRAPNEL_LIB_RENDER_LABELS_H_

#include <map>
#include <string>
#include <vector>

#include "lib/io/signature.h"
#include "lib/ir/graph.h"
#include "lib/render/scope_tree.h"
#include "lib/shape/inference.h"
#include "lib/support/printable.h"

namespace grapnel {

// As Printable, of the first 400 bytes, with an ellipsis when there are more.
std::string PrintableStart(llvm::StringRef text);

// "float[?,28]"; "float" when the rank is unknown; empty when nothing is known.
std::string TensorText(DataType dtype, const Shape& shape);

// "axis = [1,2]", "filter = float[3,3,3,32]": for each input that is a folded constant, directly or
// through Identity. At most 4 lines, the last one "and 3 more constants". `noted`, if not null,
// gets the constant or variable of each line.
std::vector<std::string> ConstantNotes(const Node& node, const std::vector<NodeUse>& uses,
                                       const ShapeMap* shapes, const SignatureBody* entry = nullptr,
                                       std::vector<NodeId>* noted = nullptr);

// "3 Conv2D, 3 Relu6, ...": what there is most of, the ops that cost most first. `kinds` counts by
// op.
std::string KindsText(const Graph& graph, const std::map<StringId, size_t>& kinds);

// What an op is about, for colors and legend.
enum class OpGroup { kOther, kInput, kState, kHeavy, kMath, kMove, kControl };
OpGroup GroupOf(llvm::StringRef op);
llvm::StringRef OpGroupName(OpGroup group);
// Fills that black text is readable on, that differ in print and for color-blind readers (after
// Okabe and Ito).
llvm::StringRef OpGroupFill(OpGroup group);
// The i-th of eight, for devices and scopes; repeats after that.
llvm::StringRef PaletteFill(size_t i);
constexpr llvm::StringLiteral kNeutralFill = "#f7f7f7";

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_LABELS_H_
