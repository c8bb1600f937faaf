// Functions written in C++ that a command is given by name: FILE.cpp:NAME, or of a plugin or
// example.
#ifndef GRAPNEL_TOOLS_TRACED_FUNCTIONS_H_
#define GRAPNEL_TOOLS_TRACED_FUNCTIONS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/job/eager_target.h"
#include "lib/trace/examples.h"
#include "tools/command.h"

namespace grapnel {

// Registered by a plugin or a file, or one of the examples.
struct TracedChoice {
  std::string name, help;
  std::function<Expected<std::unique_ptr<Module>>()> trace;
  EagerProgram program = {};
  const TraceExample* example = nullptr;  // has values to feed, and what must come out
};

// Those of plugins, in the order in which they registered, and the examples.
std::vector<TracedChoice> TracedChoices();
// Those of a file of C++, which is compiled. Errors: LoadSource's; it has none.
Expected<std::vector<TracedChoice>> ChoicesOfFile(llvm::StringRef file, Invocation& invocation);
// Errors: `kind` "function" is not there, with the nearest; `where` comes after "found".
Expected<TracedChoice> FindChoice(llvm::StringRef kind, llvm::StringRef name,
                                  const std::vector<TracedChoice>& choices,
                                  const std::string& where);
// The one that is meant, for commands that take one: of a file the only one where none is named.
Expected<TracedChoice> TheChoice(llvm::StringRef text, Invocation& invocation);

// Values of its inputs: NAME=FILE each, else those that an example has. Errors: a name or file that
// is not there; an input without a value.
Expected<std::vector<Tensor>> FeedsOf(const TracedChoice& choice,
                                      llvm::ArrayRef<std::string> feeds);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_TRACED_FUNCTIONS_H_
