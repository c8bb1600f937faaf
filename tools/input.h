// What commands share when they open a MODEL and speak of its problems.
#ifndef GRAPNEL_TOOLS_INPUT_H_
#define GRAPNEL_TOOLS_INPUT_H_

#include <string>
#include <vector>

#include "lib/io/ends.h"
#include "lib/ir/literal.h"
#include "tools/command.h"

namespace grapnel {

// One graph of a model, with what the model says of its ends.
struct InputGraph {
  Model model;
  size_t index = 0;  // in model.graphs
  Module& module() { return *model.graphs[index].module; }
  GraphInFile& graph() { return model.graphs[index]; }
  std::string name;  // for dumps and titles: the file's or folder's name without suffix
};

// Opens `path` and picks its graph: the only one, or the one of that `title` (tags of a SavedModel,
// a dump's file name).
Expected<InputGraph> OpenInput(llvm::StringRef path, llvm::StringRef title = {});

// Runs `command` on the graph of that `title`; without one on the only graph, or on each graph of a
// text in turn, a line of dashes with its title printed before each. The result is the worst of
// all.
Expected<int> OnEachGraph(llvm::StringRef path, llvm::StringRef title, Invocation& invocation,
                          llvm::function_ref<Expected<int>(InputGraph&)> command);

// Feeds and fetches for opt and run: those given, else those of the case or signature, else none.
Expected<Ends> EndsOf(const InputGraph& input, llvm::ArrayRef<std::string> feeds,
                      llvm::ArrayRef<std::string> fetches, llvm::StringRef signature = {});

// All problems of the graph, as opt and run need to know them: warnings go to the sink; errors make
// an Error that lists them (the first 20), each with file and node.
Error DemandValid(const InputGraph& input, const MessageSink& sink);

// Lines "path: node 'x': ..." for a list on stderr or in a report.
std::vector<std::string> ProblemLines(const InputGraph& input);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_INPUT_H_
