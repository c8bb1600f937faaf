// Compares attributes and devices by their meaning, not by their spelling.
#ifndef GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_
#define GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_

#include <string>

#include "lib/ir/node.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Maps the name of a library function to the name under which it is compared; other names stay
// unchanged.
using FunctionNamer = llvm::function_ref<std::string(llvm::StringRef)>;

// True for attributes that do not affect what a node computes: _class, _output_shapes, Grappler's
// marks and the like.
bool SaysNothing(llvm::StringRef key);
inline constexpr llvm::StringLiteral kSharedName = "shared_name";

// True if the value equals the default of the op's definition, or has the same effect: a resource
// without a shared_name uses the name of its node.
bool IsDefault(const Node& node, llvm::StringRef key, AttrView value);

// Returns bytes that are equal for two values with the same meaning: lists packed or not, a
// ConfigProto with its fields in any order, functions under the names that `namer` gives. For a
// tensor, the bytes contain only dtype and shape: SameAttr and Literal::Hash compare elements.
std::string CanonicalAttr(llvm::StringRef key, AttrView value, FunctionNamer namer);

// True if the values have the same meaning; `a_to_b` translates names of A's functions to those of
// B's.
bool SameAttr(llvm::StringRef key, AttrView a, AttrView b, FunctionNamer a_to_b);

// Describes for users how a value of A became a value of B: "float[3] [1,2,3] -> float[3] [1,2,4]".
// For large constants, gives their norms; for a ConfigProto, only the fields that differ.
std::pair<std::string, std::string> AttrTexts(llvm::StringRef key, AttrView a, AttrView b);
std::string AttrText(AttrView value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_
