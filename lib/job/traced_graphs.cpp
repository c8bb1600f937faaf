#include "lib/job/traced_graphs.h"

#include "lib/job/plugin.h"
#include "lib/support/file.h"
#include "lib/support/suggest.h"

namespace grapnel {

Expected<std::vector<TracedFunction>> FunctionsOfSource(llvm::StringRef file,
                                                        const MessageSink& sink) {
  size_t others = TracedFunctions().size();
  RETURN_IF_ERROR(LoadSource(file, sink));
  std::vector<TracedFunction> functions(TracedFunctions().begin() + others,
                                        TracedFunctions().end());
  if (!functions.empty()) return functions;
  return MakeError(
      "{0}: registers no function; GRAPNEL_TRACE(FUNCTION, {{{{\"x\", proto::DT_FLOAT, {{3}}}) "
      "after a function registers it",
      file);
}

Expected<std::vector<TracedFunction>> FunctionsNamed(llvm::StringRef text,
                                                     const MessageSink& sink) {
  auto [file, name] = SourceAndFunction(text);
  std::vector<TracedFunction> named;
  if (file.empty()) {
    if (FileExists(text)) return named;
    for (const TracedFunction& function : TracedFunctions()) {
      if (function.name == name) named.push_back(function);
    }
    return named;
  }
  ASSIGN_OR_RETURN(std::vector<TracedFunction> functions, FunctionsOfSource(file, sink));
  if (name.empty()) return functions;
  std::vector<std::string> names;
  for (TracedFunction& function : functions) {
    names.push_back(function.name);
    if (function.name == name) named.push_back(std::move(function));
  }
  if (named.empty()) return NotFound("function", name, names, " in " + file);
  return named;
}

Expected<std::shared_ptr<Model>> ModelOf(llvm::StringRef path,
                                         llvm::ArrayRef<TracedFunction> functions) {
  auto model = std::make_shared<Model>();
  model->kind = FileKind::kProgram;
  model->path = path.str();
  for (const TracedFunction& function : functions) {
    ASSIGN_OR_RETURN(TracedModel traced, function.trace_model());
    GraphInFile graph;
    graph.title = function.name;
    graph.path = path.str();
    graph.module = std::move(traced.module);
    const ModelFunction& only = traced.functions[0];
    for (const ModelFunction::End& input : only.inputs) graph.feeds.push_back(input.tensor);
    for (const ModelFunction::End& output : only.outputs) graph.fetches.push_back(output.tensor);
    for (VariableInfo& variable : traced.variables)
      graph.initial_values.push_back({variable.node, std::move(variable.initial)});
    model->graphs.push_back(std::move(graph));
  }
  return model;
}

Expected<std::vector<OpenedGraph>> OpenFunctions(llvm::StringRef path,
                                                 llvm::ArrayRef<TracedFunction> functions,
                                                 llvm::StringRef title, llvm::StringRef by) {
  ASSIGN_OR_RETURN(std::shared_ptr<Model> model, ModelOf(path, functions));
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs, OpenedGraph::EachOf(model, title, by));
  for (OpenedGraph& graph : graphs) {
    const std::string& name = graph.file().title;
    for (const TracedFunction& function : functions) {
      if (function.name != name) continue;
      graph.ReopenBy([path = path.str(), function]() -> Expected<OpenedGraph> {
        ASSIGN_OR_RETURN(auto again, OpenFunctions(path, function, "", ""));
        return std::move(again[0]);
      });
    }
  }
  return graphs;
}

}  // namespace grapnel
