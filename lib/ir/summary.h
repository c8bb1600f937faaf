// The summary of a graph that `grapnel info` prints: counts, inputs and outputs, bytes of
// constants, devices, which functions call which.
#ifndef GRAPNEL_LIB_IR_SUMMARY_H_
#define GRAPNEL_LIB_IR_SUMMARY_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/ir/shape.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

struct TensorSummary {
  std::string name, dtype, shape, op;  // shape: as by Shape::ToString
  // The index of an argument or result of a function's graph; nullopt for other tensors.
  std::optional<int64_t> index;
  // For an argument that is a variable's handle, the dtype and shape of the variable, if the dtype
  // is known; otherwise empty.
  std::string held_dtype, held_shape;
};

struct EffectSummary {
  std::string name, op;
};

struct ConstantSummary {
  std::string name, dtype, shape;  // name: "function/node" in a function
  uint64_t bytes = 0;              // of its elements in memory; of strings, those of the texts
  uint64_t stored_bytes = 0;       // the size of the node in the file; 0 for a new node
};

struct FunctionSummary {
  std::string name;
  size_t nodes = 0;
  std::vector<std::string> calls;  // sorted
  int callers = 0;                 // how many bodies call it, including the main graph
};

struct Summary {
  size_t nodes = 0, data_edges = 0, control_edges = 0;  // in the main graph
  size_t function_nodes = 0;                            // in functions, except _Arg and _Retval
  // If false, `inputs` are the outputs of Placeholder, PlaceholderV2 and PlaceholderWithDefault
  // nodes, and `outputs` those of the other nodes without readers, except NoOp and Const; a node
  // that has no outputs counts as one. If true, this is the graph of a function
  // (lib/ir/function_ends.h): `inputs` are its arguments and `outputs` its results, by index.
  bool is_function = false;
  std::vector<TensorSummary> inputs, outputs;
  // For a function's graph: nodes with stateful ops, except ops that only read state.
  std::vector<EffectSummary> effects;
  // How many nodes have each op, in all bodies, without the arguments and results of functions; the
  // most frequent op first, equal counts by name.
  std::vector<std::pair<std::string, size_t>> ops;
  std::map<std::string, size_t> devices;  // nodes of the main graph per device; "": no device
  size_t constants = 0;
  uint64_t constant_bytes = 0;                     // in the file
  std::vector<ConstantSummary> largest_constants;  // in memory; at most 10
  std::vector<FunctionSummary> functions;          // in the library's order
  std::vector<std::string> called_from_main;       // sorted
  int producer = 0, min_consumer = 0;
};

// Returns the summary of a module. Linear; does not read the elements of constants. For the graph
// of a function, calls `shape_of`, if not null, for the ports whose values are results.
Summary Summarize(const Module& module, llvm::function_ref<Shape(Port)> shape_of = nullptr);

// Returns the number of nodes in the main graph and all functions.
size_t CountNodes(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SUMMARY_H_
