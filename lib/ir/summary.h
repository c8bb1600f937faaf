// The summary that `info` prints: counts, inputs and outputs, bytes of constants, devices, the call
// tree.
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
  std::string name, dtype, shape, op;  // shape as Shape::ToString
  // For an argument or result of a function's graph.
  std::optional<int64_t> index;
  // For an argument that is a variable's handle: the type of the variable; otherwise empty.
  std::string held_dtype, held_shape;
};

struct EffectSummary {
  std::string name, op;
};

struct ConstantSummary {
  std::string name, dtype, shape;  // name: "function/node" in a function
  uint64_t stored_bytes = 0;       // of the node in the file
};

struct FunctionSummary {
  std::string name;
  size_t nodes = 0;
  std::vector<std::string> calls;  // sorted
  int callers = 0;                 // bodies that mention it, main included
};

struct Summary {
  size_t nodes = 0, data_edges = 0, control_edges = 0;  // of the main graph
  size_t function_nodes = 0;                            // of all bodies
  // Placeholders, and nodes without consumers (except NoOps and constants). For a function's graph,
  // its arguments and results (lib/ir/function_ends.h), each by index.
  bool is_function = false;
  std::vector<TensorSummary> inputs, outputs;
  std::vector<EffectSummary> effects;  // for a function's graph: ops that do more than read
  std::vector<std::pair<std::string, size_t>> ops;  // by count, then name; functions included
  std::map<std::string, size_t> devices;            // main graph; "": no device
  size_t constants = 0;
  uint64_t constant_bytes = 0;
  std::vector<ConstantSummary> largest_constants;  // at most 10
  std::vector<FunctionSummary> functions;          // in the library's order
  std::vector<std::string> called_from_main;       // sorted
  int producer = 0, min_consumer = 0;
};

// Linear; does not read constants' values. For a function's graph, it calls `shape_of` for the
// shapes of the ports that results read.
Summary Summarize(const Module& module, llvm::function_ref<Shape(Port)> shape_of = nullptr);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SUMMARY_H_
