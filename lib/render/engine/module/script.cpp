#include "lib/render/engine/module/script.h"

#include <JavaScriptCore/JavaScript.h>

#include <memory>
#include <type_traits>

// In JavaScriptCore's library for all, in a header (JSContextRefPrivate.h) that Debian leaves out.
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
    if (ended_) return {false, "it takes too long"};
    return {false, problem ? TextOf(context_.get(), problem) : "there is nothing to call"};
  }

  bool ended_ = false;
  std::unique_ptr<Group, Release> group_;
  std::unique_ptr<OpaqueJSContext, Release> context_;
};

}  // namespace

Result RunScript(const char* script, const char* function,
                 const std::vector<const char*>& arguments, double seconds) {
  return Engine(seconds).Run(script, function, arguments);
}

}  // namespace grapnel_picture
