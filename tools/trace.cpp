// `grapnel trace FILE.cpp:FUNCTION`: what a function written in C++ becomes.
#include "lib/io/case.h"
#include "lib/io/value.h"
#include "lib/io/write.h"
#include "lib/ir/text.h"
#include "lib/job/plugin.h"
#include "lib/support/file.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "lib/trace/examples.h"
#include "lib/trace/registration.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "tools/command.h"
#include "tools/trace_eager.h"

namespace grapnel {
namespace {

struct Flags {
  std::string function, output;
  EagerFlags eager;
};

// A function that can be traced: registered by a plugin or a file, or one of the examples.
struct Choice {
  std::string name, help;
  std::function<Expected<std::unique_ptr<Module>>()> trace;
  EagerProgram program = {};
  const TraceExample* example = nullptr;  // has values to feed, and what must come out
};

// "x: float[3], n: int32, of mean.cpp:12".
std::string Describe(const TracedFunction& function) {
  std::vector<std::string> inputs;
  for (const TensorSpec& input : function.inputs)
    inputs.push_back(input.name + ": " + DataTypeName(input.dtype).str() +
                     (input.shape.rank() == 0 ? "" : input.shape.ToString()));
  std::string where = llvm::formatv("{0}:{1}", function.where.file, function.where.line).str();
  return (inputs.empty() ? "no inputs" : llvm::join(inputs, ", ")) + "; " + where;
}

std::vector<Choice> Choices(bool with_examples) {
  std::vector<Choice> choices;
  for (const TracedFunction& function : TracedFunctions())
    choices.push_back({function.name,
                       Describe(function),
                       function.trace,
                       {function.name, function.inputs, function.call, {}}});
  if (!with_examples) return choices;
  for (const TraceExample& example : TraceExamples())
    choices.push_back({example.name,
                       example.help,
                       example.trace,
                       {example.name, example.inputs, example.call, example.feeds},
                       &example});
  return choices;
}

int List(const std::vector<Choice>& choices, Invocation& invocation) {
  if (invocation.flags.json) {
    llvm::json::OStream json(invocation.out(), 2);
    json.array([&] {
      for (const Choice& choice : choices) {
        json.object([&] {
          json.attribute("name", choice.name);
          json.attribute("help", llvm::json::fixUTF8(choice.help));
        });
      }
    });
    invocation.out() << "\n";
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows;
  rows.reserve(choices.size());
  for (const Choice& choice : choices) rows.push_back({choice.name, choice.help});
  invocation.out() << Table(rows, "");
  return kExitOk;
}

Expected<Choice> Find(llvm::StringRef kind, llvm::StringRef name,
                      const std::vector<Choice>& choices, const std::string& where) {
  std::vector<std::string> names;
  for (const Choice& choice : choices) {
    if (name == choice.name) return choice;
    names.push_back(choice.name);
  }
  return NotFound(kind, name, names, where);
}

// A case folder: the graph, values to feed, and what must come out.
Error WriteCase(const TraceExample& example, const Module& module, llvm::StringRef folder) {
  RETURN_IF_ERROR(CreateDirectories(folder));
  Case values;
  values.rtol = 1e-5;
  int index = 0;
  for (const auto& [tensor, literal] : example.feeds) {
    std::string file = JoinPath(folder, "feed_" + std::to_string(index++) + ".npy");
    RETURN_IF_ERROR(SaveNpyLiteral(file, literal));
    values.feeds.push_back({tensor, file});
  }
  index = 0;
  for (const auto& [tensor, literal] : example.fetches) {
    std::string file = JoinPath(folder, "out_" + std::to_string(index++) + ".npy");
    RETURN_IF_ERROR(SaveNpyLiteral(file, literal));
    values.fetches.push_back({tensor, file, 0});
  }
  RETURN_IF_ERROR(WriteGraph(module, JoinPath(folder, "graph.pb")));
  return SaveCase(folder, values);
}

Error Write(const Choice& choice, const Flags& flags, Invocation& invocation) {
  if (!flags.output.empty() && !NamesGraphFile(flags.output) && !choice.example)
    return MakeError(
        "-o {0}: a case folder needs values, and '{1}' is no example; {0}.pb is a graph",
        flags.output, choice.name);
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, choice.trace());
  if (flags.output.empty()) {
    WriteGraphAsText(*module, {}, invocation.out());
    return Error::success();
  }
  if (NamesGraphFile(flags.output)) return WriteGraph(*module, flags.output);
  return WriteCase(*choice.example, *module, flags.output);
}

// "mean.cpp" or "mean.cpp:HarmonicMean": compiled, and its function; the only one, where none is
// named.
Expected<int> TraceFile(llvm::StringRef file, llvm::StringRef name, const Flags& flags,
                        Invocation& invocation) {
  size_t others = TracedFunctions().size();
  RETURN_IF_ERROR(LoadSource(file, invocation.sink()));
  std::vector<Choice> choices = Choices(/*with_examples=*/false);
  choices.erase(choices.begin(), choices.begin() + others);
  if (choices.empty())
    return MakeError(
        "{0}: registers no function; GRAPNEL_TRACE(FUNCTION, {{{{\"x\", "
        "proto::DT_FLOAT, {{3}}}); after a function does",
        file);
  bool wants_list = flags.output.empty() && (choices.size() > 1 || invocation.flags.json);
  if (name.empty() && wants_list) return List(choices, invocation);
  if (name.empty() && choices.size() > 1) {
    return MakeError("{0}: has {1} functions, and -o takes one: {0}:{2}", file, choices.size(),
                     choices[0].name);
  }
  if (name.empty()) name = choices[0].name;
  ASSIGN_OR_RETURN(Choice choice, Find("function", name, choices, " in " + file.str()));
  if (flags.eager.is_set) return RunProgram(choice.program, flags.eager, invocation);
  RETURN_IF_ERROR(Write(choice, flags, invocation));
  return kExitOk;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(flags.eager.DemandPartners());
  if (flags.eager.is_set && !flags.output.empty())
    return MakeError("-o goes with a graph, and not with --eager");
  auto [file, name] = llvm::StringRef(flags.function).rsplit(':');
  if (NamesSource(flags.function)) return TraceFile(flags.function, "", flags, invocation);
  if (NamesSource(file)) return TraceFile(file, name, flags, invocation);
  std::vector<Choice> choices = Choices(/*with_examples=*/true);
  if (flags.function.empty()) return List(choices, invocation);
  ASSIGN_OR_RETURN(Choice choice, Find("example", flags.function, choices, ""));
  if (flags.eager.is_set) return RunProgram(choice.program, flags.eager, invocation);
  RETURN_IF_ERROR(Write(choice, flags, invocation));
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("FUNCTION", flags->function,
              "FILE.cpp, which is compiled ($CXX, else c++) and has one function or lists them; "
              "FILE.cpp:NAME; or the name of a function of a --plugin or of an example; without "
              "one they are listed");
  line.Option("-o,--output", flags->output,
              "a graph (.pb, .pbtxt or .gtxt, each also .gz; - for standard output), of an example "
              "also the name of a case folder; without it the graph is printed, a line a node");
  flags->eager.AddTo(line);
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("trace", "makes a graph of a function written in C++",
                "trace docs/examples/collatz.cpp -o collatz.pb", SetUp);

}  // namespace
}  // namespace grapnel
