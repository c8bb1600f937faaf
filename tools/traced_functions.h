// Finds functions written in C++ that the user names on the command line: FILE.cpp:NAME, or the
// name of a plugin's function or of an example.
#ifndef GRAPNEL_TOOLS_TRACED_FUNCTIONS_H_
#define GRAPNEL_TOOLS_TRACED_FUNCTIONS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/debugger/eager_target.h"
#include "lib/trace/examples.h"
#include "tools/command.h"

namespace grapnel {

// A function that a plugin or a C++ file registers, or an example.
struct TracedChoice {
  std::string name, help;
  std::function<Expected<std::unique_ptr<Module>>()> trace;
  EagerProgram program = {};
  const TraceExample* example = nullptr;  // null unless the function is an example
};

// Returns the functions of plugins, in the order of registration, and the examples.
std::vector<TracedChoice> TracedChoices();
// Compiles a C++ file and returns its functions. Errors: those of LoadSource; the file registers no
// function.
Expected<std::vector<TracedChoice>> ChoicesOfFile(llvm::StringRef file, Invocation& invocation);
// Returns the choice with this name. Errors: there is none (the message has `kind`, such as
// "function", and the nearest name; `where` follows "found" in it).
Expected<TracedChoice> FindChoice(llvm::StringRef kind, llvm::StringRef name,
                                  const std::vector<TracedChoice>& choices,
                                  const std::string& where);
// Returns the function that `text` names, for commands that take one function. A file without a
// function name stands for its only function. Errors: those of ChoicesOfFile and FindChoice; no
// function is named and the file has several.
Expected<TracedChoice> TheChoice(llvm::StringRef text, Invocation& invocation);

// Returns the values of the function's inputs: from NAME=FILE, else from the example. Errors: a
// text without a file; a name that does not exist; those of LoadFeed; an input without a value.
Expected<std::vector<Tensor>> FeedsOf(const TracedChoice& choice,
                                      llvm::ArrayRef<std::string> feeds);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_TRACED_FUNCTIONS_H_
