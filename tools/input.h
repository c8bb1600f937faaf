// Opens the MODEL of commands with --graph.
#ifndef GRAPNEL_TOOLS_INPUT_H_
#define GRAPNEL_TOOLS_INPUT_H_

#include "lib/job/shape_overrides.h"
#include "lib/job/traced_graphs.h"
#include "tools/command.h"
#include "tools/command_line.h"

namespace grapnel {

// Like OpenModel, but also accepts FILE.cpp, which is compiled, FILE.cpp:FUNCTION, or a function of
// a --plugin; such functions are traced (lib/job/traced_graphs.h). `sink` receives compiler
// warnings.
Expected<std::shared_ptr<Model>> OpenModelInput(
    llvm::StringRef path, const MessageSink& sink = [](Severity, llvm::StringRef) {});
// OpenInput opens one graph of such a model, OpenEachInput each graph. They work like OpenedGraph's
// Open and OpenEach, so PATH:NAME is accepted too; errors name --graph. `sink` also receives a note
// about how an ambiguous name was resolved.
Expected<OpenedGraph> OpenInput(
    llvm::StringRef path, llvm::StringRef title,
    const MessageSink& sink = [](Severity, llvm::StringRef) {});
Expected<std::vector<OpenedGraph>> OpenEachInput(
    llvm::StringRef path, llvm::StringRef title,
    const MessageSink& sink = [](Severity, llvm::StringRef) {});

// Opens the function with the title `title`, one of the functions of the program `path`; without a
// title, the only function. Errors about the choice name --graph.
Expected<OpenedGraph> OpenFunction(llvm::StringRef path, llvm::ArrayRef<TracedFunction> functions,
                                   llvm::StringRef title);

// The part of a model that a command works on.
struct PartFlags {
  std::string signature, function;

  bool empty() const { return signature.empty() && function.empty(); }
  // Adds --signature and --function.
  void AddTo(CommandLine& line);
  // Makes the graph that the signature or the function runs the graph of `opened` (TakeSignature,
  // TakeFunction); without either, only calls FillSizes. Errors: those of these; both flags.
  Error Take(const ShapeOverrides& sizes, OpenedGraph* opened) const;
};

// Makes the function of --function what a command runs (UseFunction), if the flag is given. Errors:
// those of UseFunction; --signature is given too.
Error UseGivenFunction(llvm::StringRef function, llvm::StringRef signature, OpenedGraph* opened);
// Adds the flag --function, for commands that run a graph.
void AddFunctionFlag(CommandLine& line, std::string& function);

// The part of a model that a command shows: the network of the default signature, unless the flags
// say otherwise.
struct ShownPart : PartFlags {
  bool whole = false;

  // Adds --signature, --function and --whole; AddSignatureTo adds them without --function.
  void AddTo(CommandLine& line);
  void AddSignatureTo(CommandLine& line);
  // True if a flag names the part.
  bool is_chosen() const { return whole || !empty(); }
  // Makes the part the graph of `opened`, with the sizes `sizes`. Returns TakeNetwork's line if the
  // default signature was taken, else "". Errors: those of PartFlags::Take and TakeNetwork; a part
  // and --whole are given.
  Expected<std::string> Take(const ShapeOverrides& sizes, OpenedGraph* opened) const;
};

// Adds the flag --no-values, for commands whose output may be shared.
void AddNoValuesFlag(CommandLine& line, bool& no_values);

// Runs `command` on the graph with the title `title`; without a title, on the only graph, or on
// each graph of a text file or a program in turn, printing a line of dashes with the graph's title
// before each. An error of one graph is printed, and `command` still runs on the other graphs;
// returns the worst exit code. `outputs` are output files, empty if not requested, that can hold
// the result of one graph only. Errors: those of OpenEachInput; several graphs with an output or
// --json; for a single graph, those of `command`.
Expected<int> OnEachGraph(llvm::StringRef path, llvm::StringRef title,
                          llvm::ArrayRef<llvm::StringRef> outputs, Invocation& invocation,
                          llvm::function_ref<Expected<int>(OpenedGraph&)> command);

// Returns the error that `output` cannot hold the results of several graphs.
Error HoldsOneGraph(llvm::StringRef output, size_t graphs);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_INPUT_H_
