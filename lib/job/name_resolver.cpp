// The kinds of names follow each other in one class, because each counts only if those before it
// find nothing, and an error is about all of them.
#include "lib/job/name_resolver.h"

#include <map>
#include <set>

#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "lib/ir/name_parts.h"
#include "lib/ir/node_types.h"
#include "lib/ir/shared_scope.h"
#include "lib/ir/short_names.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/call_places.h"
#include "lib/job/key_check.h"
#include "lib/job/layer_finder.h"
#include "lib/support/name_list.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostNamesInError = 8;  // candidates that an error lists

// A tensor or, where only nodes are searched for, the node port.node.
struct Candidate {
  const Graph* graph = nullptr;
  int place = -1;  // among the calls; kMain, or kNoCall for a function that is not called
  Port port;
  static constexpr int kMain = -1, kNoCall = -2;

  Node node() const { return graph->node(port.node); }
  bool operator==(const Candidate& other) const {
    return graph == other.graph && place == other.place && port == other.port;
  }
};

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

// The names of a node that a text may mean, with and without an output.
std::vector<llvm::StringRef> NodesIn(llvm::StringRef text) {
  std::vector<llvm::StringRef> names;
  for (llvm::StringRef name :
       {ReadTensorName(text).node, ReadFunctionTensorName(text).node, text}) {
    if (!name.empty() && !llvm::is_contained(names, name)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> SortedAlone(std::vector<std::string> names) {
  llvm::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

class NameResolver::Search {
 public:
  enum class Want { kTensor, kNode };
  using Found = std::vector<Candidate>;

  Search(const OpenedGraph& opened, const std::string& signature)
      : opened_(opened),
        chosen_(SignatureOf(opened, signature)),
        needed_(NeededOf(opened, chosen_)),
        calls_(opened.module(), needed_) {
    const GraphInFile& file = opened.file();
    if (chosen_) {
      body_ = BodyOf(file, *chosen_);
      if (body_->function) network_ = opened.module().FindFunction(body_->function->name());
    }
  }

  // Returns nullopt if no tensor fits, or only one in a function that is not called.
  Expected<std::optional<ResolvedFetch>> FindTensor(llvm::StringRef text) {
    TypedName typed(text);
    ASSIGN_OR_RETURN(Found found, Find(typed.tensor, Want::kTensor, nullptr));
    if (found.size() > 1) return Ambiguous(text, found);
    if (!found.empty()) return Result(found.front(), typed.iterations);
    if (!why_no_output_.empty()) return MakeError("{0}: {1}", opened_.model().path, why_no_output_);
    return std::nullopt;
  }

  // Adds the nodes to the selection. Adds none if nothing fits.
  Error Select(llvm::StringRef text, NodeSelection* selection) {
    ASSIGN_OR_RETURN(Found found, Find(text, Want::kNode, selection));
    Found by_path;
    ByPath(text, Want::kNode, &by_path);
    for (const Candidate& one : found) {
      bool is_one_call = llvm::is_contained(by_path, one);
      Add(one.node(), selection, is_one_call ? one.place : kAllCalls);
    }
    return Error::success();
  }

  std::vector<std::string> LayerPaths() {
    std::vector<std::string> paths;
    for (size_t i = 0; i < layers().table().layers().size(); ++i)
      paths.push_back(layers().table().PathOf(static_cast<int>(i)));
    return paths;
  }

  Expected<Node> OneNode(llvm::StringRef text) {
    ASSIGN_OR_RETURN(Found found, Find(text, Want::kNode, /*selection=*/nullptr));
    if (!layer_outputs_.empty()) found = layer_outputs_;
    std::vector<Node> nodes;
    for (const Candidate& one : found) nodes.push_back(one.node());
    if (nodes.empty()) return Node();
    if (llvm::all_of(nodes, [&](const Node& node) { return node == nodes.front(); }))
      return nodes.front();
    return SeveralNodes(text, nodes);
  }

 private:
  static const Signature* SignatureOf(const OpenedGraph& opened, const std::string& name) {
    auto chosen = ChooseSignature(opened.model(), opened.file(), name);
    if (chosen) return *chosen;
    llvm::consumeError(chosen.takeError());  // reported before
    return nullptr;
  }

  static std::vector<NodeId> NeededOf(const OpenedGraph& opened, const Signature* signature) {
    const Graph& main = opened.module().main;
    std::vector<NodeId> needed;
    if (signature) needed = NeededNodes(main, *signature);
    if (needed.empty())  // no signature, or a graph that is not that of the file any more
      for (Node node : main.nodes()) needed.push_back(node.id());
    return needed;
  }

  const LayerFinder& layers() {
    if (!layers_) layers_.emplace(opened_, body_ && body_->function ? NetworkName() : "");
    return *layers_;
  }
  std::string NetworkName() const { return body_->function->name().str(); }

  // --- Looking up one kind after the other.

  // Returns what the first kind that fits has: for a node, one candidate for each of its places.
  // Several nodes are an error, except those of a pattern, which are all meant; callers report
  // several tensors. `selection` receives the nodes of a layer or of a scope instead.
  Expected<Found> Find(llvm::StringRef text, Want want, NodeSelection* selection) {
    why_no_output_.clear();
    layer_outputs_.clear();
    Found found;
    for (auto kind :
         {&Search::ByMain, &Search::ByKey, &Search::ByPath, &Search::ByFunction, &Search::ByNode}) {
      (this->*kind)(text, want, &found);
      if (!found.empty()) return OneOf(text, want, std::move(found));
    }
    ASSIGN_OR_RETURN(bool is_layer, ByLayer(text, want, selection, &found));
    if (is_layer) return found;
    ASSIGN_OR_RETURN(Glob glob, Glob::Parse(text));
    ByShortName(text, want, &found);
    if (!found.empty()) return OneOf(text, want, std::move(found));
    for (bool rest : {false, true}) {
      if (!glob.IsName()) {
        ByPattern(glob, rest, want, &found);
        if (selection && !found.empty()) selection->glob_ = glob;
        if (!found.empty()) return found;
        continue;
      }
      ByEnd(text, rest, want, &found);
      if (!found.empty()) return OneOf(text, want, std::move(found));
      NodeSelection in_scope;
      RETURN_IF_ERROR(ByScope(text, rest, &in_scope));
      if (in_scope.nodes_.empty()) continue;
      if (selection)
        *selection = std::move(in_scope);
      else
        found = OutputsOf(in_scope.nodes_);
      return found;
    }
    ByNameInWhole(text, want, &found);
    return OneOf(text, want, std::move(found));
  }

  // Checks that a name means one node, wherever it is called.
  Expected<Found> OneOf(llvm::StringRef text, Want want, Found found) const {
    if (want == Want::kTensor || found.size() < 2) return found;
    std::vector<Node> nodes;
    for (const Candidate& one : found) nodes.push_back(one.node());
    bool is_one = llvm::all_of(nodes, [&](const Node& node) { return node == nodes.front(); });
    if (!is_one) return SeveralNodes(text, nodes);
    return found;
  }

  Error SeveralNodes(llvm::StringRef text, llvm::ArrayRef<Node> nodes) const {
    std::vector<std::string> names;
    for (const Node& node : nodes) names.push_back(NameWithFunction(node));
    names = SortedAlone(std::move(names));
    const ShortNames short_names = ShortNames::WithScopes(AllNodeNames(opened_.module()));
    for (std::string& name : llvm::MutableArrayRef(names).take_front(kMostNamesInError))
      name = short_names.Of(name);
    return MakeError("'{0}' fits {1}: name one of {2}", text, Plural(names.size(), "node"),
                     NameList(names, kMostNamesInError));
  }

  void Add(const Graph& graph, int place, llvm::StringRef text, Want want, Found* found) const {
    for (llvm::StringRef name : NodesIn(text)) {
      Node node = graph.Find(name);
      if (!node) continue;
      std::optional<Port> port = want == Want::kNode ? Port{node.id(), 0} : OutputOf(node, text);
      if (!port && why_no_output_.empty())
        why_no_output_ = TextOf(grapnel::FindTensor(graph, text).takeError());
      if (!port) continue;
      Candidate one{&graph, place, *port};
      if (!llvm::is_contained(*found, one)) found->push_back(one);
      return;
    }
  }

  void ByMain(llvm::StringRef text, Want want, Found* found) const {
    // A tensor of the main graph was found before.
    if (want == Want::kNode) Add(calls_.module().main, Candidate::kMain, text, want, found);
  }

  // A key of a tensor is found before; here it means the node of the network.
  void ByKey(llvm::StringRef text, Want want, Found* found) const {
    if (want != Want::kNode || !body_) return;
    for (const auto* ends : {&body_->inputs, &body_->outputs}) {
      for (const SignatureBody::End& end : *ends) {
        if (end.key != text || end.port.node == kNoNode) continue;
        std::string node = body_->graph->node(end.port.node).name().str();
        const Graph& graph = network_ ? network_->body : calls_.module().main;
        Add(graph, PlaceOf(graph), node, want, found);
        if (!found->empty()) return;
      }
    }
  }

  int PlaceOf(const Graph& graph) const {
    for (size_t i = 0; i < calls_.size(); ++i)
      if (&calls_.BodyAt(static_cast<int>(i)) == &graph) return static_cast<int>(i);
    return FunctionOf(graph) ? Candidate::kNoCall : Candidate::kMain;
  }

  void ByPath(llvm::StringRef text, Want want, Found* found) const {
    for (size_t i = 0; i < calls_.size(); ++i) {
      int place = static_cast<int>(i);
      llvm::StringRef rest = text;
      if (rest.consume_front(calls_[place].prefix))
        Add(calls_.BodyAt(place), place, rest, want, found);
    }
  }

  void ByFunction(llvm::StringRef text, Want want, Found* found) const {
    auto rest_of = [&](const Function& function) {
      llvm::StringRef rest = text;
      return rest.consume_front(function.name()) && rest.consume_front("/") ? rest : "";
    };
    for (size_t i = 0; i < calls_.size(); ++i) {
      int place = static_cast<int>(i);
      llvm::StringRef rest = rest_of(*calls_[place].function);
      if (!rest.empty()) Add(calls_.BodyAt(place), place, rest, want, found);
    }
    if (!found->empty() || want == Want::kTensor) return;
    for (const auto& function : calls_.module().functions) {
      llvm::StringRef rest = rest_of(*function);
      if (!rest.empty()) Add(function->body, Candidate::kNoCall, rest, want, found);
    }
  }

  void ByNode(llvm::StringRef text, Want want, Found* found) const {
    for (size_t i = 0; i < calls_.size(); ++i) {
      int place = static_cast<int>(i);
      Add(calls_.BodyAt(place), place, text, want, found);
    }
    KeepOfNetwork(found);
  }

  // If some of the tensors are in the network that the signature runs, keeps only these.
  void KeepOfNetwork(Found* found) const {
    auto is_other = [&](const Candidate& one) { return !network_ || one.graph != &network_->body; };
    if (!llvm::all_of(*found, is_other)) llvm::erase_if(*found, is_other);
  }

  // Returns true if a layer with such tensors or nodes has the name. Errors: several layers have
  // it.
  Expected<bool> ByLayer(llvm::StringRef text, Want want, NodeSelection* selection, Found* found) {
    std::vector<int> named = layers().Named(text);
    if (named.empty()) return false;
    if (named.size() > 1) {
      std::vector<std::string> paths;
      paths.reserve(named.size());
      for (int layer : named) paths.push_back(layers().table().PathOf(layer));
      return MakeError("{0}: '{1}' fits {2}: name one of {3}", opened_.model().path, text,
                       Plural(paths.size(), "layer"), NameList(paths, kMostNamesInError));
    }
    for (const auto& [graph, port] : layers().OutputsOf(named.front()))
      AddEverywhere(*graph, port, want == Want::kTensor ? found : &layer_outputs_);
    if (want == Want::kTensor) return !found->empty();
    if (!selection) return true;
    for (Node node : layers().NodesOf(named.front())) Add(node, selection);
    return !selection->nodes_.empty();
  }

  // Adds a tensor of a body at each of its places.
  void AddEverywhere(const Graph& graph, Port port, Found* found) const {
    size_t before = found->size();
    for (size_t i = 0; i < calls_.size(); ++i) {
      int place = static_cast<int>(i);
      if (&calls_.BodyAt(place) == &graph) found->push_back({&graph, place, port});
    }
    if (found->size() > before) return;
    found->push_back({&graph, FunctionOf(graph) ? Candidate::kNoCall : Candidate::kMain, port});
  }

  // Calls `visit` for each node of the main graph that the signature's outputs need and of the
  // functions that are called, with its place and what its name has in front after inlining; or, if
  // `rest`, for all other nodes, of which only those of the main graph have tensors to fetch.
  template <typename Visit>
  void ForEachNode(bool rest, Want want, Visit visit) const {
    const Graph& main = calls_.module().main;
    if (!rest) {
      for (Node node : main.nodes(needed_)) visit(node, Candidate::kMain, llvm::StringRef());
      for (size_t i = 0; i < calls_.size(); ++i) {
        int place = static_cast<int>(i);
        for (Node node : calls_.BodyAt(place).nodes()) visit(node, place, calls_[place].prefix);
      }
      return;
    }
    std::vector<bool> is_needed(main.end_id());
    for (NodeId id : needed_) is_needed[id] = true;
    for (Node node : main.nodes())
      if (!is_needed[node.id()]) visit(node, Candidate::kMain, llvm::StringRef());
    if (want == Want::kTensor) return;
    for (const auto& function : calls_.module().functions) {
      if (calls_.HasCallOf(*function)) continue;
      for (Node node : function->body.nodes()) visit(node, Candidate::kNoCall, llvm::StringRef());
    }
  }

  void ByPattern(const Glob& glob, bool rest, Want want, Found* found) const {
    ForEachNode(rest, want, [&](const Node& node, int place, llvm::StringRef) {
      std::string name = NameWithFunction(node);
      bool fits = AnyEnd(name, [&](llvm::StringRef end) { return glob.Fits(end); });
      if (fits && (want == Want::kNode || NumOutputs(node) != 0))
        found->push_back({&node.graph(), place, Port{node.id(), 0}});
    });
  }

  void ByShortName(llvm::StringRef text, Want want, Found* found) const {
    auto add = [&](const Graph& body, int place) {
      std::string scope = SharedScope(body);
      if (!scope.empty()) Add(body, place, scope + text.str(), want, found);
    };
    if (!network_) return add(calls_.module().main, Candidate::kMain);
    for (size_t i = 0; i < calls_.size(); ++i) {
      int place = static_cast<int>(i);
      if (calls_[place].function == network_) add(network_->body, place);
    }
  }

  void ByEnd(llvm::StringRef text, bool rest, Want want, Found* found) const {
    for (llvm::StringRef end : NodesIn(text)) {
      ForEachNode(rest, want, [&](const Node& node, int place, llvm::StringRef prefix) {
        llvm::StringRef name = node.name();
        bool fits = EndsWithParts(name, end) ||
                    (EndsWithParts(end, name) && EndsWithParts((prefix + name).str(), end));
        if (fits)
          Add(node.graph(), place, name.str() + text.drop_front(end.size()).str(), want, found);
      });
      if (!found->empty()) return;
    }
  }

  // Adds the nodes of a scope. Errors: several scopes end with the name.
  Error ByScope(llvm::StringRef text, bool rest, NodeSelection* selection) const {
    using Scopes = std::map<std::string, std::set<std::pair<const Graph*, NodeId>>>;
    Scopes whole, ends;  // by name with function
    llvm::StringRef end = text.rtrim('/');
    if (end.empty()) return Error::success();
    ForEachNode(rest, Want::kNode, [&](const Node& node, int, llvm::StringRef) {
      const Function* function = FunctionOf(node.graph());
      std::string before = function ? function->name().str() + "/" : "";
      llvm::StringRef scope = node.name();
      while (scope.contains('/')) {
        scope = scope.rsplit('/').first;
        if (!scope.ends_with(end.rsplit('/').second.empty() ? end : end.rsplit('/').second))
          continue;
        std::string name = before + scope.str();
        if (scope == end || name == end)
          whole[name].insert({&node.graph(), node.id()});
        else if (EndsWithParts(scope, end))
          ends[name].insert({&node.graph(), node.id()});
      }
    });
    const Scopes& scopes = whole.empty() ? ends : whole;
    if (scopes.size() > 1) {
      std::vector<std::string> names;
      for (const auto& [scope, nodes] : scopes) names.push_back(scope + "/");
      return MakeError("'{0}' fits {1}: name one of {2}", text, Plural(names.size(), "scope"),
                       NameList(names, kMostNamesInError));
    }
    for (const auto& [scope, nodes] : scopes) {
      for (const auto& [graph, id] : nodes) Add(graph->node(id), selection);
      selection->scopes_.push_back(scope);
    }
    return Error::success();
  }

  // Returns the tensors that nodes of a scope compute for others.
  Found OutputsOf(llvm::ArrayRef<Node> nodes) const {
    auto is_in = [&](const Node& node) { return llvm::is_contained(nodes, node); };
    std::vector<std::pair<const Graph*, Port>> outputs;
    for (const Node& node : nodes) {
      for (const Use& use : node.uses()) {
        Node reader = node.graph().node(use.node);
        std::pair<const Graph*, Port> one(&node.graph(), reader.input(static_cast<int>(use.slot)));
        bool leaves = !one.second.IsControl() && !is_in(reader) &&
                      TypeOfPort(node.graph(), one.second) != proto::DT_RESOURCE;
        if (leaves && !llvm::is_contained(outputs, one)) outputs.push_back(one);
      }
    }
    Found found;
    for (const auto& [graph, port] : outputs) AddEverywhere(*graph, port, &found);
    return found;
  }

  // In a part of a model, such as the network of a signature: the path or FUNCTION/NODE that a node
  // has in the whole model.
  void ByNameInWhole(llvm::StringRef text, Want want, Found* found) {
    const Module& whole = *opened_.whole().file().module;
    if (&whole == &opened_.module()) return;
    std::vector<llvm::StringRef> rests;
    auto add = [&](llvm::StringRef prefix) {
      llvm::StringRef rest = text;
      if (rest.consume_front(prefix) && !rest.empty()) rests.push_back(rest);
    };
    std::vector<NodeId> all;
    for (Node node : whole.main.nodes()) all.push_back(node.id());
    const CallPlaces places(whole, all);
    for (size_t i = 0; i < places.size(); ++i) add(places[static_cast<int>(i)].prefix);
    for (const auto& function : whole.functions) add((function->name() + "/").str());
    for (llvm::StringRef rest : rests)
      Add(calls_.module().main, Candidate::kMain, rest, want, found);
    for (size_t i = 0; found->empty() && i < rests.size(); ++i)
      ByEnd(rests[i], /*rest=*/false, want, found);
  }

  // --- Results.

  static constexpr int kAllCalls = -3;

  // Adds a node, in all calls of its function or in one.
  void Add(const Node& node, NodeSelection* selection, int place = kAllCalls) const {
    std::string name = NameWithFunction(node);
    bool is_new = selection->function_names_.insert(name).second;
    if (is_new) selection->nodes_.push_back(node);
    if (place == kAllCalls) selection->names_.insert(std::move(name));
    // After inlining, the node has the name of its path, and a call's nodes are in a scope.
    const Function* function = FunctionOf(node.graph());
    for (size_t i = 0; i < calls_.size(); ++i) {
      const CallPlace& at = calls_[static_cast<int>(i)];
      bool is_here = place == kAllCalls ? at.function == function : static_cast<int>(i) == place;
      if (is_here) selection->names_.insert(at.prefix + node.name().str());
      bool is_call = at.caller == node && (place == kAllCalls || at.outer == place);
      if (is_call) selection->scopes_.push_back(at.prefix.substr(0, at.prefix.size() - 1));
    }
  }

  InnerFetch FetchOf(int place, Port port) const {
    InnerFetch fetch = calls_.FetchOf(place, port);
    Found same;
    ByPath(fetch.name, Want::kTensor, &same);
    if (same.size() > 1) fetch.name = fetch.calls.back().function + "/" + fetch.node;
    return fetch;
  }

  Expected<std::optional<ResolvedFetch>> Result(const Candidate& found,
                                                const std::vector<int64_t>& iterations) const {
    int place = found.place;
    Port port = found.port;
    if (place == Candidate::kNoCall) return std::nullopt;
    calls_.Trace(&place, &port);
    Node node = calls_.BodyAt(place).node(port.node);
    ResolvedFetch result;
    if (place == Candidate::kMain) {
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
      names.push_back(one.place < 0 ? NodeDefInput(NameWithFunction(one.node()), one.port.index)
                                    : FetchOf(one.place, one.port).Name());
    }
    names = SortedAlone(std::move(names));
    bool is_one_tensor = llvm::all_of(found, [&](const Candidate& one) {
      return one.graph == found[0].graph && one.port == found[0].port;
    });
    const Function* function = FunctionOf(*found[0].graph);
    std::string why = is_one_tensor && function && names.size() > 1
                          ? "is in function '" + function->name().str() + "', which is called " +
                                std::to_string(names.size()) + " times"
                          : "fits " + Plural(found.size(), "tensor");
    return MakeError("{0}: fetch '{1}' {2}: name one of {3}", opened_.model().path, text, why,
                     NameList(names, kMostNamesInError));
  }

  const OpenedGraph& opened_;
  const Signature* const chosen_;     // null: there is none
  const std::vector<NodeId> needed_;  // of the main graph
  const CallPlaces calls_;
  std::optional<SignatureBody> body_;  // of the file
  const Function* network_ = nullptr;  // of the module; null: the main graph, or there is none
  std::optional<LayerFinder> layers_;
  Found layer_outputs_;                // of the layer that was found last
  mutable std::string why_no_output_;  // of a node that has the name, but not the output
};

NameResolver::NameResolver(const OpenedGraph& opened, llvm::StringRef signature)
    : opened_(opened), signature_(signature.str()) {}
NameResolver::~NameResolver() = default;

NameResolver::Search& NameResolver::search() {
  if (!search_) search_ = std::make_unique<Search>(opened_, signature_);
  return *search_;
}

Expected<ResolvedFetch> NameResolver::Fetch(llvm::StringRef name) {
  RETURN_IF_ERROR(CheckMeansOne(opened_, signature_, name, /*wants_node=*/false));
  auto in_main = TensorOfKey(opened_.model(), opened_.file(), signature_, name);
  if (in_main) return ResolvedFetch{std::move(*in_main), std::nullopt};
  if (opened_.module().main.Find(ReadTensorName(name).node)) return in_main.takeError();
  auto found = search().FindTensor(name);
  if (found && !*found) return in_main.takeError();
  llvm::consumeError(in_main.takeError());
  if (!found) return found.takeError();
  return std::move(**found);
}

Expected<std::optional<std::string>> NameResolver::MainTensorIfThere(llvm::StringRef name) {
  RETURN_IF_ERROR(CheckMeansOne(opened_, signature_, name, /*wants_node=*/false));
  auto in_main = TensorOfKey(opened_.model(), opened_.file(), signature_, name);
  if (in_main) return std::move(*in_main);
  llvm::consumeError(in_main.takeError());
  if (opened_.module().main.Find(ReadTensorName(name).node)) return std::nullopt;
  ASSIGN_OR_RETURN(std::optional<ResolvedFetch> found, search().FindTensor(name));
  if (!found || found->inner) return std::nullopt;
  return std::move(found->tensor);
}

Expected<std::string> NameResolver::MainTensor(llvm::StringRef name) {
  ASSIGN_OR_RETURN(std::optional<std::string> found, MainTensorIfThere(name));
  if (found) return std::move(*found);
  return TensorOfKey(opened_.model(), opened_.file(), signature_, name);
}

Error NameResolver::NoSuchNode(llvm::StringRef name) {
  const Module& module = opened_.module();
  Error error = FindNode(module, name).takeError();
  assert(error);
  if (module.FindFunction(name.split('/').first)) return error;  // it names the function
  llvm::consumeError(std::move(error));
  Error not_found = NotFound("node", ReadTensorName(name).node, [&](NameSink take) {
    VisitNodeNames(module, take);
    for (const std::string& path : search().LayerPaths()) take(path);
  });
  const ShortNames names = ShortNames::WithScopes(AllNodeNames(module));
  return MakeError("{0}", names.InText(TextOf(std::move(not_found))));
}

Expected<NodeSelection> NameResolver::Nodes(llvm::StringRef name, bool may_come) {
  RETURN_IF_ERROR(CheckMeansOne(opened_, signature_, name, /*wants_node=*/true));
  NodeSelection selection;
  RETURN_IF_ERROR(search().Select(name, &selection));
  selection.text_ = name.str();
  if (!selection.nodes_.empty()) return selection;
  if (!may_come) return NoSuchNode(name);
  ASSIGN_OR_RETURN(Glob glob, Glob::Parse(name));
  if (glob.IsName())
    selection.end_ = ReadTensorName(name).node.str();
  else
    selection.glob_ = std::move(glob);
  return selection;
}

Expected<Node> NameResolver::OneNode(llvm::StringRef name) {
  RETURN_IF_ERROR(CheckMeansOne(opened_, signature_, name, /*wants_node=*/true));
  ASSIGN_OR_RETURN(Node node, search().OneNode(name));
  if (!node) return NoSuchNode(name);
  return node;
}

}  // namespace grapnel
