#include "lib/job/fetch_resolver.h"

#include <set>

#include "lib/function/call.h"
#include "lib/io/layers/layer_names.h"
#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/signature_graph.h"
#include "lib/support/name_list.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// One call of a function on the way from the main graph.
struct CalledBody {
  const Function* function = nullptr;
  Node caller;
  CallKind kind = CallKind::kCall;
  int outer = -1;      // the place of the caller; -1: the main graph
  std::string prefix;  // "call/inner/": what the names of nodes have in front after inlining
};

// A tensor at a place.
struct Candidate {
  size_t place;
  Port port;
  bool operator==(const Candidate& other) const {
    return place == other.place && port == other.port;
  }
};

// The functions that a node calls; none for ops that call a function any number of times, such as
// those of datasets.
std::vector<std::pair<const Function*, CallKind>> CalleesOf(const Node& node) {
  if (const Function* function = CallOf(node).function) return {{function, CallKind::kCall}};
  using Attrs = std::vector<std::pair<const char*, CallKind>>;
  Attrs attrs =
      llvm::StringSwitch<Attrs>(node.op())
          .Cases("If", "StatelessIf",
                 {{"then_branch", CallKind::kBranch}, {"else_branch", CallKind::kBranch}})
          .Cases("Case", "StatelessCase", {{"branches", CallKind::kBranch}})
          .Cases("While", "StatelessWhile", {{"body", CallKind::kBody}, {"cond", CallKind::kCond}})
          .Default({});
  std::vector<std::pair<const Function*, CallKind>> callees;
  for (const auto& [key, kind] : attrs) {
    auto attr = node.FindAttr(key);
    if (!attr) continue;
    for (llvm::StringRef name : attr->FuncNames())
      if (const Function* function = node.graph().module().FindFunction(name))
        callees.emplace_back(function, kind);
  }
  return callees;
}

// Splits "x:1@3@-1" into "x:1" and the iterations.
struct TypedName {
  llvm::StringRef tensor;
  std::vector<int64_t> iterations;

  explicit TypedName(llvm::StringRef text) : tensor(text) {
    for (;;) {
      auto [before, number] = tensor.rsplit('@');
      int64_t iteration;
      if (before == tensor || number.getAsInteger(10, iteration)) break;
      iterations.insert(iterations.begin(), iteration);
      tensor = before;
    }
  }
};

// Returns the output of `node` that `text` states, which names the node: "x", "x:1", "x:out:0".
std::optional<Port> OutputOf(const Node& node, llvm::StringRef text) {
  if (auto port = FindTensorIfThere(node.graph(), text); port && port->node == node.id())
    return port;
  TensorName name = ReadFunctionTensorName(text);
  const OpInfo* info = DefinitionOf(node);
  if (name.node != node.name() || name.output.empty() || !info) return std::nullopt;
  int index = PortOfOutput(node, *info, name.output, name.index);
  return index < 0 ? std::nullopt : std::optional<Port>({node.id(), index});
}

}  // namespace

class FetchResolver::Search {
 public:
  Search(const OpenedGraph& opened, const std::string& signature)
      : opened_(opened), signature_(signature) {
    const GraphInFile& file = opened.file();
    const Module& module = opened.module();
    auto chosen = ChooseSignature(opened.model(), file, signature);
    if (!chosen) llvm::consumeError(chosen.takeError());  // reported before
    std::vector<NodeId> needed;
    if (chosen && *chosen) {
      needed = NeededNodes(module.main, **chosen);
      if (const Function* network = BodyOf(file, **chosen).function)
        network_ = module.FindFunction(network->name());
    } else {
      for (Node node : module.main.nodes()) needed.push_back(node.id());
    }
    for (Node node : module.main.nodes(needed)) AddPlacesOf(node, -1);
    for (size_t i = 0; i < places_.size(); ++i) {
      for (Node node : places_[i].function->body.nodes()) AddPlacesOf(node, static_cast<int>(i));
    }
  }

