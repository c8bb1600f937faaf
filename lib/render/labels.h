// The text in a picture: shortened names, notes about an op's constants, colors.
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

// Returns Printable of the first 400 bytes, with an ellipsis if the text is longer.
std::string PrintableStart(llvm::StringRef text);

// Describes a tensor: "float[?,28]"; "float" if the rank is unknown; empty if nothing is known.
std::string TensorText(DataType dtype, const Shape& shape);

// Returns "axis = [1,2]", "filter = conv/kernel float[3,3,3,32]" for each input that is a folded
// constant or variable, directly or through Identity or ReadVariableOp. At most 4 lines; if there
// are more, the last line says how many more. `noted`, if not null, receives the constants and
// variables of the first 4.
std::vector<std::string> ConstantNotes(const Node& node, const std::vector<NodeUse>& uses,
                                       const ShapeMap* shapes, const SignatureBody* entry = nullptr,
                                       const BoxLayers* layers = nullptr,
                                       std::vector<NodeId>* noted = nullptr);

// Returns what the names of all arguments and results of a function begin with, if the function's
// name does so too, in lower case: "net_while_" in net_while_body_12; else "".
std::string PrefixOfEnds(const Graph& graph);
// Returns the name of an argument or result without the prefix, as often as it begins with it.
llvm::StringRef NameOfEnd(llvm::StringRef name, llvm::StringRef prefix);

// Returns the name of an input as the op's definition has it: "filter", "values 2"; without a
// definition, which may be null, "input 2".
std::string InputName(const OpInfo* info, const Node& node, int slot);

// Returns "3 Conv2D, 3 Relu6, ...": first expensive ops (OpGroup::kHeavy), then all others, both by
// frequency, up to a limit. `kinds`: node counts by op.
std::string KindsText(const Graph& graph, const std::map<StringId, size_t>& kinds);

// The category of an op, for colors and legend.
enum class OpGroup { kOther, kInput, kState, kHeavy, kMath, kMove, kControl };
OpGroup GroupOf(llvm::StringRef op);
// Returns the group that says most about a layer with ops of these kinds: multiplications before
// calls, these before other math, and all before what moves data.
OpGroup MainGroup(const Graph& graph, const std::map<StringId, size_t>& kinds);
llvm::StringRef OpGroupName(OpGroup group);
// Background colors for black text, distinguishable in print and for color-blind readers (after
// Okabe and Ito).
llvm::StringRef OpGroupFill(OpGroup group);
// The i-th fill color of a palette of eight for devices and scopes; i is taken modulo 8.
llvm::StringRef PaletteFill(size_t i);
constexpr llvm::StringLiteral kNeutralFill = "#f7f7f7";

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_LABELS_H_
