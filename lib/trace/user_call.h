// Calls to user code; its exceptions become errors of the trace. Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_USER_CALL_H_
#define GRAPNEL_LIB_TRACE_USER_CALL_H_

#include <string>

#include "lib/support/exceptions.h"
#include "lib/trace/body.h"

namespace grapnel {

// Returns false if `call` threw, after reporting it. `what` names the call: "while: the body".
template <typename Call>
bool CallUser(TraceState& state, llvm::StringRef what, const SourceLocation& where, Call&& call) {
  Error error = WithoutExceptions([&]() -> Error {
    call();
    return Error::success();
  });
  if (!error) return true;
  state.Report(where, (what + " " + TextOf(std::move(error))).str());
  return false;
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_USER_CALL_H_
