// GraphPage's filter: the nodes that the page leaves out of a body, and the values that the user
// can filter by.
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/device_name.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/render/graph_page.h"
#include "lib/render/labels.h"
#include "lib/render/selection.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {
namespace {

enum State : char { kShown, kHidden, kCut };  // as in lib/serve/web/filter.js

struct Place {
  std::string job, task;
};

Place PlaceOf(llvm::StringRef device) {
  auto spec = DeviceSpec::Parse(device);
  if (!spec) {
    llvm::consumeError(spec.takeError());
    return {};
  }
  return {Printable(spec->job.text()),
          spec->task == DeviceSpec::kOpen ? "" : std::to_string(spec->task)};
}

// The name of a body's function; "" for the main graph.
std::string NameOf(const Module& module, size_t body) {
  return body == 0 ? "" : Printable(module.functions[body - 1]->name());
}

using Counts = std::map<std::string, size_t>;  // as GraphPage::Counts

// Writes [[text, count], ...], most frequent first.
void WriteSortedCounts(llvm::StringRef key, const Counts& counts, llvm::json::OStream& json) {
  std::vector<std::pair<std::string, size_t>> order(counts.begin(), counts.end());
  llvm::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  json.attributeArray(key, [&] {
    for (const auto& [text, count] : order) {
      json.array([&, &text = text, count = count] {
        json.value(text);
        json.value(count);
      });
    }
  });
}

// Returns, by node id, whether a node is in the part that the filter selects: in the neighborhood
// of filter.around and on a path from filter.from to filter.to. Empty if the filter names no node
// of this graph.
Expected<std::vector<bool>> PartOf(const Module& module, const Graph& graph,
                                   const NodeFilter& filter) {
  std::vector<bool> part;
  if (!filter.around.empty()) {
    ASSIGN_OR_RETURN(Node center, FindNode(module, filter.around));
    if (&center.graph() == &graph) part = NodesAround(center, filter.hops);
  }
  if (filter.from.empty()) return part;
  ASSIGN_OR_RETURN(Node from, FindNode(module, filter.from));
  ASSIGN_OR_RETURN(Node to, FindNode(module, filter.to));
  ASSIGN_OR_RETURN(std::vector<bool> between, NodesBetween(from, to));
  if (&from.graph() != &graph) return part;
  for (size_t i = 0; i < part.size(); ++i) between[i] = between[i] && part[i];
  return between;
}

// By scope: how many shown nodes it has (NodeUse), how many of them the filter's words hide
// (kHidden), and how many are outside of the filter's part of the graph (kCut).
using FilteredCounts = std::vector<std::array<size_t, 3>>;

FilteredCounts CountsOfScopes(const BodyScopes& scopes, llvm::StringRef states) {
  const ScopeTree& tree = scopes.tree();
  FilteredCounts counts(tree.size(), {0, 0, 0});
  for (Node node : scopes.graph().nodes()) {
    if (scopes.folding().uses[node.id()] != NodeUse::kShown) continue;
    std::array<size_t, 3>& here = counts[tree.ScopeOf(node.id())];
    auto state = static_cast<unsigned char>(states[node.id()]);
    ++here[0];
    if (state != kShown) ++here[state];
  }
  for (ScopeId id = static_cast<ScopeId>(tree.size()); id-- > 1;)
    for (size_t i = 0; i < 3; ++i) counts[tree.scope(id).parent][i] += counts[id][i];
  return counts;
}

// Describes the scopes that can be drawn as a box and that lack nodes because of the filter. Writes
// two ULEB128 numbers for each: the difference from the id of the previous such scope; and 4 *
// missing nodes + State, where State is kShown if some nodes are left, else kCut if any node is
// cut, else kHidden.
std::string LackingScopes(const ScopeTree& tree, const FilteredCounts& counts) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  ScopeId before = 0;
  for (ScopeId id = 0; id < counts.size(); ++id) {
    auto [all, hidden, cut] = counts[id];
    if (hidden + cut == 0 || tree.scope(id).core != id || tree.scope(id).num_shown < 2) continue;
    State state = hidden + cut < all ? kShown : cut > 0 ? kCut : kHidden;
    llvm::encodeULEB128(id - before, os);
    llvm::encodeULEB128((hidden + cut) * 4 + static_cast<size_t>(state), os);
    before = id;
  }
  return os.str();
}

