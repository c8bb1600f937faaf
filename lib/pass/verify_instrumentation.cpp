// Checks the graph after each pass that changed it, so that a pass that breaks a graph is found
// immediately. Changed nodes and their readers are checked after the pass, each changed body, or
// with `is_sound` the whole module, once more at the end.
#include <mutex>
#include <unordered_map>

#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/verify.h"
#include "lib/pass/boundary.h"
#include "lib/pass/pass_manager.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Whether to check both the changed parts and the whole graph after each pass; the two checks must
// agree. Only in sanitizer builds.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GRAPNEL_VERIFY_TWICE 1
#endif
#endif
#ifdef GRAPNEL_VERIFY_TWICE
constexpr bool kVerifyTwice = true;
#undef GRAPNEL_VERIFY_TWICE
#else
constexpr bool kVerifyTwice = false;
#endif

const Problem* FirstError(llvm::ArrayRef<Problem> problems) {
  const Problem* first = llvm::find_if(
      problems, [](const Problem& problem) { return problem.severity == Severity::kError; });
  return first == problems.end() ? nullptr : first;
}

class VerifyInstrumentation : public Instrumentation {
 public:
  VerifyInstrumentation(bool is_sound, std::vector<std::string> fetches, bool* broke_graph)
      : is_sound_(is_sound), fetches_(std::move(fetches)), broke_graph_(broke_graph) {}
  bool TakesBodiesApart() const override { return true; }
  bool ReadsRewrites() const override { return false; }

  Error BeforePipeline(const Module& module) override {
    if (!is_sound_) return Error::success();
    BodyOf(module.main).sound_at = module.main.version();
    for (const auto& function : module.functions)
      BodyOf(function->body).sound_at = function->body.version();
    if (fetches_.empty()) fetches_ = DefaultFetches(module.main);
    for (const std::string& fetch : fetches_)
      types_of_fetches_.push_back(TypeOfFetch(module.main, fetch));
    return Error::success();
  }

  Error AfterPass(const Stage& stage, const Module& module) override {
    if (!stage.changed) return Error::success();
    const Function* function = module.FindFunction(stage.function);
    const Graph& graph = function ? function->body : module.main;
    // If the pass made functions, only the calls of them are checked now; their bodies are checked
    // later.
    Body& body = BodyOf(graph);
    std::vector<Problem> problems = body.verifier.Run(graph, function, body.sound_at);
    if (kVerifyTwice) RETURN_IF_ERROR(CheckSame(problems, VerifyGraph(graph, function)));
    // Only with plugins is the whole module checked now: without them, other threads may be
    // changing other bodies.
    if (!stage.plugins.empty()) {
      plugins_ = stage.plugins;
      if (is_sound_ && !HasErrors(problems)) problems = VerifyModule(module);
    }
    if (!HasErrors(problems)) problems = VerifyCallsOf(graph, function, body.sound_at);
    if (!function && !HasErrors(problems)) problems = VerifyFetches(graph);
    RETURN_IF_ERROR(CheckNoError(problems, stage.plugins));
    body.sound_at = graph.version();
    return Error::success();
  }

  Error AfterPipeline(const Module& module) override {
    if (is_sound_) return CheckNoError(VerifyModule(module), plugins_);
    auto verify = [&](const Graph& graph, const Function* function) {
      return bodies_.count(graph.id()) ? CheckNoError(VerifyGraph(graph, function), "")
                                       : Error::success();
    };
    RETURN_IF_ERROR(verify(module.main, nullptr));
    for (const auto& function : module.functions)
      RETURN_IF_ERROR(verify(function->body, function.get()));
    return Error::success();
  }

 private:
  struct Body {
    uint64_t sound_at = 0;  // the version at which it was found correct; 0: not checked yet
    ChangeVerifier verifier;
  };
  // Locks the map, because bodies may be optimized in parallel, each on one thread.
  Body& BodyOf(const Graph& graph) {
    std::lock_guard<std::mutex> lock(mutex_);
    return bodies_[graph.id()];
  }

  Error CheckNoError(llvm::ArrayRef<Problem> problems, llvm::StringRef plugins) {
    const Problem* error = FirstError(problems);
    if (!error) return Error::success();
    std::lock_guard<std::mutex> lock(mutex_);
    if (broke_graph_) *broke_graph_ = true;
    std::string whose = plugins.empty()
                            ? "a bug in grapnel: please report it with the model"
                            : ("the pass, or one of its rules, is from " + plugins).str();
    return MakeError("broke the graph: {0} ({1} in all; {2})", error->ToString(),
                     Plural(problems.size(), "problem"), whose);
  }

  // Returns the dtype of the fetch; DT_INVALID for a node without outputs or of an unknown op;
  // nullopt if the fetch does not exist.
  static std::optional<DataType> TypeOfFetch(const Graph& graph, llvm::StringRef fetch) {
    std::optional<Port> port = FindTensorIfThere(graph, fetch);
    if (!port) return std::nullopt;
    return BaseType(TypeOfPort(graph, *port));
  }

  std::vector<Problem> VerifyFetches(const Graph& graph) const {
    std::vector<Problem> problems;
    for (size_t i = 0; i < types_of_fetches_.size(); ++i) {
      std::optional<DataType> was = types_of_fetches_[i], is = TypeOfFetch(graph, fetches_[i]);
      // A fetch may lose its output: auto_parallel replaces a node that applies a gradient with a
      // node without outputs.
      if (was == is || !was || is == proto::DT_INVALID) continue;
      std::string what = !is ? "is fetched, and no longer exists"
                             : llvm::formatv("is fetched as {0}, and is {1} now",
                                             DataTypeName(*was), DataTypeName(*is))
                                   .str();
      problems.push_back({Severity::kError, fetches_[i], std::move(what)});
    }
    return problems;
  }

  static Error CheckSame(llvm::ArrayRef<Problem> changes, llvm::ArrayRef<Problem> whole) {
    const Problem *one = FirstError(changes), *other = FirstError(whole);
    std::string text = one ? one->ToString() : "nothing",
                all = other ? other->ToString() : "nothing";
    if (text == all) return Error::success();
    return MakeError("the verifier finds '{0}' in the changed nodes and '{1}' in the whole graph",
                     text, all);
  }

  bool is_sound_;
  std::vector<std::string> fetches_;
  std::vector<std::optional<DataType>> types_of_fetches_;
  bool* broke_graph_;
  std::string plugins_;  // of the last pass that has any
  std::mutex mutex_;
  std::unordered_map<uint64_t, Body> bodies_;  // by Graph::id(); entries stay in place
};

}  // namespace

std::unique_ptr<Instrumentation> MakeVerifyInstrumentation(bool is_sound,
                                                           std::vector<std::string> fetches,
                                                           bool* broke_graph) {
  return std::make_unique<VerifyInstrumentation>(is_sound, std::move(fetches), broke_graph);
}

}  // namespace grapnel
