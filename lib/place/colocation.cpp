#include "lib/place/colocation.h"

#include <deque>

#include "lib/place/failure_text.h"
#include "lib/place/op_facts.h"
#include "lib/place/placer.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The largest depth of nested calls whose function bodies are inspected; a deeper call counts as
// recursive, which is an error.
constexpr int kDeepestCall = 64;

bool IsDirectlyTied(DataType type) { return type == proto::DT_RESOURCE || IsRefType(type); }

}  // namespace

// How a function's body groups the function's arguments and results, for the nodes around a call.
struct CallGroups {
  struct Group {
    DeviceSpec requested, resource;
    KernelTypes types;
  };
  std::vector<Group> groups;
  std::vector<int> of_input, of_output;  // a group's index, by flat index of the tensor
};

class ColocationBuilder {
 public:
  ColocationBuilder(const ColocationInput& input, Colocation& out, int depth)
      : input_(input), graph_(input.graph), out_(out), facts_(graph_.module()), depth_(depth) {}

  // Returns false on failure.
  bool Build() {
    out_.groups_.resize(graph_.end_id());
    out_.own_.resize(graph_.end_id());
    out_.own_types_.resize(graph_.end_id());
    // Make a group for every node before anything can fail: explanations of a failure look up
    // groups.
    for (NodeId id : input_.order) StartAlone(graph_.node(id));
    for (NodeId id : input_.order) {
      if (!Start(graph_.node(id))) return false;
    }
    return TieEdges() && TieCalls() && TieClasses() && LimitToHost();
  }

 private:
  struct First {
    NodeId node = kNoNode;
  };

  ColocationGroup& GroupOf(NodeId id) { return out_.GroupOf(id); }

  bool Fail(PlacementFailure failure) {
    out_.failure_ = std::move(failure);
    return false;
  }

  // --- Makes a group of each node alone.
  void StartAlone(const Node& node) {
    ColocationGroup& group = out_.groups_[node.id()];
    group.parent = node.id();
    llvm::ArrayRef<DeviceWord> types = input_.devices.types();
    // A function call may be on any device, since the runtime can split its body over several.
    bool is_known = input_.kernels.Knows(node);
    for (size_t i = 0; i < types.size(); ++i) {
      std::optional<int> priority = is_known ? input_.kernels.Priority(node, types[i].text()) : 0;
      if (!priority) continue;
      group.types.bits |= uint32_t{1} << i;
      if (*priority == 0) continue;
      group.types.priorities.resize(types.size());
      group.types.priorities[i] = *priority;
    }
    out_.own_types_[node.id()] = group.types.bits;
  }

  bool Start(const Node& node) {
    ColocationGroup& group = out_.groups_[node.id()];
    if (Colocation::IsAssigned(node)) return StartAssigned(node, &group);
    if (group.types.bits == 0) return Fail(NoKernel(input_, node));
    if (node.device().empty()) return true;
    auto name = ParseOnce(node);
    if (!name) return Fail(MalformedDevice(node, TextOf(name.takeError())));
    out_.own_[node.id()] = group.requested = *name;
    if (MakesResourceOrReference(node, facts_.Of(node))) group.resource = *name;
    return true;
  }

  bool StartAssigned(const Node& node, ColocationGroup* group) {
    auto name = ParseOnce(node);
    if (!name) return Fail(MalformedDevice(node, TextOf(name.takeError())));
    std::optional<int> device = input_.devices.Find(*name);
    if (!device) return Fail(UnknownAssignedDevice(input_, node));
    if (!group->types.Has(input_.devices.TypeOf(*device))) return Fail(AssignedWithoutKernel(node));
    group->assigned = group->requested = input_.devices.device(*device).name;
    return true;
  }

  Expected<DeviceSpec> ParseOnce(const Node& node) {
    auto [entry, is_new] = parsed_.try_emplace(node.device_id());
    if (is_new) {
      auto name = DeviceSpec::Parse(node.device());
      if (!name) return name.takeError();
      entry->second = *name;
    }
    return entry->second;
  }

