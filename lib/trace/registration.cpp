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
  function.trace = [call = function.call, name = function.name, inputs = function.inputs,
                    where = function.where] { return TraceFunction(name, inputs, call, where); };
  Registered().push_back(std::move(function));
  return true;
}

}  // namespace grapnel
