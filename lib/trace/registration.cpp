#include "lib/trace/registration.h"

#include "lib/support/plugin.h"

namespace grapnel {
namespace {

std::vector<TracedFunction>& Registered() {
  static auto* functions = new std::vector<TracedFunction>;
  return *functions;
}

}  // namespace

const std::vector<TracedFunction>& TracedFunctions() { return Registered(); }

bool RegisterTrace(TracedFunction function) {
  function.plugin = PluginBeingLoaded();
  function.trace = [f = function] { return TraceFunction(f.name, f.inputs, f.call, f.where); };
  function.trace_model = [f = function] {
    return TraceWithVariables(f.name, f.inputs, f.call, f.where);
  };
  function.add = [f = function](ModelBuilder& model) {
    model.AddFunction(f.name, f.inputs, f.call, {}, f.where);
  };
  Registered().push_back(std::move(function));
  return true;
}

}  // namespace grapnel
