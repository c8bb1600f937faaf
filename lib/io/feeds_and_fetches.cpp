#include "lib/io/feeds_and_fetches.h"

#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/verify.h"
#include "lib/support/suggest.h"

namespace grapnel {
namespace {

constexpr size_t kMostErrors = 20;

}  // namespace

Expected<FeedsAndFetches> FeedsAndFetchesOf(const Model& model, const GraphInFile& graph,
                                            llvm::StringRef signature) {
  FeedsAndFetches tensors;
  ASSIGN_OR_RETURN(const Signature* chosen, ChooseSignature(model, graph, signature));
  if (const auto& values = model.case_info) {
    for (const auto& feed : values->feeds) tensors.feeds.push_back(feed.tensor);
    for (const auto& fetch : values->fetches) tensors.fetches.push_back(fetch.tensor);
  } else if (!graph.feeds.empty() || !graph.fetches.empty()) {
    tensors.feeds = graph.feeds;
    tensors.fetches = graph.fetches;
  } else if (chosen) {
    for (const auto& tensor : chosen->inputs) tensors.feeds.push_back(tensor.tensor);
    for (const auto& tensor : chosen->outputs) tensors.fetches.push_back(tensor.tensor);
  }
  return tensors;
}

namespace {

// Finds the function that a user may have meant with a tensor that is not in the main graph: a
// function with a node of that name, or the function of a name such as "function/x". Null if there
// is no such function.
const Function* FunctionWith(const Module& module, llvm::StringRef tensor) {
  for (const auto& function : module.functions)
    if (function->body.Find(ReadTensorName(tensor).node)) return function.get();
  Expected<Node> node = FindNode(module, tensor);
  if (node) return FunctionOf(node->graph());
  llvm::consumeError(node.takeError());
  return nullptr;
}

}  // namespace

Expected<std::string> TensorOfKey(const Model& model, const GraphInFile& graph,
                                  llvm::StringRef signature, llvm::StringRef name) {
  ASSIGN_OR_RETURN(const Signature* chosen, ChooseSignature(model, graph, signature));
  std::vector<std::string> keys;
  if (chosen) {
    for (const auto* list : {&chosen->inputs, &chosen->outputs}) {
      for (const SignatureTensor& tensor : *list) {
        if (tensor.key == name) return tensor.tensor;
        keys.push_back(tensor.key);
      }
    }
  }
  auto port = FindTensor(graph.module->main, name);
  if (port) return name.str();
  if (const Function* function = FunctionWith(*graph.module, name)) {
    llvm::consumeError(port.takeError());
    return MakeError(
        "{0}: '{1}' is in function '{2}': fetch it with `run`, tap it (--tap), or inline the calls "
        "of the function first (the pass function_optimizer)",
        model.path, name, function->name());
  }
  bool is_near = !NearNames(name, [&](NameSink take) { llvm::for_each(keys, take); }).empty();
  if (!is_near && signature.empty()) return Annotate(model.path, port.takeError());
  llvm::consumeError(port.takeError());
  std::string where = " in signature '" + chosen->name + "'";
  return Annotate(model.path, NotFound("key", name, keys, where));
}

static std::vector<std::string> KeysOf(const Model& model, const GraphInFile& graph,
                                       llvm::StringRef signature,
                                       std::vector<SignatureTensor> Signature::*ends,
                                       llvm::ArrayRef<std::string> tensors) {
  std::vector<std::string> names(tensors.begin(), tensors.end());
  auto chosen = ChooseSignature(model, graph, signature);
  if (!chosen) llvm::consumeError(chosen.takeError());
  if (!chosen || !*chosen) return names;
  for (std::string& name : names) {
    for (const SignatureTensor& tensor : (*chosen)->*ends) {
      if (tensor.tensor != name || tensor.key.empty()) continue;
      name = tensor.key;
      break;
    }
  }
  return names;
}

std::vector<std::string> NamesOfFetches(const Model& model, const GraphInFile& graph,
                                        llvm::StringRef signature,
                                        llvm::ArrayRef<std::string> fetches) {
  return KeysOf(model, graph, signature, &Signature::outputs, fetches);
}

std::vector<std::string> NamesOfFeeds(const Model& model, const GraphInFile& graph,
                                      llvm::StringRef signature,
                                      llvm::ArrayRef<std::string> feeds) {
  return KeysOf(model, graph, signature, &Signature::inputs, feeds);
}

std::vector<Problem> ProblemsOf(const Model& model, const GraphInFile& graph) {
  if (graph.whole) return ProblemsOf(model, *graph.whole);
  std::vector<Problem> problems = model.problems;
  for (Problem& problem : AllProblems(*graph.module)) problems.push_back(std::move(problem));
  return problems;
}

Error CheckValid(const Model& model, const GraphInFile& graph, const MessageSink& sink) {
  std::vector<std::string> errors;
  for (const Problem& problem : ProblemsOf(model, graph)) {
    std::string line = model.path + ": " + problem.ToString();
    if (problem.severity == Severity::kError) {
      errors.push_back(std::move(line));
    } else if (sink) {
      sink(problem.severity, line);
    }
  }
  if (errors.empty()) return Error::success();
  std::string text;
  size_t shown = std::min(errors.size(), kMostErrors);
  for (size_t i = 0; i < shown; ++i) text += (i ? "\n" : "") + errors[i];
  if (errors.size() > shown)
    text +=
        llvm::formatv("\n... and {0} more (`grapnel info` lists them all)", errors.size() - shown)
            .str();
  return MakeError("{0}", text);
}

}  // namespace grapnel