  // --- Handles, references and datasets.
  bool TieEdges() {
    for (NodeId id : input_.order) {
      Node dst = graph_.node(id);
      const OpFacts& facts = facts_.Of(dst);
      bool inspected = NeedsInspection(dst, facts);
      if (inspected) inspected_.push_back(id);
      if (!facts.may_tie || inspected) continue;
      auto types = TypesOf(dst, *facts.info);
      if (!types) {
        llvm::consumeError(types.takeError());
        continue;
      }
      int count = std::min<int>(dst.num_inputs(), types->inputs.size());
      for (int i = 0; i < count; ++i) {
        Node src = dst.input_node(i);
        if (!src || NeedsInspection(src, facts_.Of(src))) continue;
        if (!TieEdge(src, dst, types->inputs[i], facts)) return false;
      }
    }
    return true;
  }

  bool TieEdge(const Node& src, const Node& dst, DataType type, const OpFacts& facts) {
    if (type == proto::DT_VARIANT && facts.is_dataset && facts_.Of(src).is_dataset)
      return TieEnds(src, dst, ColocationEdge::kDataset);
    if (!IsDirectlyTied(type) || facts.is_exempt) return true;
    return TieEnds(src, dst,
                   IsRefType(type) ? ColocationEdge::kReference : ColocationEdge::kResource);
  }

  bool TieEnds(const Node& src, const Node& dst, ColocationEdge::Kind kind) {
    ColocationGroup &from = GroupOf(src.id()), &to = GroupOf(dst.id());
    if (&from == &to) return true;
    if (!from.assigned.IsCompatibleWith(to.assigned))
      return Fail(EdgeConflict(out_, input_, src, dst, kind, from.assigned, to.assigned, true));
    if (!from.resource.IsCompatibleWith(to.resource))
      return Fail(EdgeConflict(out_, input_, src, dst, kind, from.resource, to.resource, false));
    if (!from.requested.IsCompatibleWith(to.requested)) {
      // The reader's request is dropped.
      DeviceSpec was = to.requested;
      to.requested = from.requested;
      to.requested.Override(to.assigned);
      to.requested.Override(to.resource);
      out_.dropped_.push_back({dst.id(), src.id(), was, to.requested, kind});
    }
    ColocationEdge edge{kind, src.id(), dst.id(), 0};
    if (Error error = Join(edge)) {
      return Fail(
          ColocationConflict(out_, input_, edge,
                             "Nodes were connected by a reference or resource connection "
                             "(requiring them to be on the same device), but the two nodes were "
                             "assigned two different devices: " +
                                 TextOf(std::move(error)),
                             dst.name()));
    }
    return true;
  }

  // --- Calls of functions that return handles: the bodies are inspected.
  bool NeedsInspection(const Node& node, const OpFacts& facts) {
    if (!facts.is_call) return false;
    const Function* callee = CalleeOf(node);
    return callee && llvm::any_of(callee->info.outputs, [](const OpArg& output) {
             return output.type == proto::DT_RESOURCE;
           });
  }

  bool TieCalls() {
    for (NodeId id : inspected_) {
      Node call = graph_.node(id);
      std::optional<CallGroups> groups = GroupsOfCall(call);
      if (!groups) return false;
      if (!ApplyCall(call, *groups)) return false;
    }
    return true;
  }

  std::optional<CallGroups> GroupsOfCall(const Node& call) {
    const Function* callee = CalleeOf(call);
    if (depth_ >= kDeepestCall) {
      Fail(RecursiveCall(call, callee->name()));
      return std::nullopt;
    }
    std::vector<NodeId> order = PlacementOrder(callee->body);
    ColocationInput input{callee->body, input_.devices, input_.kernels,
                          input_.soft,  order,          input_.words};
    Colocation body(input, depth_ + 1);
    if (body.failure()) {
      Fail(InFunction(call, callee->name(), *body.failure()));
      return std::nullopt;
    }
    CallGroups groups;
    llvm::DenseMap<NodeId, int> index;  // by root
    auto group_of = [&](NodeId node) {
      auto [entry, is_new] = index.try_emplace(body.RootOf(node), groups.groups.size());
      if (is_new) {
        const ColocationGroup& group = body.GroupOf(node);
        groups.groups.push_back({group.requested, group.resource, group.types});
      }
      return entry->second;
    };
    for (NodeId arg : callee->args) {
      int tensors = std::max(1, NumOutputs(callee->body.node(arg)));
      groups.of_input.insert(groups.of_input.end(), tensors, group_of(arg));
    }
    for (const Function::Result& result : callee->results) {
      int tensors = std::max(1, callee->body.node(result.node).num_inputs());
      groups.of_output.insert(groups.of_output.end(), tensors, group_of(result.node));
    }
    return groups;
  }

