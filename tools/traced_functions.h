// Functions written in C++ that the user names on the command line: FILE.cpp:NAME, or the name of a
// plugin's function or of an example.
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

// A function registered by a plugin or a file, or an example.
struct TracedChoice {
  std::string name, help;
  std::function<Expected<std::unique_ptr<Module>>()> trace;
  EagerProgram program = {};
  const TraceExample* example = nullptr;  // set for an example: has feeds and expected results
};

// Returns the functions of plugins, in the order of registration, and the examples.
std::vector<TracedChoice> TracedChoices();
// Compiles a C++ file and returns its functions. Errors: LoadSource's; it registers none.
Expected<std::vector<TracedChoice>> ChoicesOfFile(llvm::StringRef file, Invocation& invocation);
// Errors: no `kind` ("function") has this name, with the nearest name; `where` follows "found" in
// the message.
Expected<TracedChoice> FindChoice(llvm::StringRef kind, llvm::StringRef name,
                                  const std::vector<TracedChoice>& choices,
                                  const std::string& where);
// Returns the function that the user names, for commands that take one: for a file without a
// function name, its only function.
Expected<TracedChoice> TheChoice(llvm::StringRef text, Invocation& invocation);

// Returns the values of its inputs: from NAME=FILE, else from the example. Errors: a name or file
// that does not exist; an input without a value.
Expected<std::vector<Tensor>> FeedsOf(const TracedChoice& choice,
                                      llvm::ArrayRef<std::string> feeds);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_TRACED_FUNCTIONS_H_
