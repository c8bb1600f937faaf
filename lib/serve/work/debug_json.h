// What the page is told of a run that it debugs.
#ifndef GRAPNEL_LIB_SERVE_WORK_DEBUG_JSON_H_
#define GRAPNEL_LIB_SERVE_WORK_DEBUG_JSON_H_

#include <string>

#include "lib/job/debugger.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// At a stop, as attributes of the object that is open: "stop", with the node, the calls that it is
// in, what it reads and made, why it is there; "breakpoints"; "at_end": what may follow is another
// run.
void WriteDebugStop(const Debugger& debugger, llvm::json::OStream& json);

// One value that is looked at.
struct ValueRequest {
  // "input" or "output" of the stop's node, "fetch" of a run that has ended, each by its index;
  // else an expression, which a name is too.
  std::string of;
  size_t index = 0;
  std::string expression;
  std::string slice;  // "[0, :5]", or nothing
  int precision = 8;
  int64_t edge_items = 3, threshold = 1000;
  std::string axes;  // of the picture: "1,2", or nothing

  // {"of", "index"} or {"expression"}, and of the others those that are not as usual. Errors say
  // what is wrong with it.
  static Expected<ValueRequest> Parse(llvm::StringRef json);
};

// A value that was found at a stop: it is told of when the run may have gone on.
struct FoundValue {
  Tensor tensor;
  std::string name;  // what it can be set by; empty: not at all
  WatchedPort port;  // graph null: it was computed
};
// Errors: there is no such value; the expression's.
Expected<FoundValue> FindValue(const Debugger& debugger, const ValueRequest& request);

// {"name", "dtype", "shape", "text", "statistics", "picture": {"png", "width", "height", "layout",
// "colors"}}; of less than two numbers the last two are missing, and where they cannot be drawn
// "no_picture" says why. Errors: the slice's.
Expected<std::string> ValueJson(const FoundValue& value, const ValueRequest& request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_DEBUG_JSON_H_