  bool ApplyCall(const Node& call, const CallGroups& groups) {
    std::vector<std::vector<NodeId>> nodes(groups.groups.size());
    for (int i = 0; i < call.num_inputs() && i < static_cast<int>(groups.of_input.size()); ++i) {
      if (Node src = call.input_node(i)) nodes[groups.of_input[i]].push_back(src.id());
    }
    for (int port = 0; port < static_cast<int>(groups.of_output.size()); ++port) {
      for (const Use& use : call.UsesOf(port)) nodes[groups.of_output[port]].push_back(use.node);
    }
    for (size_t g = 0; g < nodes.size(); ++g) {
      for (size_t i = 1; i < nodes[g].size(); ++i) {
        ColocationEdge edge{ColocationEdge::kFunction, nodes[g][0], nodes[g][i], call.id()};
        if (Error error = Join(edge)) {
          return Fail(
              ColocationConflict(out_, input_, edge, TextOf(std::move(error)), call.name()));
        }
      }
      if (!nodes[g].empty() && !Limit(nodes[g][0], groups.groups[g], call)) return false;
    }
    return true;
  }

  // Restricts the group of `node`, a neighbor of the call, to what a group of the called body
  // allows: its request and its device types.
  bool Limit(NodeId node, const CallGroups::Group& body, const Node& call) {
    ColocationGroup& group = GroupOf(node);
    DeviceSpec was = group.requested;
    Error error = group.requested.Merge(body.requested, input_.soft);
    if (!error) error = group.resource.Merge(body.resource, /*soft=*/false);
    if (error) return Fail(CallConflict(out_, input_, node, call, TextOf(std::move(error))));
    if (!was.IsCompatibleWith(body.requested)) {
      out_.dropped_.push_back({node, call.id(), was, group.requested, ColocationEdge::kFunction});
    }
    group.types.MeetWith(body.types);
    if (group.types.bits == 0)
      return Fail(CallConflict(out_, input_, node, call, "no device type supports both"));
    return true;
  }

  // --- _class.
  bool TieClasses() {
    first_of_name_.reserve(input_.order.size());
    for (NodeId id : input_.order) {
      Node node = graph_.node(id);
      if (auto attr = node.FindAttr("_class")) {
        auto specs = attr->AsStrings();
        for (llvm::StringRef spec : specs ? *specs : std::vector<llvm::StringRef>()) {
          if (spec.consume_front("loc:@") && !TieToName(id, spec)) return false;
        }
      }
      if (!TieTo(id, node.name_id(), first_of_name_[node.name_id()])) return false;
    }
    return true;
  }

  bool TieToName(NodeId id, llvm::StringRef name) {
    StringId label = graph_.module().strings.Find(name);
    if (label != kNoString) return TieTo(id, label, first_of_name_[label]);
    return TieTo(id, kEmptyString, first_of_other_name_[name]);
  }

  // Joins `id` with `first`, the first node with the name. If `first` is still kNoNode, sets it to
  // `id`.
  bool TieTo(NodeId id, StringId label, First& first) {
    if (first.node == kNoNode) first.node = id;
    if (first.node == id) return true;
    ColocationEdge edge{ColocationEdge::kClass, id, first.node, label};
    DeviceSpec mine = GroupOf(id).requested, theirs = GroupOf(edge.b).requested;
    Error error = Join(edge);
    if (!error) {
      if (!mine.IsCompatibleWith(theirs))
        out_.dropped_.push_back({id, edge.b, mine, GroupOf(id).requested, ColocationEdge::kClass});
      return true;
    }
    if (input_.soft) {
      llvm::consumeError(std::move(error));
      return true;
    }
    return Fail(
        ColocationConflict(out_, input_, edge, TextOf(std::move(error)), graph_.node(id).name()));
  }

