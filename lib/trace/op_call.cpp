#include "lib/trace/op_call.h"

#include "lib/ir/node_types.h"
#include "lib/trace/body.h"

namespace grapnel {

Operation OpCall::Make() {
  if (!made_) made_ = tracer_.Op(op_, inputs_, attributes_, name_, where_);
  return *made_;
}

Value OpCall::Single(int argument) {
  Values values = List(argument);
  return values.empty() ? Value() : values.front();
}

Values OpCall::List(int argument) {
  Operation made = Make();
  if (!made.ok()) return {};
  Node node = made.body()->graph->node(made.node());
  const OpInfo* info = DefinitionOf(node);
  // All of a node that was made have their attributes.
  auto size = [&](int i) { return cantFail(NumTensors(node, info->outputs[i])); };
  int64_t first = 0;
  for (int i = 0; i < argument; ++i) first += size(i);
  Values values;
  for (int64_t i = 0; i < size(argument); ++i)
    values.push_back(made.output(static_cast<int>(first + i)));
  return values;
}

}  // namespace grapnel
