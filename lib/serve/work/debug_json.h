// The JSON documents for a run that the page debugs.
#ifndef GRAPNEL_LIB_SERVE_WORK_DEBUG_JSON_H_
#define GRAPNEL_LIB_SERVE_WORK_DEBUG_JSON_H_

#include <string>

#include "lib/debugger/debugger.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes attributes of a stop into the open object: "stop", with the node, the calls around it, its
// inputs and outputs, and the reason for the stop; "at_end": the run has ended, and another run may
// follow.
void WriteDebugStop(const Debugger& debugger, llvm::json::OStream& json);

// A request to show one value at a stop.
struct ValueRequest {
  // "input" or "output" of the stop's node, or "fetch" of a finished run, each with `index`; "" for
  // an expression or a name.
  std::string of;
  size_t index = 0;
  std::string expression;
  std::string slice;  // "[0, :5]", or empty
  int precision = 8;
  int64_t edge_items = 3, threshold = 1000;
  std::string axes;  // the axes of the picture: "1,2", or empty

  // Parses {"of", "index"} or {"expression"}, and the other fields, which may be missing. Errors
  // say what is wrong with the request.
  static Expected<ValueRequest> Parse(llvm::StringRef json);
};

// A value found at a stop. It can be printed even after the run has continued.
struct FoundValue {
  Tensor tensor;
  std::string name;  // the name by which the value can be set; empty: it cannot be set
  WatchedPort port;  // with a null graph if the value is that of an expression
};
// Errors: no such value; those of evaluating the expression.
Expected<FoundValue> FindValue(const Debugger& debugger, const ValueRequest& request);

// Returns {"name", "dtype", "shape", "whole", "text", "statistics", "picture": {"svg", "layout",
// "colors"}}. Values with fewer than two numbers have no statistics and no picture; if there is no
// picture for another reason, "no_picture" is that reason. Errors: the slice is invalid.
Expected<std::string> ValueJson(const FoundValue& value, const ValueRequest& request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_DEBUG_JSON_H_
