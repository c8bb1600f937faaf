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
  // True for a node's call, whose results are on the node's device; Python's calls leave results on
  // the devices that make them.
  bool is_node = false;
  int device = 0;         // the device of the call
  std::vector<int> args;  // devices of the arguments, in the signature's order
  auto operator<=>(const RuntimeCall&) const = default;
};

// The default device of a function call and of its arguments: the type that TensorFlow prefers, and
// the host's CPU for values that no other device holds.
int PreferredDevice(const DeviceSet& devices);
int DeviceOfArgument(const DeviceSet& devices, int called_on, DataType dtype);

// Returns a copy of `module` whose main graph is the body that `call` runs, inlined, with its nodes
// in TensorFlow's order. `call.args` may be shorter than the arguments: the others are where
// DeviceOfArgument puts them. Errors: no such function, or the call leaves attributes of its nodes
// open.
Expected<std::unique_ptr<Module>> OpenForPlacing(const Module& module, const RuntimeCall& call,
                                                 const DeviceSet& devices);
// Returns a copy whose main graph is as it is when TensorFlow places it. A session lowers control
// flow but inlines no calls. A graph with arguments or results is a function's, called on `device`;
// arguments without a device are placed as DeviceOfArgument does. Null: there is nothing to inline,
// and all arguments have devices.
Expected<std::unique_ptr<Module>> OpenForPlacing(const Module& module, int device,
                                                 const DeviceSet& devices);

// The calls that remain in a placed main graph: their bodies are placed when they run. Grappler
// runs in between; of it, this does the steps that make specialized functions for calls: removing
// unused results, and moving constant arguments into the function.
struct NonInlinedCalls {
  struct Callee {
    RuntimeCall call;
    std::vector<std::string> nodes;  // the nodes that call it
  };
  std::unique_ptr<Module> module;  // has the functions; null: no calls remain
  std::vector<Callee> callees;     // in the graph's order, each once
};
// `id` is Grappler's name for the graph; `kept` are nodes that run although no result needs them:
// control results.
NonInlinedCalls FindNonInlinedCalls(const Module& module, const Placement& placement,
                                    const DeviceSet& devices, llvm::StringRef id,
                                    llvm::ArrayRef<std::string> kept);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_RUNTIME_GRAPH_H_
