// Graphs as TensorFlow's runtime has them when it places them: calls and control flow opened,
// arguments and results where they are.
#ifndef GRAPNEL_LIB_PLACE_RUNTIME_GRAPH_H_
#define GRAPNEL_LIB_PLACE_RUNTIME_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/function/call.h"
#include "lib/place/placer.h"

namespace grapnel {

// A call of a function, on devices of a set.
struct RuntimeCall {
  std::string function;
  CallAttrs attrs;
  // A node's, which has the results where it is; Python leaves them where they are made.
  bool is_node = false;
  int device = 0;         // where it is called
  std::vector<int> args;  // where its arguments are, in the signature's order
  auto operator<=>(const RuntimeCall&) const = default;
};

// The device that a function is called on, and where its arguments are, when nothing else is said:
// the one that TensorFlow prefers, and the host's CPU for what no other device holds.
int PreferredDevice(const DeviceSet& devices);
int DeviceOfArgument(const DeviceSet& devices, int called_on, DataType dtype);

// A copy of `module` whose main graph is the body that `call` runs, its nodes in TensorFlow's order
// and opened. `call.args` may be shorter than the arguments: the others are where the call is.
// Errors: there is no such function, or the call leaves attributes of its nodes open.
Expected<std::unique_ptr<Module>> OpenForPlacing(const Module& module, const RuntimeCall& call,
                                                 const DeviceSet& devices);
// A copy whose main graph is as it is when it is placed. A session opens control flow and no calls;
// a graph with arguments or results is a function's, called on `device`: arguments that do not say
// where they are are there. Null: nothing opens, and all arguments say it.
Expected<std::unique_ptr<Module>> OpenForPlacing(const Module& module, int device,
                                                 const DeviceSet& devices);

// The calls that stayed in a main graph that was placed: what they run is placed when they run.
// Between lies Grappler, of which what makes functions of their own for calls is done here: results
// that nobody reads are gone, and constant arguments.
struct NonInlinedCalls {
  struct Callee {
    RuntimeCall call;
    std::vector<std::string> nodes;  // that call it
  };
  std::unique_ptr<Module> module;  // has the functions; null: nothing is called
  std::vector<Callee> callees;     // in the graph's order, each once
};
// `id` is what Grappler calls the graph; `kept` are the nodes that run though no result needs them:
// control results.
NonInlinedCalls FindNonInlinedCalls(const Module& module, const Placement& placement,
                              const DeviceSet& devices, llvm::StringRef id,
                              llvm::ArrayRef<std::string> kept);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_RUNTIME_GRAPH_H_
