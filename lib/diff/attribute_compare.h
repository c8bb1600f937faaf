// Compares attributes and devices by their meaning, not by their spelling.
#ifndef GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_
#define GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_

#include <string>

#include "lib/ir/node.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Maps the name of a function in an attribute to the name under which it is compared.
using FunctionNamer = llvm::function_ref<std::string(llvm::StringRef)>;

// True for attributes that do not affect what a node computes: _class, _output_shapes, Grappler's
// marks and the like.
bool SaysNothing(llvm::StringRef key);
inline constexpr llvm::StringLiteral kSharedName = "shared_name";

// True if the value equals the default of the op's definition, or is a shared_name equal to the
// name of the node, which has the same effect as an empty one.
bool IsDefault(const Node& node, llvm::StringRef key, AttrView value);

// Returns bytes that are equal for two values with the same meaning: lists packed or not, a
// ConfigProto with its fields in any order, functions under the names that `namer` gives. For a
// tensor, the bytes contain only dtype and shape: SameAttr and Literal::Hash compare elements.
std::string CanonicalAttr(llvm::StringRef key, AttrView value, FunctionNamer namer);

// True if the values have the same meaning; `a_to_b` translates names of A's functions to those of
// B's.
bool SameAttr(llvm::StringRef key, AttrView a, AttrView b, FunctionNamer a_to_b);

// Returns texts of the value in A and the value in B for users: "float[3] [1,2,3]" and "float[3]
// [1,2,4]". For numeric constants of more than six elements, gives the norm instead of elements,
// unless all elements are equal. If both also have the same dtype and shape, the second text is
// always the norm, and says how many elements differ. For a ConfigProto, gives only the fields that
// differ.
std::pair<std::string, std::string> AttrTexts(llvm::StringRef key, AttrView a, AttrView b);
std::string AttrText(AttrView value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_ATTRIBUTE_COMPARE_H_
