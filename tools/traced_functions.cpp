#include "tools/traced_functions.h"

#include "lib/exec/feed.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/plugin.h"
#include "lib/job/traced_graphs.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/StringExtras.h"
#include "tools/run_flags.h"

namespace grapnel {
namespace {

// Returns "x: float[3], n: int32; mean.cpp:12".
std::string Describe(const TracedFunction& function) {
  std::vector<std::string> inputs;
  for (const TensorSpec& input : function.inputs)
    inputs.push_back(input.name + ": " + DataTypeName(input.dtype).str() +
                     (input.shape.rank() == 0 ? "" : input.shape.ToString()));
  std::string where = llvm::formatv("{0}:{1}", function.where.file, function.where.line).str();
  return (inputs.empty() ? "no inputs" : llvm::join(inputs, ", ")) + "; " + where;
}

TracedChoice ChoiceOf(const TracedFunction& function) {
  return {function.name,
          Describe(function),
          function.trace,
          {function.name, function.inputs, function.call}};
}

}  // namespace

std::vector<TracedChoice> TracedChoices() {
  std::vector<TracedChoice> choices;
  for (const TracedFunction& function : TracedFunctions()) choices.push_back(ChoiceOf(function));
  for (const TraceExample& example : TraceExamples())
    choices.push_back({example.name,
                       example.help,
                       example.trace,
                       {example.name, example.inputs, example.call},
                       &example});
  return choices;
}

Expected<std::vector<TracedChoice>> ChoicesOfFile(llvm::StringRef file, Invocation& invocation) {
  ASSIGN_OR_RETURN(std::vector<TracedFunction> functions,
                   FunctionsOfSource(file, invocation.sink()));
  std::vector<TracedChoice> choices;
  choices.reserve(functions.size());
  for (const TracedFunction& function : functions) choices.push_back(ChoiceOf(function));
  return choices;
}

Expected<TracedChoice> FindChoice(llvm::StringRef kind, llvm::StringRef name,
                                  const std::vector<TracedChoice>& choices,
                                  const std::string& where) {
  std::vector<std::string> names;
  for (const TracedChoice& choice : choices) {
    if (name == choice.name) return choice;
    names.push_back(choice.name);
  }
  return NotFound(kind, name, names, where);
}

Expected<TracedChoice> TheChoice(llvm::StringRef text, Invocation& invocation) {
  auto [file, name] = SourceAndFunction(text);
  if (file.empty()) return FindChoice("example", name, TracedChoices(), "");
  ASSIGN_OR_RETURN(std::vector<TracedChoice> choices, ChoicesOfFile(file, invocation));
  if (!name.empty()) return FindChoice("function", name, choices, " in " + file);
  if (choices.size() == 1) return choices[0];
  std::vector<std::string> names;
  names.reserve(choices.size());
  for (const TracedChoice& choice : choices) names.push_back(choice.name);
  return MakeError("{0}: has {1} functions; name one, as {0}:{2}: {3}", file, choices.size(),
                   names[0], llvm::join(names, ", "));
}

Expected<std::vector<Tensor>> FeedsOf(const TracedChoice& choice,
                                      llvm::ArrayRef<std::string> feeds) {
  Tracer placeholders;  // a graph with the expected dtypes
  std::vector<std::string> names;
  for (const TensorSpec& input : choice.program.inputs) {
    placeholders.Placeholder(input.dtype, input.shape, input.name);
    names.push_back(input.name);
  }
  std::vector<Tensor> values(names.size());
  // "x" and "x:0" name the same tensor.
  auto place = [&](llvm::StringRef name) {
    return static_cast<size_t>(llvm::find(names, ReadTensorName(name).node) - names.begin());
  };
  if (choice.example) {
    for (const auto& [tensor, literal] : choice.example->feeds) {
      if (size_t i = place(tensor); i < values.size()) {
        ASSIGN_OR_RETURN(values[i], Tensor::FromLiteral(literal));
      }
    }
  }
  for (const std::string& text : feeds) {
    auto [name, file] = SplitAssignment(text);
    if (file.empty()) return MakeError("--feed {0}: NAME=FILE.npy was expected", text);
    size_t i = place(name);
    if (i == values.size()) return NotFound("input", name, names, " in " + choice.name);
    ASSIGN_OR_RETURN(values[i], LoadFeed(placeholders.module().main, names[i], file));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i])
      return MakeError("{0}: input '{1}' needs a value: --feed {1}=FILE.npy", choice.name,
                       names[i]);
  }
  return values;
}

}  // namespace grapnel
