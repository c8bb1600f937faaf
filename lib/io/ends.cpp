#include "lib/io/ends.h"

#include "lib/ir/verify.h"

namespace grapnel {
namespace {

constexpr const char* kUsualSignature = "serving_default";
constexpr size_t kMostErrors = 20;

const Signature* FindSignature(const GraphInFile& graph, llvm::StringRef name) {
  for (const Signature& candidate : graph.signatures) {
    if (candidate.name == (name.empty() ? kUsualSignature : name)) return &candidate;
  }
  return nullptr;
}

}  // namespace

Expected<Ends> EndsOf(const Model& model, const GraphInFile& graph, llvm::StringRef signature) {
  Ends ends;
  const Signature* chosen = FindSignature(graph, signature);
  if (!signature.empty() && !chosen) {
    std::string names;
    for (const Signature& candidate : graph.signatures)
      names += (names.empty() ? "'" : ", '") + candidate.name + "'";
    return MakeError("{0}: there is no signature '{1}'; it has {2}", model.path, signature,
                     names.empty() ? "none" : names);
  }
  if (const auto& values = model.case_info) {
    for (const auto& feed : values->feeds) ends.feeds.push_back(feed.tensor);
    for (const auto& fetch : values->fetches) ends.fetches.push_back(fetch.tensor);
  } else if (!graph.feeds.empty() || !graph.fetches.empty()) {
    ends.feeds = graph.feeds;
    ends.fetches = graph.fetches;
  } else if (chosen) {
    for (const auto& tensor : chosen->inputs) ends.feeds.push_back(tensor.tensor);
    for (const auto& tensor : chosen->outputs) ends.fetches.push_back(tensor.tensor);
  }
  return ends;
}

std::string TensorOfKey(const GraphInFile& graph, llvm::StringRef signature, llvm::StringRef name) {
  if (const Signature* chosen = FindSignature(graph, signature)) {
    for (const auto* list : {&chosen->inputs, &chosen->outputs}) {
      for (const SignatureTensor& tensor : *list) {
        if (tensor.key == name) return tensor.tensor;
      }
    }
  }
  return name.str();
}

std::vector<Problem> ProblemsOf(const Model& model, const GraphInFile& graph) {
  std::vector<Problem> problems = model.problems;
  for (Problem& problem : AllProblems(*graph.module)) problems.push_back(std::move(problem));
  return problems;
}

Error DemandValid(const Model& model, const GraphInFile& graph, const MessageSink& sink) {
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
