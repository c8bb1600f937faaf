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

namespace {

// What it throws becomes an error that says whose it is.
template <typename T>
std::function<Expected<T>()> Caught(std::function<Expected<T>()> trace, const std::string& name,
                                    const Where& where) {
  return [trace = std::move(trace), name, where]() -> Expected<T> {
    bool threw = true;
    auto result = WithoutExceptions([&] {
      auto traced = trace();
      threw = false;
      return traced;
    });
    if (result || !threw) return result;
    return Annotate(
        llvm::Twine(where.file) + ":" + llvm::Twine(where.line) + ": function '" + name + "'",
        result.takeError());
  };
}

}  // namespace

bool RegisterTrace(TracedFunction function) {
  function.plugin = PluginBeingLoaded();
  function.trace = Caught(std::move(function.trace), function.name, function.where);
  function.trace_model = Caught(std::move(function.trace_model), function.name, function.where);
  Registered().push_back(std::move(function));
  return true;
}

bool RegisterTrace(const char* name, std::vector<TensorSpec> inputs, Where where,
                   std::function<Values(Tracer&, llvm::ArrayRef<Value>)> fn) {
  TracedFunction function;
  function.name = name;
  function.inputs = inputs;
  function.where = where;
  function.trace = [=] { return TraceFunction(name, inputs, fn, where); };
  function.trace_model = [=] { return TraceWithVariables(name, inputs, fn, where); };
  function.add = [=](ModelBuilder& model) { model.AddFunction(name, inputs, fn, {}, where); };
  return RegisterTrace(std::move(function));
}

}  // namespace grapnel
