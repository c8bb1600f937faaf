// What commands with --graph share when they open a MODEL.
#ifndef GRAPNEL_TOOLS_INPUT_H_
#define GRAPNEL_TOOLS_INPUT_H_

#include "lib/job/signature_graph.h"
#include "lib/job/traced_graphs.h"
#include "tools/command.h"
#include "tools/command_line.h"

namespace grapnel {

// OpenModel, and FILE.cpp, which is compiled, FILE.cpp:FUNCTION, or a function of a --plugin: they
// are traced (lib/job/traced_graphs.h). `sink` gets what the compiler says of a file that compiles.
Expected<std::shared_ptr<Model>> OpenModelInput(
    llvm::StringRef path, const MessageSink& sink = [](Severity, llvm::StringRef) {});
// One graph of it, or each, as OpenedGraph's Open and OpenEach have it, so that PATH:NAME names one
// too; errors name --graph. `sink` also hears how an ambiguous name was read.
Expected<OpenedGraph> OpenInput(
    llvm::StringRef path, llvm::StringRef title,
    const MessageSink& sink = [](Severity, llvm::StringRef) {});
Expected<std::vector<OpenedGraph>> OpenEachInput(
    llvm::StringRef path, llvm::StringRef title,
    const MessageSink& sink = [](Severity, llvm::StringRef) {});

// The one function of a program that is meant. Errors name --graph.
Expected<OpenedGraph> OpenFunction(llvm::StringRef path, llvm::ArrayRef<TracedFunction> functions,
                                   llvm::StringRef title);

// --signature of commands that look at a graph: with it, TakeSignature; without, FillSizes alone.
void AddSignatureFlag(CommandLine& line, std::string& signature);
Error TakeGiven(llvm::StringRef signature, const ShapeOverrides& sizes, OpenedGraph* opened);

// --no-values of commands whose output is shown to others.
void AddNoValuesFlag(CommandLine& line, bool& no_values);

// Runs `command` on the graph of that `title`; without one on the only graph, or on each graph of a
// text in turn, a line of dashes with its title printed before each. An error of one is printed,
// and the others are done; the result is the worst of all. `outputs` are names of files, empty
// where none was asked for, that hold what comes of one graph. Errors: OpenEachInput's;
// several graphs, and an output or --json, which hold one.
Expected<int> OnEachGraph(llvm::StringRef path, llvm::StringRef title,
                          llvm::ArrayRef<llvm::StringRef> outputs, Invocation& invocation,
                          llvm::function_ref<Expected<int>(OpenedGraph&)> command);

// The error that `output` cannot hold what comes of so many graphs.
Error HoldsOneGraph(llvm::StringRef output, size_t graphs);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_INPUT_H_
