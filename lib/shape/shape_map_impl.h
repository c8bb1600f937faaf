// The implementation of ShapeMap: the facts about one body, and how they are inferred.
// Private to lib/shape.
#ifndef GRAPNEL_LIB_SHAPE_SHAPE_MAP_IMPL_H_
#define GRAPNEL_LIB_SHAPE_SHAPE_MAP_IMPL_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/ir/node_types.h"
#include "lib/shape/call_memo.h"
#include "lib/shape/functions.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

constexpr uint32_t kNotVisited = ~uint32_t{0};

// Cached data about those ops of a module that TensorFlow defines, which stay the same when the
// module changes.
struct ShapeOps {
  // The properties that all nodes of one op share.
  struct Op {
    const OpInfo* info = nullptr;
    ShapeFunction function = nullptr;
    int num_outputs = -1;           // -1: attributes determine it
    bool carries_elements = false;  // Grappler too tracks elements through the op
  };
  llvm::DenseMap<StringId, Op> ops;
  // Ids of op names in the module's string table; kNoString if the table does not have the name.
  llvm::SmallVector<StringId, 3> placeholders;
  StringId merge = kNoString, ref_merge = kNoString, next = kNoString, ref_next = kNoString,
           arg = kNoString;

  void FindNames(const StringTable& strings);
};

// The state that the inference of a graph shares with that of the bodies that the graph calls.
struct SharedShapes {
  std::shared_ptr<ShapeOps> ops;  // never null
  int64_t next_symbol = kUnknownDim - 1;
  int graph_version = 0;
  CallMemo calls;
  // True if facts in the file count (see lib/shape/module_shapes.h).
  bool believes_notes = false;
  std::map<const Function*, std::vector<PortFacts>> notes;  // facts in the file about arguments

  // Adds the facts that the file states about the function's arguments, if believes_notes.
  void BelieveArgNotes(const Function& function, std::vector<PortFacts>* args);
};

// `beside`: the shared state of another body of the same module, or null.
std::shared_ptr<SharedShapes> SharedShapesOf(const Module& module,
                                             const SharedShapes* beside = nullptr);

// A function call, with the facts about its arguments.
struct CallFacts {
  std::string function;
  std::vector<PortFacts> args;
};

class ShapeMap::Impl : public FunctionShapes {
 public:
  Impl(const Graph& graph, const ShapeOptions& options, std::shared_ptr<SharedShapes> shared)
      : graph_(graph),
        trust_feeds_(options.trust_feeds),
        ranks_(options.ranks),
        shared_(std::move(shared)),
        ops_(*shared_->ops) {
    if (options.fed) fed_ = *options.fed;
    context_.sees_inside = options.sees_inside;
    if (options.from_readers) {
      symbols_ = std::make_unique<ShapeSymbols>();
      context_.symbols = symbols_.get();
      context_.next_symbol = &shared_->next_symbol;
    }
    ops_.FindNames(graph_.module().strings);
    context_.functions = this;
    context_.fed = &fed_;
    context_.graph_version = shared_->graph_version;
    context_.believes_notes = shared_->believes_notes;
  }

  void SetArgs(std::vector<PortFacts> args) { args_ = std::move(args); }

  // Gives unknown dimensions of placeholders and arguments symbols. Not for a body that is inferred
  // for a call, because its unknown dimensions may differ between calls.
  void UseSymbols() { use_symbols_ = true; }

  void Run();
  void Update(NodeId id);

  const PortFacts* Facts(Port port) const {
    if (port.node >= first_.size() || first_[port.node] == kNotVisited || port.index < 0)
      return nullptr;
    if (static_cast<uint32_t>(port.index) >= count_[port.node]) return nullptr;
    return &facts_[first_[port.node] + port.index];
  }
  DataType TypeOf(Port port) const {
    const PortFacts* facts = Facts(port);
    if (!facts) return graph_.IsAlive(port.node) ? TypeOfPort(graph_, port) : proto::DT_INVALID;
    // A race is harmless: threads that compute the dtype at the same time get the same result.
    std::atomic_ref<DataType> kept(facts->type);
    DataType type = kept.load(std::memory_order_relaxed);
    if (type != proto::DT_INVALID) return type;
    type = WorkOutType(port);
    kept.store(type, std::memory_order_relaxed);
    return type;
  }
  // Like TypeOfPort, but uses cached data about the op.
  DataType WorkOutType(Port port) const {
    Node node = graph_.node(port.node);
    const Op* op = FindOpOf(node);
    if (!op || !op->info) return TypeOfPort(graph_, port);
    if (op->num_outputs < 0) return WorkOutTypes(node, *op->info, port);
    if (port.index >= op->num_outputs) return proto::DT_INVALID;
    const OpArg& arg = op->info->outputs[port.index];
    DataType type = arg.type_attr.empty() ? arg.type : node.GetType(arg.type_attr);
    return arg.is_ref && type != proto::DT_INVALID ? RefType(type) : type;
  }
  DataType WorkOutTypes(const Node& node, const OpInfo& info, Port port) const;
  int CountOf(NodeId id) const {
    return id < first_.size() && first_[id] != kNotVisited ? static_cast<int>(count_[id]) : 0;
  }
  const std::vector<Problem>& problems() const {
    if (problems_changed_) NameProblems();
    return problems_;
  }
  bool DemandsChanged() const { return demands_changed_; }

