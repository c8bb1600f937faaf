#include "lib/shape/module_shapes.h"

#include <cassert>
#include <mutex>
#include <set>

#include "lib/ir/node_types.h"
#include "lib/shape/arithmetic.h"
#include "lib/shape/shape_map_impl.h"

namespace grapnel {
namespace {

// The functions that the nodes of a body refer to, once per node and function.
using Mentions = std::vector<std::pair<NodeId, const Function*>>;

Mentions MentionsIn(const Graph& graph) {
  Mentions mentions;
  llvm::DenseMap<StringId, bool> may_call;
  for (Node node : graph.nodes()) {
    auto [known, added] = may_call.try_emplace(node.op_id(), false);
    if (added) known->second = MayCallFunctions(node);
    if (!known->second) continue;
    std::set<llvm::StringRef> seen;
    for (llvm::StringRef name : CalledFunctions(node)) {
      const Function* function = graph.module().FindFunction(name);
      if (function && seen.insert(name).second) mentions.push_back({node.id(), function});
    }
  }
  return mentions;
}

}  // namespace

class ModuleShapes::Impl {
 public:
  explicit Impl(const Module& module) : module_(module), shared_(SharedShapesOf(module)) {
    shared_->believes_notes = true;
  }

  const ShapeMap& Of(const Graph& body) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!maps_.count(&module_.main)) {
      ListMentions(module_.main);
      InferBody(module_.main, nullptr);
    }
    if (&body != &module_.main && !maps_.count(&body)) InferFunctions();
    assert(maps_.count(&body) && "a body of another module");
    return *maps_.find(&body)->second;
  }

 private:
  // The facts about a function's arguments, joined over the calls found so far.
  struct Given {
    std::vector<PortFacts> args;
    std::vector<bool> contradicts_note;
    bool called = false;
    bool by_others = false;  // other uses than calls, or calls with other arguments
    size_t waits_for = 0;    // bodies that refer to it and are not inferred yet
    bool reached = false;    // the main graph reaches it
  };

  void ListMentions(const Graph& graph) { mentions_[&graph] = MentionsIn(graph); }
  void Reach();
  void InferFunctions();
  void InferBody(const Graph& graph, const Function* function);
  void Hand(const Graph& graph, const ShapeMap::Impl& body);
  void Join(const Function& function, const CallFacts& call);
  std::vector<PortFacts> ArgsOf(const Function& function);
  // Returns the functions whose arguments get facts from the nodes of `graph`, each function once.
  // A body that the main graph does not reach affects only functions that it does not reach either.
  std::set<const Function*> Bearing(const Graph& graph);
  Given& GivenTo(const Function& function) { return given_[&function]; }

  const Module& module_;
  std::shared_ptr<SharedShapes> shared_;
  std::mutex mutex_;
  std::map<const Graph*, std::unique_ptr<ShapeMap>> maps_;
  std::map<const Graph*, Mentions> mentions_;
  std::map<const Function*, Given> given_;
  std::set<const Graph*> reached_;
};

std::set<const Function*> ModuleShapes::Impl::Bearing(const Graph& graph) {
  std::set<const Function*> functions;
  bool reached = reached_.count(&graph);
  for (auto [node, function] : mentions_[&graph]) {
    if (reached || !reached_.count(&function->body)) functions.insert(function);
  }
  return functions;
}

void ModuleShapes::Impl::Reach() {
  std::vector<const Graph*> work = {&module_.main};
  reached_.insert(&module_.main);
  while (!work.empty()) {
    const Graph* graph = work.back();
    work.pop_back();
    for (auto [node, function] : mentions_[graph]) {
      if (reached_.insert(&function->body).second) work.push_back(&function->body);
    }
  }
}

