// `grapnel trace EXAMPLE`: what a function written in C++ becomes.
#include "lib/io/case.h"
#include "lib/io/value.h"
#include "lib/io/write.h"
#include "lib/ir/text.h"
#include "lib/support/file.h"
#include "lib/support/suggest.h"
#include "lib/trace/examples.h"
#include "llvm/Support/JSON.h"
#include "tools/command.h"

namespace grapnel {
namespace {

struct Flags {
  std::string example, output;
};

int List(Invocation& invocation) {
  if (invocation.flags.json) {
    llvm::json::OStream json(invocation.out(), 2);
    json.array([&] {
      for (const TraceExample& example : TraceExamples()) {
        json.object([&] {
          json.attribute("name", example.name);
          json.attribute("help", example.help);
        });
      }
    });
    invocation.out() << "\n";
    return kExitOk;
  }
  for (const TraceExample& example : TraceExamples()) {
    invocation.out() << llvm::formatv("{0,-20} {1}\n", example.name, example.help);
  }
  return kExitOk;
}

Expected<const TraceExample*> Find(llvm::StringRef name) {
  std::vector<llvm::StringRef> names;
  for (const TraceExample& example : TraceExamples()) {
    if (name == example.name) return &example;
    names.push_back(example.name);
  }
  return NotFound("example", name, names);
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

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (flags.example.empty()) return List(invocation);
  ASSIGN_OR_RETURN(const TraceExample* example, Find(flags.example));
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, example->trace());
  if (flags.output.empty()) {
    WriteGraphAsText(*module, {}, invocation.out());
  } else if (NamesGraphFile(flags.output)) {
    RETURN_IF_ERROR(WriteGraph(*module, flags.output));
  } else {
    RETURN_IF_ERROR(WriteCase(*example, *module, flags.output));
  }
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("EXAMPLE", flags->example,
              "a function of lib/trace/examples.cpp; without one they are listed");
  line.Option("-o,--output", flags->output,
              "a graph (.pb, .pbtxt or .gtxt, each also .gz; - for standard output), else the name "
              "of a case folder; without it the graph is printed, a line a node");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("trace", "makes a graph from an example function written in C++",
                "trace harmonic_mean -o mean.pb", SetUp);

}  // namespace
}  // namespace grapnel
