// Implements lib/render/engine/module/script.h with QuickJS, an engine that is small enough for a
// wheel.
//
// QuickJS interprets scripts, while JavaScriptCore compiles them; the pictures are the same. Only
// the core language is available, without dates or promises, for example.
#include "lib/render/engine/module/script.h"

#include <chrono>
#include <cstring>
#include <memory>

#include "quickjs.h"

namespace grapnel_picture {
namespace {

constexpr size_t kStack = 2 << 20;  // bytes, of a thread's 8 MiB

struct Free {
  void operator()(JSRuntime* runtime) const { JS_FreeRuntime(runtime); }
  void operator()(JSContext* context) const { JS_FreeContext(context); }
};

class Value {
 public:
  Value(JSContext* context, JSValue value) : context_(context), value_(value) {}
  ~Value() { JS_FreeValue(context_, value_); }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;

  JSValue get() const { return value_; }
  bool failed() const { return JS_IsException(value_); }
  std::string text() const {
    size_t size = 0;
    const char* bytes = JS_ToCStringLen(context_, &size, value_);
    if (!bytes) return "";
    std::string text(bytes, size);
    JS_FreeCString(context_, bytes);
    return text;
  }

 private:
  JSContext* context_;
  JSValue value_;
};

class Engine {
 public:
  explicit Engine(double seconds)
      : until_(Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))),
        runtime_(JS_NewRuntime()) {
    if (!runtime_) throw std::bad_alloc();
    JS_SetMaxStackSize(runtime_.get(), kStack);
    JS_SetGCThreshold(runtime_.get(), -1);  // no garbage collection: the runtime is freed soon
    JS_SetInterruptHandler(runtime_.get(), IsOver, this);
    context_.reset(JS_NewContextRaw(runtime_.get()));
    if (!context_) throw std::bad_alloc();
    JSContext* context = context_.get();
    JS_AddIntrinsicBaseObjects(context);
    JS_AddIntrinsicEval(context);
    JS_AddIntrinsicRegExp(context);
    JS_AddIntrinsicJSON(context);
    JS_AddIntrinsicMapSet(context);
    JS_AddIntrinsicTypedArrays(context);
  }

  Result Run(const char* script, const char* function, const std::vector<const char*>& arguments) {
    JSContext* context = context_.get();
    Value loaded(context,
                 JS_Eval(context, script, std::strlen(script), "picture", JS_EVAL_TYPE_GLOBAL));
    if (loaded.failed()) return Failed();
    Value global(context, JS_GetGlobalObject(context));
    Value callee(context, JS_GetPropertyStr(context, global.get(), function));
    if (!JS_IsFunction(context, callee.get())) return {false, "there is no function to call"};
    std::vector<JSValue> values;
    values.reserve(arguments.size());
    for (const char* argument : arguments) values.push_back(JS_NewString(context, argument));
    Value answer(context, JS_Call(context, callee.get(), JS_UNDEFINED,
                                  static_cast<int>(values.size()), values.data()));
    for (JSValue value : values) JS_FreeValue(context, value);
    if (answer.failed()) return Failed();
    return {true, answer.text()};
  }

 private:
  using Clock = std::chrono::steady_clock;

  static int IsOver(JSRuntime*, void* engine) {
    auto* self = static_cast<Engine*>(engine);
    if (Clock::now() > self->until_) self->ended_ = true;
    return self->ended_;
  }

  Result Failed() {
    if (ended_) return {false, "the script takes too long"};
    Value problem(context_.get(), JS_GetException(context_.get()));
    return {false, problem.text()};
  }

  Clock::time_point until_;
  bool ended_ = false;
  std::unique_ptr<JSRuntime, Free> runtime_;
  std::unique_ptr<JSContext, Free> context_;  // destroyed before the runtime
};

}  // namespace

Result RunScript(const char* script, const char* function,
                 const std::vector<const char*>& arguments, double seconds) {
  return Engine(seconds).Run(script, function, arguments);
}

}  // namespace grapnel_picture