  // Returns nullopt if no tensor in a function fits.
  Expected<std::optional<ResolvedFetch>> Find(llvm::StringRef text) {
    TypedName typed(text);
    why_no_output_.clear();
    for (auto kind : {&Search::ByPath, &Search::ByFunction, &Search::ByNode, &Search::ByLayer,
                      &Search::ByEnd}) {
      std::vector<Candidate> found;
      (this->*kind)(typed.tensor, &found);
      if (found.empty()) continue;
      if (found.size() > 1) return Ambiguous(text, found);
      return Result(found.front(), typed.iterations);
    }
    if (!why_no_output_.empty()) return MakeError("{0}: {1}", opened_.model().path, why_no_output_);
    return std::nullopt;
  }

 private:
  void AddPlacesOf(const Node& node, int outer) {
    // A model with many nested calls has more paths than anyone looks for; so has a recursion.
    constexpr size_t kMost = 20000;
    if (!MayCallFunctions(node)) return;
    for (const auto& [function, kind] : CalleesOf(node)) {
      if (places_.size() == kMost) return;
      std::string prefix = outer < 0 ? "" : places_[outer].prefix;
      places_.push_back({function, node, kind, outer, prefix + node.name().str() + "/"});
    }
  }

  void Add(size_t place, llvm::StringRef text, std::vector<Candidate>* found) const {
    const Graph& body = places_[place].function->body;
    for (llvm::StringRef name : {ReadTensorName(text).node, ReadFunctionTensorName(text).node}) {
      Node node = body.Find(name);
      auto port = node ? OutputOf(node, text) : std::nullopt;
      if (node && !port && why_no_output_.empty())
        why_no_output_ = TextOf(FindTensor(body, text).takeError());
      if (!port) continue;
      Candidate one{place, *port};
      if (!llvm::is_contained(*found, one)) found->push_back(one);
      return;
    }
  }

  void ByPath(llvm::StringRef text, std::vector<Candidate>* found) const {
    for (size_t i = 0; i < places_.size(); ++i) {
      llvm::StringRef rest = text;
      if (rest.consume_front(places_[i].prefix)) Add(i, rest, found);
    }
  }

  void ByFunction(llvm::StringRef text, std::vector<Candidate>* found) const {
    for (size_t i = 0; i < places_.size(); ++i) {
      llvm::StringRef rest = text;
      if (rest.consume_front(places_[i].function->name()) && rest.consume_front("/"))
        Add(i, rest, found);
    }
  }

  void ByNode(llvm::StringRef text, std::vector<Candidate>* found) const {
    for (size_t i = 0; i < places_.size(); ++i) Add(i, text, found);
    KeepOfNetwork(found);
  }

  // Finds the tensors that leave a layer: outputs of its nodes that other nodes read, or that the
  // function returns. A layer that is called several times has several.
  void ByLayer(llvm::StringRef text, std::vector<Candidate>* found) const {
    std::set<int> meant = LayersNamed(text);
    if (meant.empty() && !layers_->empty()) return;
    for (size_t i = 0; i < places_.size(); ++i) {
      const Graph& body = places_[i].function->body;
      std::vector<bool> is_in(body.end_id(), false);
      for (Node node : body.nodes()) is_in[node.id()] = IsInLayer(i, node, text, meant);
      for (Node node : body.nodes()) {
        if (!is_in[node.id()]) continue;
        for (const Use& use : node.uses()) {
          Port port = body.node(use.node).input(static_cast<int>(use.slot));
          Candidate one{i, port};
          if (!is_in[use.node] && !port.IsControl() &&
              TypeOfPort(body, port) != proto::DT_RESOURCE && !llvm::is_contained(*found, one))
            found->push_back(one);
        }
      }
    }
    KeepOfNetwork(found);
  }