  // --- Nodes that read variants whose elements only host memory can hold.
  bool LimitToHost() {
    uint32_t host = 0;
    for (size_t i = 0; i < input_.devices.types().size(); ++i) {
      if (input_.devices.types()[i].text() == "CPU") host |= uint32_t{1} << i;
    }
    if (input_.devices.types().size() < 2) return true;
    for (NodeId id : input_.order) {
      Node node = graph_.node(id);
      const OpFacts& facts = facts_.Of(node);
      uint32_t& types = GroupOf(id).types.bits;
      if (facts.may_tie && (types & ~host) && (types & host) && ReadsVariant(node, facts) &&
          HoldsHostOnly(node))
        types &= host;
    }
    return true;
  }

  bool ReadsVariant(const Node& node, const OpFacts& facts) {
    auto types = TypesOf(node, *facts.info);
    if (!types) {
      llvm::consumeError(types.takeError());
      return false;
    }
    return llvm::is_contained(types->inputs, proto::DT_VARIANT);
  }

  // True if the variants that the node reads hold strings or resources, according to element_dtype
  // of the node or, if it has none, of the nearest node before it that has this attribute.
  bool HoldsHostOnly(const Node& node) {
    std::deque<NodeId> queue = {node.id()};
    llvm::DenseSet<NodeId> seen = {node.id()};
    while (!queue.empty()) {
      Node at = graph_.node(queue.front());
      queue.pop_front();
      DataType element = at.GetType("element_dtype");
      if (element != proto::DT_INVALID)
        return element == proto::DT_STRING || element == proto::DT_RESOURCE;
      for (int i = 0; i < at.num_inputs(); ++i) {
        Node input = at.input_node(i);
        if (input && seen.size() < 1000 && seen.insert(input.id()).second)
          queue.push_back(input.id());
      }
    }
    return false;
  }

  // --- Joins two groups. On an error, changes nothing.
  Error Join(const ColocationEdge& edge) {
    NodeId x = out_.RootOf(edge.a), y = out_.RootOf(edge.b);
    if (x == y) return Error::success();
    bool y_wins = out_.groups_[x].rank < out_.groups_[y].rank;
    ColocationGroup &into = out_.groups_[y_wins ? y : x], &from = out_.groups_[y_wins ? x : y];
    ColocationGroup merged = into;
    auto said = [&](Error error) {
      return MakeError(
          "Cannot colocate nodes {{{{colocation_node {0}}} and {{{{colocation_node {1}}}: "
          "{2}",
          graph_.node(edge.a).name(), graph_.node(edge.b).name(), TextOf(std::move(error)));
    };
    if (Error error = merged.assigned.Merge(from.assigned, false)) return said(std::move(error));
    if (Error error = merged.resource.Merge(from.resource, false)) return said(std::move(error));
    if (Error error = merged.requested.Merge(from.requested, input_.soft))
      return said(std::move(error));
    merged.requested.Override(merged.assigned);
    merged.requested.Override(merged.resource);
    merged.types.MeetWith(from.types);
    if (merged.types.bits == 0) return NoCommonType(out_, input_, edge);
    bool deeper = into.rank == from.rank;
    into = merged;
    if (deeper) ++into.rank;
    from.parent = y_wins ? y : x;
    out_.edges_.push_back(edge);
    return Error::success();
  }

  const ColocationInput& input_;
  const Graph& graph_;
  Colocation& out_;
  OpFactsTable facts_;
  int depth_;
  llvm::DenseMap<StringId, DeviceSpec> parsed_;
  // The first node with each name (its own or in _class): by StringId, or by text for names that
  // the module's string table lacks.
  struct InOrder : llvm::DenseMapInfo<StringId> {
    static unsigned getHashValue(StringId id) { return id; }
  };
  llvm::DenseMap<StringId, First, InOrder> first_of_name_;
  llvm::StringMap<First> first_of_other_name_;
  std::vector<NodeId> inspected_;
};