// Packs four states into each byte, the first in the lowest bits.
std::string Packed(llvm::StringRef states) {
  std::string bytes((states.size() + 3) / 4, 0);
  for (size_t i = 0; i < states.size(); ++i)
    bytes[i / 4] = static_cast<char>(bytes[i / 4] | states[i] << (i % 4 * 2));
  return bytes;
}

}  // namespace

std::string GraphPage::FacetsJson() const {
  Counts ops, functions;
  for (size_t body = 0; body < num_bodies(); ++body) {
    const Graph& graph = this->graph(body);
    llvm::DenseMap<StringId, size_t> of_body;
    for (Node node : graph.nodes()) ++of_body[node.op_id()];
    for (const auto& [op, count] : of_body) ops[Printable(module_.strings.Get(op))] += count;
    if (graph.num_nodes() > 0) functions[NameOf(module_, body)] += graph.num_nodes();
  }
  Counts devices = CountDevices(), jobs, tasks;
  for (const auto& [device, count] : devices) {
    Place place = PlaceOf(device);
    jobs[place.job] += count;
    tasks[place.task] += count;
  }
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      WriteSortedCounts("op", ops, json);
      WriteSortedCounts("job", jobs, json);
      WriteSortedCounts("task", tasks, json);
      WriteSortedCounts("device", devices, json);
      WriteSortedCounts("cluster", CountClusters(), json);
      WriteSortedCounts("function", functions, json);
    });
  });
}

Expected<std::string> GraphPage::FindJson(llvm::StringRef text) const {
  ASSIGN_OR_RETURN(Node node, FindNode(module_, text));
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      for (size_t body = 0; body < num_bodies(); ++body)
        if (&graph(body) == &node.graph()) json.attribute("body", body);
      json.attribute("node", node.id());
    });
  });
}

// Returns the text of a node's field for filters. Caches the texts of each device, which are
// expensive to make: there are few devices.
struct GraphPage::Texts {
  const GraphPage& page;
  std::string function;
  llvm::StringMap<std::pair<std::string, Place>> known = {};

  std::string Of(const Node& node, llvm::StringRef field) {
    if (field == "function") return function;
    if (field == "cluster") return Printable(page.clusters_.Of(node));
    std::string device;
    bool placed = page.marks_ && page.marks_->device_of;
    llvm::StringRef key = node.device();
    if (placed) key = device = PageDevice(node, page.marks_);
    auto [at, fresh] = known.try_emplace(key);
    auto& [text, place] = at->second;
    if (fresh) {
      text = PageDevice(node, page.marks_);
      place = PlaceOf(text);
    }
    return field == "device" ? text : field == "job" ? place.job : place.task;
  }
};

Expected<std::string> GraphPage::HiddenJson(size_t body, const NodeFilter& filter) {
  RETURN_IF_ERROR(Check(body));
  const BodyScopes& scopes = Scopes(body);
  const Graph& graph = scopes.graph();
  ASSIGN_OR_RETURN(FilterWords hide, FilterWords::Parse(filter.hide));
  ASSIGN_OR_RETURN(FilterWords only, FilterWords::Parse(filter.only));
  ASSIGN_OR_RETURN(std::vector<bool> part, PartOf(module_, graph, filter));
  Texts texts{*this, NameOf(module_, body)};
  std::string states(graph.end_id(), kShown);
  llvm::DenseMap<StringId, size_t> hidden_ops;
  size_t cut = 0, folded = 0;
  for (Node node : graph.nodes()) {
    auto text_of = [&](llvm::StringRef field) { return texts.Of(node, field); };
    if (!part.empty() && !part[node.id()]) {
      states[node.id()] = kCut;
      ++cut;
      continue;
    }
    if (!hide.FitsAny(node, text_of) && only.FitsEachField(node, text_of)) continue;
    states[node.id()] = kHidden;
    ++hidden_ops[node.op_id()];
    folded += IsConstant(node) && scopes.folding().uses[node.id()] == NodeUse::kFolded;
  }
  Counts ops;
  for (const auto& [op, count] : hidden_ops) ops[Printable(module_.strings.Get(op))] = count;
  FilteredCounts of_scope = CountsOfScopes(scopes, states);
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("states", llvm::encodeBase64(Packed(states)));
      json.attribute("nodes", graph.num_nodes());
      json.attribute("cut", cut);
      json.attribute("folded_constants", folded);
      WriteSortedCounts("ops", ops, json);
      json.attribute("scopes", llvm::encodeBase64(LackingScopes(scopes.tree(), of_scope)));
    });
  });
}

}  // namespace grapnel
