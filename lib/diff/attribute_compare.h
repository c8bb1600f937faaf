// Attributes and devices by what they mean, not by how they are written.
#ifndef GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_
#define GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_

#include <string>

#include "lib/ir/node.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// What a library function is called for the sake of comparing; other names are handed back.
using FunctionNamer = llvm::function_ref<std::string(llvm::StringRef)>;

// Attributes that are bookkeeping and say nothing of what a node computes: _class, _output_shapes,
// Grappler's marks and such.
bool SaysNothing(llvm::StringRef key);
inline constexpr llvm::StringLiteral kSharedName = "shared_name";

// Whether the attribute is what the op table gives to a node that does not have it, or means the
// same: a resource without a shared_name is called as its node is.
bool IsDefault(const Node& node, llvm::StringRef key, AttrView value);

// Bytes that are equal for two values of one meaning: lists packed or not, a ConfigProto in any
// order of fields, functions by the names that `namer` gives. Of a tensor only dtype and shape: its
// elements are for SameAttr and Literal::Hash.
std::string CanonicalAttr(llvm::StringRef key, AttrView value, FunctionNamer namer);

// Whether the values mean the same; `a_to_b` translates A's functions.
bool SameAttr(llvm::StringRef key, AttrView a, AttrView b, FunctionNamer a_to_b);

// How a value of A became one of B, for a person: "float[3] [1,2,3] -> float[3] [1,2,4]"; of large
// constants norms; of a ConfigProto only the fields that differ.
std::pair<std::string, std::string> AttrTexts(llvm::StringRef key, AttrView a, AttrView b);
std::string AttrText(AttrView value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_
