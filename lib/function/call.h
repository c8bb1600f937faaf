// Function calls: the called function, and the attributes that the call passes to it.
#ifndef GRAPNEL_LIB_FUNCTION_CALL_H_
#define GRAPNEL_LIB_FUNCTION_CALL_H_

#include <map>
#include <optional>
#include <string>

#include "lib/ir/module.h"

namespace grapnel {

// Attributes that a call passes to its function: serialized AttrValues by name.
using CallAttrs = std::map<std::string, std::string>;

// A function call: the node's op is the function's name, or it is a PartitionedCall or
// StatefulPartitionedCall of the function.
struct Call {
  const Function* function = nullptr;  // null: the node calls no function of the library
  bool direct = false;                 // the node's op is the function's name
  CallAttrs attrs;
};
Call CallOf(const Node& node);
// True for PartitionedCall and StatefulPartitionedCall, whose function may run on several devices.
bool IsMultiDeviceCall(const Node& node);

// Returns the attribute value with placeholders for the function's own attributes (`$T`) replaced
// by the call's values; nullopt if `value` or a replacement cannot be parsed, or if neither the
// call nor the function's defaults have an attribute that a placeholder names.
std::optional<std::string> Instantiated(AttrView value, const Function& function,
                                        const CallAttrs& attrs);
// Returns the attributes of `from`, a node of the function's body, that depend on the call, with
// their values for this call. `call.function` must not be null. An error names an attribute whose
// value for the call cannot be determined.
Expected<CallAttrs> DependentAttrs(const Node& from, const Call& call);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_FUNCTION_CALL_H_
