// Compares attributes and devices by meaning, not by spelling.
#ifndef GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_
#define GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_

#include <string>

#include "lib/ir/node.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Maps a library function's name to the name used for comparison; returns other names unchanged.
using FunctionNamer = llvm::function_ref<std::string(llvm::StringRef)>;

// True for bookkeeping attributes that do not affect what a node computes: _class, _output_shapes,
// Grappler's marks and such.
bool SaysNothing(llvm::StringRef key);
inline constexpr llvm::StringLiteral kSharedName = "shared_name";

// True if the value equals the op table's default, or has the same effect: a resource without a
// shared_name uses its node's name.
bool IsDefault(const Node& node, llvm::StringRef key, AttrView value);

// Returns bytes that are equal for two values with one meaning: lists packed or not, a ConfigProto
// with its fields in any order, functions under the names that `namer` gives. Of a tensor only
// dtype and shape count: SameAttr and Literal::Hash compare elements.
std::string CanonicalAttr(llvm::StringRef key, AttrView value, FunctionNamer namer);

// True if the values mean the same; `a_to_b` translates the names of A's functions.
bool SameAttr(llvm::StringRef key, AttrView a, AttrView b, FunctionNamer a_to_b);

// Describes for users how a value of A became one of B: "float[3] [1,2,3] -> float[3] [1,2,4]".
// Large constants are given by their norms; of a ConfigProto only the fields that differ.
std::pair<std::string, std::string> AttrTexts(llvm::StringRef key, AttrView a, AttrView b);
std::string AttrText(AttrView value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_
