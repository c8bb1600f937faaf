// Opens the MODEL of commands with --graph.
#ifndef GRAPNEL_TOOLS_INPUT_H_
#define GRAPNEL_TOOLS_INPUT_H_

#include "lib/job/signature_graph.h"
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

// AddSignatureFlag adds the flag --signature, for commands that work on a whole file. TakeGiven
// calls TakeSignature if a signature is given, else only FillSizes.
void AddSignatureFlag(CommandLine& line, std::string& signature);
Error TakeGiven(llvm::StringRef signature, const ShapeOverrides& sizes, OpenedGraph* opened);

// The flags --signature and --whole, for commands that show a model: they show the network of the
// default signature, unless the flags say otherwise.
struct ShownPart {
  std::string signature;
  bool whole = false;

  void AddTo(CommandLine& line);
  // Makes the part to show the graph of `opened`, with the sizes `sizes`. Returns TakeNetwork's
  // line if the default signature was taken, else "". Errors: both flags are given; those of
  // TakeSignature and TakeNetwork.
  Expected<std::string> Take(const ShapeOverrides& sizes, OpenedGraph* opened) const;
};

// Adds the flag --no-values, for commands whose output may be shared.
void AddNoValuesFlag(CommandLine& line, bool& no_values);

// Runs `command` on the graph with the title `title`; without a title, on the only graph, or on
// each graph of a text file in turn, printing a line of dashes with the graph's title before each.
// An error of one graph is printed, and `command` still runs on the other graphs; returns the worst
// exit code. `outputs` are output files, empty if not requested, that can hold the result of one
// graph only. Errors: those of OpenEachInput; several graphs with an output or --json; for a single
// graph, those of `command`.
Expected<int> OnEachGraph(llvm::StringRef path, llvm::StringRef title,
                          llvm::ArrayRef<llvm::StringRef> outputs, Invocation& invocation,
                          llvm::function_ref<Expected<int>(OpenedGraph&)> command);

// Returns the error that `output` cannot hold the results of several graphs.
Error HoldsOneGraph(llvm::StringRef output, size_t graphs);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_INPUT_H_
