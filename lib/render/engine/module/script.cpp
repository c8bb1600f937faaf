#include "lib/render/engine/module/script.h"

#include <JavaScriptCore/JavaScript.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <type_traits>

// JavaScriptCore's library exports these, but the header that declares them (JSContextRefPrivate.h)
// is not in Debian's package.
extern "C" {
typedef bool (*JSShouldTerminateCallback)(JSContextRef context, void* state);
void JSContextGroupSetExecutionTimeLimit(JSContextGroupRef group, double limit,
                                         JSShouldTerminateCallback callback, void* state);
}

namespace grapnel_picture {
namespace {

struct Release {
  void operator()(OpaqueJSString* text) const { JSStringRelease(text); }
  void operator()(std::remove_const_t<std::remove_pointer_t<JSContextGroupRef>>* group) const {
    JSContextGroupRelease(group);
  }
  void operator()(OpaqueJSContext* context) const { JSGlobalContextRelease(context); }
};

using String = std::unique_ptr<OpaqueJSString, Release>;
String StringOf(const char* text) { return String(JSStringCreateWithUTF8CString(text)); }

std::string TextOf(JSContextRef context, JSValueRef value) {
  String text(JSValueToStringCopy(context, value, nullptr));
  if (!text) return "";
  std::string bytes(JSStringGetMaximumUTF8CStringSize(text.get()), '\0');
  size_t size = JSStringGetUTF8CString(text.get(), bytes.data(), bytes.size());
  bytes.resize(size ? size - 1 : 0);
  return bytes;
}

bool ThatIsEnough(JSContextRef, void* ended) {
  *static_cast<bool*>(ended) = true;
  return true;
}

class Engine {
 public:
  explicit Engine(double seconds)
      : group_(const_cast<Group*>(JSContextGroupCreate())),
        context_(JSGlobalContextCreateInGroup(group_.get(), nullptr)) {
    JSContextGroupSetExecutionTimeLimit(group_.get(), seconds, ThatIsEnough, &ended_);
  }

  Result Run(const char* script, const char* function, const std::vector<const char*>& arguments) {
    JSContextRef context = context_.get();
    JSValueRef problem = nullptr;
    JSEvaluateScript(context, StringOf(script).get(), nullptr, nullptr, 1, &problem);
    if (problem) return Failed(problem);
    JSObjectRef global = JSContextGetGlobalObject(context);
    JSValueRef made = JSObjectGetProperty(context, global, StringOf(function).get(), &problem);
    JSObjectRef callee = problem ? nullptr : JSValueToObject(context, made, &problem);
    if (problem || !callee) return Failed(problem);
    std::vector<JSValueRef> values;
    values.reserve(arguments.size());
    for (const char* argument : arguments)
      values.push_back(JSValueMakeString(context, StringOf(argument).get()));
    JSValueRef answer =
        JSObjectCallAsFunction(context, callee, nullptr, values.size(), values.data(), &problem);
    if (problem || !answer) return Failed(problem);
    return {true, TextOf(context, answer)};
  }

 private:
  using Group = std::remove_const_t<std::remove_pointer_t<JSContextGroupRef>>;

  Result Failed(JSValueRef problem) const {
    if (ended_) return {false, "the script takes too long"};
    return {false, problem ? TextOf(context_.get(), problem) : "there is no function to call"};
  }

  bool ended_ = false;
  std::unique_ptr<Group, Release> group_;
  std::unique_ptr<OpaqueJSContext, Release> context_;
};

// Returns an error if a limit on the address space (ulimit -v) would make the engine abort. By
// default the engine reserves 64 GiB of address space. If there is a limit, sets the option that
// avoids this reservation; even then the engine needs kNeeded GiB.
std::string NotEnoughAddresses() {
  constexpr int kNeeded = 8;
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return "";
  setenv("GIGACAGE_ENABLED", "0", 0);
  if (limit.rlim_cur >= rlim_t{kNeeded} << 30) return "";
  return "the limit on addresses (ulimit -v) is below " + std::to_string(kNeeded) + " GiB";
}

// By default the engine stops its threads by SIGUSR1, to collect garbage and to end slow scripts.
// When LLVM registers a file to remove on signals, it replaces that signal's handler, and the next
// collection would wait forever. So sets options that make the engine collect on its own thread and
// poll the time limit.
void UseNoSignals() {
  setenv("JSC_useConcurrentGC", "0", 0);
  setenv("JSC_usePollingTraps", "1", 0);
}

// Returns the reason why the engine would abort; empty if there is none.
std::string WhatIsMissing() {
  UseNoSignals();
  if (std::string why = NotEnoughAddresses(); !why.empty()) return why;
  return access("/dev/urandom", R_OK) ? "there is no /dev/urandom" : "";
}

}  // namespace

Result RunScript(const char* script, const char* function,
                 const std::vector<const char*>& arguments, double seconds) {
  static const std::string missing = WhatIsMissing();
  if (!missing.empty()) return {false, missing + "; a .dot file needs no engine"};
  return Engine(seconds).Run(script, function, arguments);
}

}  // namespace grapnel_picture
