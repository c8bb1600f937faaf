// What an op's definition allows an attribute to be, beyond its type.
#ifndef GRAPNEL_LIB_IR_ATTR_RULES_H_
#define GRAPNEL_LIB_IR_ATTR_RULES_H_

#include <string>

#include "lib/ir/attr.h"
#include "lib/ir/node.h"
#include "lib/ir/op_table.h"
#include "lib/support/error.h"

namespace grapnel {

// Why a value of the attribute's own type is refused: "attribute 'index_type' is int8, one of
// int16, int32, int64 was expected"; empty when it is not. What TensorFlow checks when it imports a
// graph (OpDef's allowed_values and minimum, and that a dtype is one). Of ops that only TensorFlow
// itself makes (_FusedConv2D) their definition is not held to: that a dtype is one counts alone.
std::string WhyNotAllowed(const OpInfo& info, const OpAttr& attr, AttrView value);

// The first attribute of the node, or default of the op, that is refused, and beside that a number
// beyond what TensorFlow's kernel reads (lib/ir/int32_attrs.txt), which only a run sees. Costs a
// look at each attribute that has a rule, one or two in most ops.
Error CheckAllowedAttrs(const Node& node, const OpInfo& info);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_ATTR_RULES_H_