void KernelTypes::MeetWith(const KernelTypes& other) {
  bits &= other.bits;
  if (other.priorities.empty()) return;
  // The common types, those of higher priority first; empty if all their priorities are 0.
  auto ranked = [this](const KernelTypes& types) {
    std::vector<int> order;
    bool any = false;
    for (int i = 0; i < static_cast<int>(types.priorities.size()); ++i) {
      if (!Has(i)) continue;
      order.push_back(i);
      any |= types.priorities[i] != 0;
    }
    llvm::stable_sort(order,
                      [&](int a, int b) { return types.PriorityOf(a) > types.PriorityOf(b); });
    return any ? order : std::vector<int>();
  };
  std::vector<int> mine = ranked(*this), theirs = ranked(other);
  if (mine.empty()) {
    priorities = other.priorities;
  } else if (!theirs.empty() && mine != theirs) {
    priorities.clear();
  }
}

Colocation::Colocation(const ColocationInput& input, int depth) {
  ColocationBuilder(input, *this, depth).Build();
}

NodeId Colocation::RootOf(NodeId node) const {
  NodeId root = node;
  while (groups_[root].parent != root) root = groups_[root].parent;
  // Union by rank keeps paths short; compressing this one makes the next lookup faster.
  while (groups_[node].parent != root) node = std::exchange(groups_[node].parent, root);
  return root;
}

bool Colocation::IsAssigned(const Node& node) {
  if (node.device().empty() || !HasPrefix(node.op(), "_")) return false;
  llvm::StringRef op = node.op();
  return op == "_Arg" || op == "_Retval" || op == "_DeviceArg" || op == "_DeviceRetval";
}

std::vector<NodeId> Colocation::MembersOf(NodeId node) const {
  NodeId root = RootOf(node);
  std::vector<NodeId> members;
  for (NodeId id = 0; id < groups_.size(); ++id) {
    if (groups_[id].parent != kNoNode && RootOf(id) == root) members.push_back(id);
  }
  return members;
}

namespace {

// Walks the edges breadth first from `from` to the first node for which `found` is true, and
// returns the path to it; empty if there is no such node.
Colocation::Chain Walk(llvm::ArrayRef<ColocationEdge> edges, NodeId from,
                       llvm::function_ref<bool(NodeId)> found) {
  llvm::DenseMap<NodeId, llvm::SmallVector<uint32_t, 2>> around;
  for (uint32_t i = 0; i < edges.size(); ++i) {
    around[edges[i].a].push_back(i);
    around[edges[i].b].push_back(i);
  }
  llvm::DenseMap<NodeId, uint32_t> came_by;  // index of an edge, +1; 0: the start
  came_by[from] = 0;
  std::deque<NodeId> queue = {from};
  while (!queue.empty()) {
    NodeId at = queue.front();
    queue.pop_front();
    if (found(at)) {
      Colocation::Chain chain;
      for (chain.nodes = {at}; came_by[at] != 0; chain.nodes.push_back(at)) {
        const ColocationEdge& edge = edges[came_by[at] - 1];
        chain.edges.push_back(edge);
        at = edge.a == at ? edge.b : edge.a;
      }
      std::reverse(chain.nodes.begin(), chain.nodes.end());
      std::reverse(chain.edges.begin(), chain.edges.end());
      return chain;
    }
    for (uint32_t i : around.lookup(at)) {
      NodeId next = edges[i].a == at ? edges[i].b : edges[i].a;
      if (came_by.try_emplace(next, i + 1).second) queue.push_back(next);
    }
  }
  return {};
}

}  // namespace

Colocation::Chain Colocation::ChainBetween(NodeId from, NodeId to) const {
  return Walk(edges_, from, [&](NodeId id) { return id == to; });
}

Colocation::Chain Colocation::NearestRequest(NodeId node, const DeviceSpec& name,
                                             bool wanted) const {
  return Walk(edges_, node, [&](NodeId id) {
    const DeviceSpec& own = own_[id];
    return !own.IsOpen() && own.IsCompatibleWith(name) == wanted;
  });
}

std::string TypesText(const DeviceSet& devices, uint32_t types) {
  std::string text;
  for (size_t i = 0; i < devices.types().size(); ++i) {
    if (types & (uint32_t{1} << i))
      text += (text.empty() ? "" : ", ") + devices.types()[i].text().str();
  }
  return text.empty() ? "none" : text;
}

}  // namespace grapnel
