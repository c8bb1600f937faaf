// Example functions, in examples.cpp. `grapnel trace` writes them as starting points for the user,
// and docs/guide/tracing.md shows them.
#ifndef GRAPNEL_LIB_TRACE_EXAMPLES_H_
#define GRAPNEL_LIB_TRACE_EXAMPLES_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/literal.h"
#include "lib/trace/trace.h"

namespace grapnel {

struct TraceExample {
  const char* name;
  const char* help;
  std::vector<TensorSpec> inputs;
  std::function<Values(Tracer&, llvm::ArrayRef<Value>)> call;
  std::function<Expected<std::unique_ptr<Module>>()> trace;
  // Tensors with values to feed, and the expected results.
  std::vector<std::pair<std::string, Literal>> feeds, fetches;
};

// Sorted by name.
const std::vector<TraceExample>& TraceExamples();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_EXAMPLES_H_
