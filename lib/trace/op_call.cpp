#include "lib/trace/op_call.h"

#include "lib/ir/node_types.h"
#include "lib/trace/body.h"
#include "lib/trace/eager_runner.h"

namespace grapnel {

namespace {

// Returns the node whose attributes determine how many tensors an output argument has.
Node DefinedBy(const Operation& made) {
  const EagerObject* eager = made.home().object();
  if (!eager) return made.body()->graph->node(made.node());
  return eager->is_operation ? static_cast<const EagerOperation*>(eager)->made_by
                             : static_cast<const EagerTensor*>(eager)->made_by;
}

}  // namespace

Operation OpCall::Make() {
  if (!made_) made_ = tracer_.Op(op_, inputs_, attributes_, name_, where_);
  return *made_;
}

Value OpCall::Single(int argument) {
  Values values = List(argument);
  return values.empty() ? Make().output(0) : values.front();
}

Values OpCall::List(int argument) {
  Operation made = Make();
  if (!made.ok()) return {};
  Node node = DefinedBy(made);
  const OpInfo* info = DefinitionOf(node);
  // NumTensors cannot fail: a node that was made has the attributes that it reads.
  auto size = [&](int i) { return cantFail(NumTensors(node, info->outputs[i])); };
  int64_t first = 0;
  for (int i = 0; i < argument; ++i) first += size(i);
  Values values;
  for (int64_t i = 0; i < size(argument); ++i)
    values.push_back(made.output(static_cast<int>(first + i)));
  return values;
}

}  // namespace grapnel
