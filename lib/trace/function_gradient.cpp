#include "lib/trace/function_gradient.h"

#include "lib/trace/ops.h"

namespace grapnel {
std::string FreeFunctionName(TraceState& state, const std::string& base) {
  std::string name = base + "_" + std::to_string(state.uid++);
  while (state.module->FindFunction(name)) name = base + "_" + std::to_string(state.uid++);
  return name;
}

int FunctionGradient::ArgOf(Port capture) const {
  Node node = forward->graph->node(capture.node);
  return node.op() == "_Arg" ? static_cast<int>(node.GetInt("index", -1)) : -1;
}

std::vector<DataType> FunctionGradient::TakeDtypes() {
  std::vector<DataType> types;
  FunctionExtender extender(*forward);
  for (Port capture : captures) {
    places.push_back(-1);
    if (ArgOf(capture) >= 0) continue;
    types.push_back(forward->shapes.TypeOf(capture));
    places.back() = extender.AddResult(capture, "intermediate");
  }
  return types;
}

Values FunctionGradient::Call(TraceState& state, const Values& dys, const Values& captured) const {
  Values inputs = dys;
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  Operand operands[] = {Operand(inputs)};
  Operation call = MakeOp(state,
                          {is_stateful ? "StatefulPartitionedCall" : "PartitionedCall",
                           operands,
                           {OpAttribute::Serialized("f", attr::Func(name)), {"Tout", types}},
                           {}},
                          SourceLocation());
  Values gradients;
  for (size_t i = 0; i < args.size(); ++i) gradients.push_back(call.output(static_cast<int>(i)));
  return gradients;
}

FunctionGradient GradientOfFunction(TraceState& state, const Function& function,
                                    llvm::ArrayRef<Value> dys) {
  FunctionGradient made;
  std::string base = function.name().str();
  Function* copy = state.module->AddCopy(function, FreeFunctionName(state, "__forward_" + base));
  InBody back(state, state.current);  // restores the current body after the scopes below
  made.forward = state.EnterExisting(copy);
  TraceBody& forward = *made.forward;
  // The copy's nodes get the source lines of the original, so that errors are reported at the
  // user's line.
  if (TraceBody* body = state.body_of.lookup(&function.body)) {
    forward.lines = body->lines;
    forward.calls = body->calls;
    forward.first_line = body->first_line;
  }
  forward.lines.resize(forward.first_traced, forward.imported_at);
  forward.calls.resize(forward.first_traced);
  made.name = FreeFunctionName(state, "__backward_" + base);
  TraceBody& backward = *state.Enter(made.name);
  backward.copies_constants = true;
  backward.scope.clear();

  BackpropRequest request;
  request.forward = &forward;
  std::vector<NodeId> args;
  for (size_t i = 0; i < dys.size() && i < copy->results.size(); ++i) {
    if (!dys[i].ok()) continue;
    made.results.push_back(static_cast<int>(i));
    args.push_back(
        backward.AddPlaceholder(dys[i].dtype(), dys[i].shape(), "dy", false, SourceLocation()));
    request.targets.push_back(forward.graph->node(copy->results[i].node).input(0));
    request.seeds.push_back(backward.ValueOf(args.back()));
  }
  for (NodeId arg : copy->args) {
    request.sources.push_back({arg, 0});
    if (IsTrainable(forward.shapes.TypeOf({arg, 0}))) request.watched.push_back({{arg, 0}, 0});
  }
  std::vector<Gradient> gradients = Backprop(state, request);
  std::vector<NodeId> ends;
  std::vector<Port> results;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].exists() || !IsTrainable(forward.shapes.TypeOf(request.sources[i]))) continue;
    Value dense = Identity(ToDense(state, gradients[i]));
    if (!dense.ok()) continue;
    made.args.push_back(static_cast<int>(i));
    made.types.push_back(dense.dtype());
    ends.push_back(dense.port().node);
    results.push_back(dense.port());
  }
  AddAutomaticControls(backward, ends);
  for (const TraceBody::Captured& captured : backward.captures) {
    made.captures.push_back(captured.outer.port());
    args.push_back(captured.placeholder);
  }
  made.is_stateful = backward.HasStatefulNodes();
  FinishFunction(backward, args, results);
  return made;
}

}  // namespace grapnel