  // The facts about a port, combined with the requirements of its readers. ResolvedOf returns null
  // if the requirements cannot add anything.
  struct Resolved {
    Shape shape;
    std::optional<Elements> elements;
  };
  const Resolved* ResolvedOf(const PortFacts& facts) const;

  std::vector<PortFacts> Infer(llvm::StringRef function,
                               llvm::ArrayRef<const PortFacts*> args) override;
  void Called(llvm::StringRef function, llvm::ArrayRef<const PortFacts*> args) override;
  void AddCall(const Function& function, const Impl& body);

  const SharedShapes& shared() const { return *shared_; }

  // Makes Run record the function calls; must be called before Run.
  void RecordCalls() { records_calls_ = true; }
  // The calls of each node, from the last visit of the node.
  const std::map<NodeId, std::vector<CallFacts>>& calls() const { return calls_; }

 private:
  using Op = ShapeOps::Op;

  std::vector<PortFacts> InferBody(Function& function, std::vector<PortFacts> args);
  Op OpOf(Node node);
  Op WorkOutOp(Node node) const;
  // Returns the data about the node's op; null if the op was not looked up yet.
  const Op* FindOpOf(const Node& node) const {
    auto known = ops_.ops.find(node.op_id());
    if (known != ops_.ops.end()) return &known->second;
    if (own_ops_.empty()) return nullptr;
    auto own = own_ops_.find(node.op_id());
    return own != own_ops_.end() ? &own->second : nullptr;
  }
  bool IsLoopMerge(Node node) const;
  bool IsBackEdge(Node from, Node to) const;
  int CountOutputs(Node node, const Op& op) const;
  bool Visit(NodeId id);
  void BelieveNotes(Node node);
  void Feed(Node node);
  void Symbolize(Node node);
  void MeetDemands(NodeId id);
  bool Demanded(NodeId id) const { return id < demanding_.size() && demanding_.test(id); }
  void MeetAllDemands();
  bool Commit(NodeId id);
  void Widen(NodeId id);
  void Grow();
  std::vector<uint32_t> VisitAll();
  void SettleLoops(const std::vector<uint32_t>& position);
  void VisitMissingInputs(NodeId id);
  void NameProblems() const;

  const Graph& graph_;
  bool trust_feeds_;
  llvm::ArrayRef<uint32_t> ranks_;  // only used until all nodes are visited
  bool use_symbols_ = false, records_calls_ = false;
  llvm::DenseSet<NodeId> fed_;
  std::shared_ptr<SharedShapes> shared_;
  std::vector<PortFacts> args_;

  ShapeOps& ops_;
  llvm::DenseMap<StringId, Op> own_ops_;  // functions and undefined ops, which may change

  std::vector<uint32_t> first_, count_;  // by node id: facts_[first, first + count) are the node's
  std::vector<PortFacts> facts_;
  ShapeContext context_;
  std::map<NodeId, std::vector<CallFacts>> calls_;
  bool loops_settled_ = false;

  std::unique_ptr<ShapeSymbols> symbols_;  // null: requirements of readers are not used
  // The requirements of each reader, as a range of made_demands_. Kept until every node has been
  // visited, because TensorFlow applies requirements in the order of nodes.
  llvm::DenseMap<NodeId, std::pair<size_t, size_t>> demands_;
  std::vector<ShapeRequirement> made_demands_;
  bool all_visited_ = false;
  llvm::BitVector demanding_;     // by node id: had requirements when these were applied
  bool demands_changed_ = false;  // since they were applied
  mutable std::unordered_map<const PortFacts*, Resolved> resolved_;
  // Buffers that Update reuses.
  llvm::SmallDenseMap<NodeId, int, 8> visits_;
  llvm::SmallDenseSet<NodeId, 8> waiting_;
  std::vector<NodeId> work_;

  std::map<NodeId, std::string> problem_of_;
  mutable bool problems_changed_ = false;  // problem_of_ differs from problems_
  mutable std::vector<Problem> problems_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_SHAPE_MAP_IMPL_H_
