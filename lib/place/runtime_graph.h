// Prepares graphs for placing as TensorFlow's runtime does: calls and control flow are inlined,
// arguments and results have devices.
#ifndef GRAPNEL_LIB_PLACE_RUNTIME_GRAPH_H_
#define GRAPNEL_LIB_PLACE_RUNTIME_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/function/call.h"
#include "lib/place/placer.h"

namespace grapnel {

// A function call, on devices of a set.
struct RuntimeCall {
  std::string function;
  CallAttrs attrs;
  // True for a node's call, whose results, except for resources, are on the node's device. The
  // results of a call from Python stay on the devices that produce them.
  bool is_node = false;
  int device = 0;         // the device of the call
  std::vector<int> args;  // devices of the arguments, in the signature's order
  auto operator<=>(const RuntimeCall&) const = default;
};

// PreferredDevice: the device of a call that requests none, of the type that TensorFlow prefers.
// DeviceOfArgument: the device of an argument without one: the call's, but the host's CPU for
// dtypes that other devices do not hold.
int PreferredDevice(const DeviceSet& devices);
int DeviceOfArgument(const DeviceSet& devices, int called_on, DataType dtype);

// Returns a copy of `module` whose main graph is the body that `call` runs, inlined, with its nodes
// in TensorFlow's order. If `call.args` is shorter than the list of arguments, DeviceOfArgument
// gives the devices of the others. Errors: such as no such function, or a call without attributes
// that nodes of the body need.
Expected<std::unique_ptr<Module>> OpenForPlacing(const Module& module, const RuntimeCall& call,
                                                 const DeviceSet& devices);
// Returns a copy of `module` with the main graph prepared as TensorFlow prepares it before it
// places it. A session lowers control flow but inlines no calls. A graph with arguments or results
// is a function's, called on `device`; arguments without a device are placed as DeviceOfArgument
// does. Null if there is nothing to inline or lower, and all arguments have devices.
Expected<std::unique_ptr<Module>> OpenForPlacing(const Module& module, int device,
                                                 const DeviceSet& devices);

// The calls that remain in a placed main graph: TensorFlow places a callee's body when the call
// runs. Before that, Grappler runs on the main graph. FindNonInlinedCalls performs the steps of
// Grappler that make specialized functions for calls: they remove unused results, and move constant
// arguments into the function.
struct NonInlinedCalls {
  struct Callee {
    RuntimeCall call;
    std::vector<std::string> nodes;  // the nodes that call this function
  };
  std::unique_ptr<Module> module;  // contains the callees; null if the graph has no calls
  std::vector<Callee> callees;     // in the graph's order, equal calls once
};
// `id` is Grappler's name for the graph. `kept` are the control results: nodes that run although no
// result needs them.
NonInlinedCalls FindNonInlinedCalls(const Module& module, const Placement& placement,
                                    const DeviceSet& devices, llvm::StringRef id,
                                    llvm::ArrayRef<std::string> kept);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_RUNTIME_GRAPH_H_