  // Returns the layer with this path or, if there is none, those whose path ends with it.
  std::set<int> LayersNamed(llvm::StringRef text) const {
    if (!layers_) FindLayers();
    if (int layer = layers_->table().Find(text); layer >= 0) return {layer};
    std::string end = "/" + text.str();
    std::set<int> layers;
    for (size_t i = 0; i < layers_->table().layers().size(); ++i) {
      int layer = static_cast<int>(i);
      if (HasSuffix(layers_->PathOf(layer), end)) layers.insert(layer);
    }
    return layers;
  }

  // Finds the layers of the network or, without signatures, of the graph.
  void FindLayers() const {
    OpenedGraph network = opened_.Copy();
    bool is_taken = false;
    if (network_) {
      auto taken = TakeSignature(signature_, {}, &network);
      is_taken = static_cast<bool>(taken);
      if (!taken) llvm::consumeError(taken.takeError());
    }
    layers_.emplace(is_taken ? network.file() : opened_.file());
    taken_ = is_taken ? network_ : nullptr;
  }

  bool IsInLayer(size_t place, const Node& node, llvm::StringRef text,
                 const std::set<int>& meant) const {
    if (layers_->empty())
      return ("/" + ScopeAsLayer(node.name()) + "/").str().find(("/" + text + "/").str()) !=
             std::string::npos;
    const Function* function = places_[place].function;
    llvm::StringRef name = function == taken_ ? llvm::StringRef() : function->name();
    int layer = layers_->table().LayerOf(name, node.name());
    return llvm::any_of(meant, [&](int one) { return layers_->table().IsIn(layer, one); });
  }

  void ByEnd(llvm::StringRef text, std::vector<Candidate>* found) const {
    for (llvm::StringRef end : {ReadTensorName(text).node, ReadFunctionTensorName(text).node}) {
      std::string after_slash = "/" + end.str();
      for (size_t i = 0; i < places_.size() && !end.empty(); ++i) {
        for (Node node : places_[i].function->body.nodes()) {
          std::string path = places_[i].prefix + node.name().str();
          if (HasSuffix(path, after_slash))
            Add(i, node.name().str() + text.drop_front(end.size()).str(), found);
        }
      }
      if (!found->empty()) return;
    }
  }

  // If some of the tensors are in the network that the signature runs, keeps only these.
  void KeepOfNetwork(std::vector<Candidate>* found) const {
    auto is_other = [&](const Candidate& one) { return places_[one.place].function != network_; };
    if (!llvm::all_of(*found, is_other)) llvm::erase_if(*found, is_other);
  }

  // Follows a function's argument to what the call passes, and a result to what it returns. The
  // arguments of a loop's functions change in each iteration, so they stay.
  void Trace(int* place, Port* port) const {
    while (*place >= 0) {
      const CalledBody& at = places_[*place];
      Node node = at.function->body.node(port->node);
      if (node.op() == "_Retval" && node.num_inputs() > 0) {
        *port = node.input(0);
        continue;
      }
      bool is_loop = at.kind == CallKind::kBody || at.kind == CallKind::kCond;
      if (node.op() != "_Arg" || is_loop) return;
      int slot = at.kind == CallKind::kBranch ? 1 : 0;  // the first input of a branch chooses
      for (NodeId id : at.function->args) {
        if (id == node.id()) break;
        slot += std::max(1, NumOutputs(at.function->body.node(id)));
      }
      slot += port->index;
      if (slot >= at.caller.num_inputs()) return;
      *port = at.caller.input(slot);
      *place = at.outer;
    }
  }

  const Graph& BodyAt(int place) const {
    return place < 0 ? opened_.module().main : places_[place].function->body;
  }

