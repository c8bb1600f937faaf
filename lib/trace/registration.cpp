#include "lib/trace/registration.h"

#include "lib/support/exceptions.h"
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
  function.trace = [trace = std::move(function.trace), name = function.name,
                    where = function.where]() -> Expected<std::unique_ptr<Module>> {
    bool threw = true;
    auto module = WithoutExceptions([&] {
      auto traced = trace();
      threw = false;
      return traced;
    });
    if (module || !threw) return module;
    return Annotate(
        llvm::Twine(where.file) + ":" + llvm::Twine(where.line) + ": function '" + name + "'",
        module.takeError());
  };
  Registered().push_back(std::move(function));
  return true;
}

}  // namespace grapnel
