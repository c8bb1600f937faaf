// What `info` says of a graph: counts, inputs and outputs, bytes of constants, devices, the call
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
  // Of an argument or result of a function's graph.
  std::optional<int64_t> index;
  // Of an argument that is a variable's handle: what the variable holds; else empty.
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
  std::vector<std::string> calls;  // functions that it mentions, sorted
  int callers = 0;                 // bodies that mention it, main included
};

struct Summary {
  size_t nodes = 0, data_edges = 0, control_edges = 0;  // of the main graph
  size_t function_nodes = 0;                            // of all bodies
  // Placeholders; ends that nobody reads (NoOps and constants apart). Of a function's graph its
  // arguments and results (lib/ir/function_ends.h), each by index.
  bool is_function = false;
  std::vector<TensorSummary> inputs, outputs;
  std::vector<EffectSummary> effects;  // of a function's graph: ops that do more than read
  std::vector<std::pair<std::string, size_t>> ops;  // by count, then name; functions included
  std::map<std::string, size_t> devices;            // main graph; "" is none
  size_t constants = 0;
  uint64_t constant_bytes = 0;
  std::vector<ConstantSummary> largest_constants;  // at most 10
  std::vector<FunctionSummary> functions;          // in the library's order
  std::vector<std::string> called_from_main;       // sorted
  int producer = 0, min_consumer = 0;
};

// Linear; constants' values are not read. Of a function's graph `shape_of` is asked for the shapes
// of what results read.
Summary Summarize(const Module& module, llvm::function_ref<Shape(Port)> shape_of = nullptr);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SUMMARY_H_