// Infers callers before the functions that they call. If a cycle of calls is left, goes on with the
// first function in the file that still waits.
void ModuleShapes::Impl::InferFunctions() {
  for (const auto& function : module_.functions) ListMentions(function->body);
  Reach();
  for (const auto& function : module_.functions) {
    for (const Function* callee : Bearing(function->body)) ++GivenTo(*callee).waits_for;
  }
  std::map<const Function*, size_t> number;
  std::set<size_t> waiting, ready;
  for (size_t i = 0; i < module_.functions.size(); ++i) {
    const Function& function = *module_.functions[i];
    number[&function] = i;
    (GivenTo(function).waits_for == 0 ? ready : waiting).insert(i);
  }
  while (!ready.empty() || !waiting.empty()) {
    std::set<size_t>& from = ready.empty() ? waiting : ready;
    const Function& function = *module_.functions[*from.begin()];
    if (ready.empty()) GivenTo(function).by_others = true;
    from.erase(from.begin());
    InferBody(function.body, &function);
    for (const Function* callee : Bearing(function.body)) {
      size_t i = number[callee];
      if (--GivenTo(*callee).waits_for == 0 && waiting.erase(i)) ready.insert(i);
    }
  }
  shared_->calls.Forget();
  mentions_.clear();
  given_.clear();
}

std::vector<PortFacts> ModuleShapes::Impl::ArgsOf(const Function& function) {
  Given& given = GivenTo(function);
  std::vector<PortFacts> args(function.args.size()), notes(function.args.size());
  if (HasListArgs(function)) return {};
  if (given.called && !given.by_others) args = std::move(given.args);
  shared_->BelieveArgNotes(function, &notes);
  for (size_t i = 0; i < args.size(); ++i) {
    if (!given.called || !given.contradicts_note[i]) BelieveNote(notes[i], &args[i]);
  }
  return args;
}

void ModuleShapes::Impl::InferBody(const Graph& graph, const Function* function) {
  auto impl = std::make_unique<ShapeMap::Impl>(graph, ShapeOptions(), shared_);
  impl->UseSymbols();
  impl->RecordCalls();
  if (function) {
    impl->SetArgs(ArgsOf(*function));
    shared_->calls.Enter(*function);
  }
  impl->Run();
  if (function) shared_->calls.Leave(*function);
  Hand(graph, *impl);
  maps_[&graph] = std::unique_ptr<ShapeMap>(new ShapeMap(std::move(impl)));
}

// Adds the facts that the calls in a body pass to the arguments of the called functions.
void ModuleShapes::Impl::Hand(const Graph& graph, const ShapeMap::Impl& body) {
  bool bears_on_all = reached_.empty() || reached_.count(&graph);
  for (auto [node, function] : mentions_[&graph]) {
    if (!bears_on_all && reached_.count(&function->body)) continue;
    bool called = false;
    auto calls = body.calls().find(node);
    if (calls != body.calls().end()) {
      for (const CallFacts& call : calls->second) {
        if (function->name() != call.function) continue;
        called = true;
        Join(*function, call);
      }
    }
    if (!called) GivenTo(*function).by_others = true;
  }
}

void ModuleShapes::Impl::Join(const Function& function, const CallFacts& call) {
  Given& given = GivenTo(function);
  std::vector<PortFacts> notes(function.args.size());
  shared_->BelieveArgNotes(function, &notes);
  if (call.args.size() != function.args.size()) {
    given.by_others = true;
    return;
  }
  if (!given.called) given.contradicts_note.assign(notes.size(), false);
  for (size_t i = 0; i < notes.size(); ++i) {
    if (!MergeShapes(call.args[i].shape, notes[i].shape)) given.contradicts_note[i] = true;
    if (!given.called) {
      given.args.push_back(call.args[i].Copy());
    } else {
      given.args[i] = JoinFacts(given.args[i], call.args[i]);
    }
  }
  given.called = true;
}

ModuleShapes::ModuleShapes(const Module& module) : impl_(std::make_unique<Impl>(module)) {}
ModuleShapes::~ModuleShapes() = default;

const ShapeMap& ModuleShapes::Of(const Graph& body) const { return impl_->Of(body); }

}  // namespace grapnel
