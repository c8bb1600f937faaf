// Error values with messages for users.
#ifndef GRAPNEL_LIB_SUPPORT_ERROR_H_
#define GRAPNEL_LIB_SUPPORT_ERROR_H_

#include <functional>
#include <string>
#include <utility>

#include "lib/support/public.h"
#include "lib/support/sentence.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace grapnel {

using llvm::Error;
using llvm::Expected;

[[gnu::cold]] GRAPNEL_PUBLIC Error FormatError(const char* format,
                                               llvm::ArrayRef<SentenceArgument> arguments);

// Makes an error about the user's file, flag or graph (a bug in grapnel is an assert instead).
// `format` is as in Sentence. By convention, the message begins in lower case, has no full stop at
// its end, and says what was expected; a caller that knows the file or the node adds its name with
// Annotate.
template <typename... Args>
[[gnu::always_inline]] inline Error MakeError(const char* format, const Args&... args) {
  if constexpr (sizeof...(args) == 0) {
    return FormatError(format, {});
  } else {
    return FormatError(format, {SentenceArgument(args)...});
  }
}

// Prefixes the text of `error` with "where: "; an OutOfMemory error stays one, and success stays
// success.
GRAPNEL_PUBLIC Error Annotate(const llvm::Twine& where, Error error);

// Returns the text of `error` and consumes it.
GRAPNEL_PUBLIC std::string TextOf(Error error);

enum class Severity { kInfo, kWarning, kError };

// Receives the warnings and other messages of libraries. The tool that calls the library decides
// which of them the user sees. Called by one thread at a time, except for the `print` of
// ExecutorOptions, EagerOptions and RunServices, which several threads may call at once.
using MessageSink = std::function<void(Severity, llvm::StringRef)>;

}  // namespace grapnel

#define GRAPNEL_CONCAT_INNER(a, b) a##b
#define GRAPNEL_CONCAT(a, b) GRAPNEL_CONCAT_INNER(a, b)

// Evaluates `expression`, an Error, and returns it from the enclosing function if it is a failure.
#define RETURN_IF_ERROR(expression)                         \
  do {                                                      \
    if (::llvm::Error error_ = (expression)) return error_; \
  } while (false)

// Declares or assigns `target` from an Expected; if the Expected holds an error, returns that error
// from the enclosing function.
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_IMPL(GRAPNEL_CONCAT(expected_, __LINE__), target, expression)
#define ASSIGN_OR_RETURN_IMPL(expected, target, expression)  \
  auto expected = (expression);                              \
  if (LLVM_UNLIKELY(!expected)) return expected.takeError(); \
  target = std::move(*expected)

#endif  // GRAPNEL_LIB_SUPPORT_ERROR_H_