  InnerFetch FetchOf(size_t place, Port port) const {
    InnerFetch fetch;
    for (int at = static_cast<int>(place); at >= 0; at = places_[at].outer) {
      fetch.calls.push_back(
          {places_[at].caller.name().str(), places_[at].function->name().str(), places_[at].kind});
    }
    std::reverse(fetch.calls.begin(), fetch.calls.end());
    fetch.node = places_[place].function->body.node(port.node).name().str();
    fetch.output = port.index;
    fetch.name = fetch.Path();
    std::vector<Candidate> same;
    ByPath(fetch.name, &same);
    if (same.size() > 1) fetch.name = fetch.calls.back().function + "/" + fetch.node;
    return fetch;
  }

  Expected<std::optional<ResolvedFetch>> Result(const Candidate& found,
                                                const std::vector<int64_t>& iterations) const {
    int place = static_cast<int>(found.place);
    Port port = found.port;
    Trace(&place, &port);
    Node node = BodyAt(place).node(port.node);
    ResolvedFetch result;
    if (place < 0) {
      result.tensor = NodeDefInput(node.name(), port.index);
      return result;
    }
    result.inner = FetchOf(place, port);
    result.inner->iterations = iterations;
    const std::string& path = opened_.model().path;
    if (node.op() == "_Arg")
      return MakeError(
          "{0}: fetch '{1}' is an argument of a loop's function '{2}', which no op "
          "computes: fetch a node that reads it",
          path, result.inner->name, result.inner->calls.back().function);
    if (NumOutputs(node) == 0)
      return MakeError("{0}: fetch '{1}' is a {2}, which has no outputs", path, result.inner->name,
                       node.op());
    bool is_from_end = llvm::any_of(iterations, [](int64_t one) { return one < 0; });
    if (is_from_end && iterations.size() > 1)
      return MakeError("{0}: fetch '{1}': in several loops, iterations count from 0", path,
                       result.inner->Name());
    return result;
  }

  Error Ambiguous(llvm::StringRef text, llvm::ArrayRef<Candidate> found) const {
    std::vector<std::string> names;
    for (const Candidate& one : found) {
      InnerFetch fetch = FetchOf(one.place, one.port);
      names.push_back(fetch.Name());
    }
    llvm::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    bool is_one_tensor = llvm::all_of(found, [&](const Candidate& one) {
      return places_[one.place].function == places_[found[0].place].function &&
             one.port == found[0].port;
    });
    std::string why = is_one_tensor && names.size() > 1
                          ? "is in function '" + places_[found[0].place].function->name().str() +
                                "', which is called " + std::to_string(names.size()) + " times"
                          : "fits " + Plural(found.size(), "tensor");
    return MakeError("{0}: fetch '{1}' {2}: name one of {3}", opened_.model().path, text, why,
                     NameList(names));
  }

  const OpenedGraph& opened_;
  const std::string& signature_;
  const Function* network_ = nullptr;
  std::vector<CalledBody> places_;
  mutable std::string why_no_output_;         // of a node that has the name, but not the output
  mutable std::optional<LayerNames> layers_;  // found when a name may be that of a layer
  mutable const Function* taken_ =
      nullptr;  // the network, if its nodes are the main graph of layers_
};

FetchResolver::FetchResolver(const OpenedGraph& opened, llvm::StringRef signature)
    : opened_(opened), signature_(signature.str()) {}
FetchResolver::~FetchResolver() = default;

Expected<ResolvedFetch> FetchResolver::Resolve(llvm::StringRef name) {
  RETURN_IF_ERROR(ChooseSignature(opened_.model(), opened_.file(), signature_).takeError());
  auto in_main = TensorOfKey(opened_.model(), opened_.file(), signature_, name);
  if (in_main) return ResolvedFetch{std::move(*in_main), std::nullopt};
  if (opened_.module().main.Find(ReadTensorName(name).node)) return in_main.takeError();
  if (!search_) search_ = std::make_unique<Search>(opened_, signature_);
  auto found = search_->Find(name);
  if (found && !*found) return in_main.takeError();
  llvm::consumeError(in_main.takeError());
  if (!found) return found.takeError();
  return std::move(**found);
}

}  // namespace grapnel
