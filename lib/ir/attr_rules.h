// Checks that the values of attributes, whose types fit, are ones that the op's definition allows.
#ifndef GRAPNEL_LIB_IR_ATTR_RULES_H_
#define GRAPNEL_LIB_IR_ATTR_RULES_H_

#include <string>

#include "lib/ir/attr.h"
#include "lib/ir/node.h"
#include "lib/ir/op_table.h"
#include "lib/support/error.h"

namespace grapnel {

// Returns the reason why TensorFlow rejects a value that has the attribute's type, such as
// "attribute 'index_type' is int8, one of int16, int32, int64 was expected"; empty if TensorFlow
// accepts it. Makes the checks of TensorFlow's graph import: OpDef's allowed_values and minimum,
// and that a dtype is valid. For ops that only TensorFlow itself creates (_FusedConv2D), only
// checks that a dtype is valid.
std::string WhyNotAllowed(const OpInfo& info, const OpAttr& attr, AttrView value);

// Returns an error for the first attribute on the node that WhyNotAllowed rejects. Also rejects
// numbers that do not fit into the 32 bits that TensorFlow's kernel reads (lib/ir/int32_attrs.txt):
// TensorFlow detects these only when the kernel runs. Skips attributes without a rule, and
// placeholders of functions' attributes.
Error CheckAllowedAttrs(const Node& node, const OpInfo& info);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_ATTR_RULES_H_
