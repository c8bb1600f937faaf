#include "lib/exec/saved_state.h"

#include "lib/exec/executor.h"

namespace grapnel {
namespace {

struct Feed {
  std::string tensor, text;
};

Error RunOp(const Graph& graph, llvm::StringRef fetch, llvm::ArrayRef<Feed> feeds, Session& session,
            ThreadPool& pool) {
  ExecutorOptions options;
  options.pool = &pool;
  options.session = &session;
  options.fetches = {fetch.str()};
  std::vector<Tensor> values;
  for (const Feed& feed : feeds) {
    ASSIGN_OR_RETURN(Tensor value, Tensor::Allocate(proto::DT_STRING, {}));
    *value.data<std::string>() = feed.text;
    values.push_back(std::move(value));
    options.feeds.push_back(feed.tensor);
  }
  ASSIGN_OR_RETURN(auto executor, Executor::Compile(graph, options));
  return executor->Run(std::move(values)).takeError();
}

std::string InitOpOf(const GraphInFile& graph) {
  for (const Signature& signature : graph.signatures) {
    if (signature.name == "__saved_model_init_op" && !signature.outputs.empty())
      return signature.outputs[0].tensor;
  }
  for (llvm::StringRef name : {"saved_model_main_op", "legacy_init_op"}) {
    for (const Collection& collection : graph.collections) {
      if (collection.name == name && !collection.values.empty()) return collection.values[0];
    }
  }
  return "";
}

}  // namespace

Error RestoreSession(const GraphInFile& graph, llvm::StringRef variables_prefix, Session& session,
                     ThreadPool& pool) {
  if (!variables_prefix.empty()) {
    if (!graph.saver || graph.saver->restore_op.empty())
      return MakeError("{0}: there are variables, and no saver that says how to restore them",
                       graph.path);
    Error error = RunOp(graph.module->main, graph.saver->restore_op,
                        {{graph.saver->filename_tensor, variables_prefix.str()}}, session, pool);
    if (error) return Annotate("restoring the variables", std::move(error));
  }
  std::string init = InitOpOf(graph);
  if (init.empty()) return Error::success();
  std::vector<Feed> assets;
  for (const AssetFile& asset : graph.assets) assets.push_back({asset.tensor, asset.file});
  Error error = RunOp(graph.module->main, init, assets, session, pool);
  return error ? Annotate("initialising the model", std::move(error)) : Error::success();
}

Error SaveVariables(const GraphInFile& graph, llvm::StringRef prefix, Session& session,
                    ThreadPool& pool) {
  if (!graph.saver || graph.saver->save_tensor.empty())
    return MakeError("{0}: the model has no saver, which says what to save", graph.path);
  Error error = RunOp(graph.module->main, graph.saver->save_tensor,
                      {{graph.saver->filename_tensor, prefix.str()}}, session, pool);
  return error ? Annotate("saving the variables", std::move(error)) : Error::success();
}

}  // namespace grapnel
