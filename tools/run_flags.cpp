#include "tools/run_flags.h"

#include "tools/input.h"

namespace grapnel {

std::pair<std::string, std::string> SplitAssignment(llvm::StringRef text) {
  auto [name, file] = text.split('=');
  return {name.str(), file.str()};
}

void RunFlags::AddTo(CommandLine& line, const char* fetch, const char* fetch_shown_as) {
  line.Option("--graph", graph,
              "the title of one of several graphs, as `info` shows it; for dumps FUNCTION:STAGE");
  line.Option("--signature", signature,
              "the signature of a SavedModel, whose keys name feeds and fetches");
  AddFunctionFlag(line, function);
  line.Option("--feed", feeds, "a value for a tensor").ShownAs("NAME=FILE.npy");
  line.Option("--fetch", fetches, fetch).ShownAs(fetch_shown_as);
  onednn.AddTo(line);
}

void RunFlags::AddVariablesTo(CommandLine& line) {
  line.Option("--variables", variables,
              "start from this checkpoint: of --save-variables, of a tf.train.Checkpoint, or "
              "Keras's .weights.h5 or .keras")
      .ShownAs("PREFIX");
}

Error RunFlags::Use(OpenedGraph* opened) const {
  return UseGivenFunction(function, signature, opened);
}

Expected<RunRequest> RunFlags::Request() const {
  RunRequest request;
  for (const std::string& text : feeds) {
    auto [name, file] = SplitAssignment(text);
    if (file.empty()) return MakeError("--feed {0}: NAME=FILE.npy was expected", text);
    request.feeds.push_back({name, file, Tensor()});
  }
  for (const std::string& text : fetches) request.fetches.push_back(SplitAssignment(text).first);
  request.signature = signature;
  request.variables = variables;
  request.onednn = onednn.choice();
  request.words.fetches = "with --fetch";
  return request;
}

}  // namespace grapnel
