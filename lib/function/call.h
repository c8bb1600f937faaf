// What a node that calls a function says of it.
#ifndef GRAPNEL_LIB_FUNCTION_CALL_H_
#define GRAPNEL_LIB_FUNCTION_CALL_H_

#include <map>
#include <optional>
#include <string>

#include "lib/ir/module.h"

namespace grapnel {

// Attributes that a call gives its function, by name; serialized AttrValues.
using CallAttrs = std::map<std::string, std::string>;

// A node that calls a function: its op is the function's name, or it is a PartitionedCall or
// StatefulPartitionedCall of it.
struct Call {
  const Function* function = nullptr;  // null: the node calls none
  bool direct = false;
  CallAttrs attrs;
};
Call CallOf(const Node& node);

// The attribute with what stands for the function's own attributes (`$T`) replaced by the call's;
// nullopt when the call has no such attribute.
std::optional<std::string> Instantiated(AttrView value, const Function& function,
                                        const CallAttrs& attrs);
// Those attributes of `from`, a node of the function's body, that depend on the call, by name. An
// error names one that the call has no value for.
Expected<CallAttrs> DependentAttrs(const Node& from, const Call& call);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_FUNCTION_CALL_H_
