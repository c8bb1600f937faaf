// `grapnel trace FILE.cpp:FUNCTION`: shows or writes the graph of a function written in C++.
#include "lib/io/case.h"
#include "lib/io/value.h"
#include "lib/io/write.h"
#include "lib/ir/summary.h"
#include "lib/ir/text.h"
#include "lib/job/plugin.h"
#include "lib/support/file.h"
#include "lib/support/text.h"
#include "tools/command.h"
#include "tools/document.h"
#include "tools/trace_eager.h"

namespace grapnel {
namespace {

struct Flags {
  std::string function, output;
  EagerFlags eager;
};

int List(const std::vector<TracedChoice>& choices, Invocation& invocation) {
  if (invocation.flags.json) {
    WriteDocument(invocation.out(), [&](llvm::json::OStream& json) {
      json.attributeArray("functions", [&] {
        for (const TracedChoice& choice : choices) {
          json.object([&] {
            json.attribute("name", choice.name);
            json.attribute("help", llvm::json::fixUTF8(choice.help));
          });
        }
      });
    });
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows;
  rows.reserve(choices.size());
  for (const TracedChoice& choice : choices) rows.push_back({choice.name, choice.help});
  invocation.out() << Table(rows, "");
  return kExitOk;
}

// Writes an example as a case folder: the graph, the feeds, and the expected outputs.
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

Error Write(const TracedChoice& choice, const Flags& flags, Invocation& invocation) {
  if (!flags.output.empty() && !NamesGraphFile(flags.output) && !choice.example)
    return MakeError(
        "-o {0}: a case folder needs values, but '{1}' is not an example; use {0}.pb for a graph",
        flags.output, choice.name);
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, choice.trace());
  if (flags.output.empty()) {
    WriteGraphAsText(*module, {}, invocation.out());
    return Error::success();
  }
  bool is_case = !NamesGraphFile(flags.output);
  RETURN_IF_ERROR(is_case ? WriteCase(*choice.example, *module, flags.output)
                          : WriteGraph(*module, flags.output));
  invocation.Wrote(flags.output, Plural(CountNodes(*module), "node"));
  return Error::success();
}

// Compiles "mean.cpp" or "mean.cpp:HarmonicMean" and traces the function; without a function name,
// traces the only function or, if there are several, lists them.
Expected<int> TraceFile(llvm::StringRef file, llvm::StringRef name, const Flags& flags,
                        Invocation& invocation) {
  ASSIGN_OR_RETURN(std::vector<TracedChoice> choices, ChoicesOfFile(file, invocation));
  bool wants_list = flags.output.empty() && (choices.size() > 1 || invocation.flags.json);
  if (name.empty() && wants_list) return List(choices, invocation);
  if (name.empty() && choices.size() > 1) {
    return MakeError("{0}: has {1} functions, but -o takes one: {0}:{2}", file, choices.size(),
                     choices[0].name);
  }
  if (name.empty()) name = choices[0].name;
  ASSIGN_OR_RETURN(TracedChoice choice, FindChoice("function", name, choices, " in " + file.str()));
  if (flags.eager.is_set) return RunProgram(choice, flags.eager, invocation);
  RETURN_IF_ERROR(Write(choice, flags, invocation));
  return kExitOk;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(flags.eager.CheckCombination());
  if (flags.eager.is_set && !flags.output.empty())
    return MakeError("-o writes a graph and cannot be combined with --eager");
  auto [file, name] = SourceAndFunction(flags.function);
  if (!file.empty()) return TraceFile(file, name, flags, invocation);
  std::vector<TracedChoice> choices = TracedChoices();
  if (flags.function.empty()) return List(choices, invocation);
  ASSIGN_OR_RETURN(TracedChoice choice, FindChoice("example", flags.function, choices, ""));
  if (flags.eager.is_set) return RunProgram(choice, flags.eager, invocation);
  RETURN_IF_ERROR(Write(choice, flags, invocation));
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("FUNCTION", flags->function,
              "FILE.cpp, which is compiled ($CXX, else c++): traces its only function, or lists "
              "several; FILE.cpp:NAME; or the name of a function of a --plugin or of an example; "
              "default: list them");
  line.Option(
      "-o,--output", flags->output,
      "output file for the graph (.pb, .pbtxt or .gtxt, each also .gz; - for standard output), for "
      "an example also a case folder; default: print the graph, one line per node");
  flags->eager.AddTo(line);
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("trace", "traces a function written in C++ to a graph",
                "trace docs/examples/collatz.cpp -o collatz.pb", SetUp);

}  // namespace
}  // namespace grapnel
