#include "lib/shape/inference.h"

#include <algorithm>
#include <set>

#include "lib/ir/node_types.h"
#include "lib/shape/shape_map_impl.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// True for the ops through which Grappler tracks the elements of small tensors; it has to fold
// other ops before it knows their elements.
bool CarriesElements(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Const", "HostConst", "Rank", "Size", "Shape", "ShapeN", true)
      .Cases("ConcatV2", "Pack", "Identity", "RefIdentity", "IdentityN", "Slice", "StridedSlice",
             true)
      .Default(false);
}

}  // namespace

void ShapeOps::FindNames(const StringTable& strings) {
  merge = strings.Find("Merge");
  ref_merge = strings.Find("RefMerge");
  next = strings.Find("NextIteration");
  ref_next = strings.Find("RefNextIteration");
  arg = strings.Find("_Arg");
  placeholders.clear();
  for (const char* op : {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"}) {
    if (StringId id = strings.Find(op); id != kNoString) placeholders.push_back(id);
  }
}

ShapeMap::Impl::Op ShapeMap::Impl::WorkOutOp(Node node) const {
  Op op;
  op.carries_elements = CarriesElements(node.op());
  op.info = DefinitionOf(node);
  op.function = graph_.module().FindFunction(node.op()) ? CallShape : FindShapeFunction(node.op());
  if (!op.function) op.function = DefaultShape;
  if (op.info) {
    bool lists = std::any_of(
        op.info->outputs.begin(), op.info->outputs.end(),
        [](const OpArg& arg) { return !arg.number_attr.empty() || !arg.type_list_attr.empty(); });
    if (!lists) op.num_outputs = static_cast<int>(op.info->outputs.size());
  }
  return op;
}

ShapeMap::Impl::Op ShapeMap::Impl::OpOf(Node node) {
  if (const Op* known = FindOpOf(node)) return *known;
  Op op = WorkOutOp(node);
  // Bodies share the data only of ops that TensorFlow defines: a function may be removed later, and
  // an undefined op may become a function.
  bool stays = op.info && op.function != CallShape;
  (stays ? ops_.ops : own_ops_)[node.op_id()] = op;
  return op;
}

bool ShapeMap::Impl::IsBackEdge(Node from, Node to) const {
  return (from.op_id() == ops_.next || from.op_id() == ops_.ref_next) &&
         (to.op_id() == ops_.merge || to.op_id() == ops_.ref_merge);
}

bool ShapeMap::Impl::IsLoopMerge(Node node) const {
  if (node.op_id() != ops_.merge && node.op_id() != ops_.ref_merge) return false;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (Node input = node.input_node(i); input && IsBackEdge(input, node)) return true;
  }
  return false;
}

int ShapeMap::Impl::CountOutputs(Node node, const Op& op) const {
  // A damaged file may claim millions of outputs for every node. A node that grapnel itself has
  // created really has its outputs, so the limit does not apply to it.
  constexpr int kMaxOutputs = 1 << 14;
  if (op.num_outputs >= 0) return op.num_outputs;
  int count = op.info ? grapnel::NumOutputs(node) : -1;
  if (count >= 0) return graph_.Source(node.id()).empty() ? count : std::min(count, kMaxOutputs);
  // The op is not known: counts the outputs that other nodes read or that have a shape in
  // `_output_shapes`.
  count = 0;
  for (const Use& use : node.uses()) {
    Node reader = graph_.node(use.node);
    if (use.slot < static_cast<uint32_t>(reader.num_inputs()))
      count = std::max(count, std::min(reader.input(use.slot).index, kMaxOutputs) + 1);
  }
  auto shapes = node.FindAttr("_output_shapes");
  auto list = shapes ? shapes->AsShapes() : std::nullopt;
  count = std::max<int>(count, list ? static_cast<int>(list->size()) : 0);
  return std::min(count, kMaxOutputs);
}

// Infers the node from the facts about its inputs; returns whether facts about an output changed.
bool ShapeMap::Impl::Visit(NodeId id) {
  Node node = graph_.node(id);
  const Op op = OpOf(node);  // a copy: shape functions of calls may add ops
  context_.node = node;
  context_.info = op.info;
  context_.problem.clear();
  context_.ForgetDemands();
  if (!calls_.empty()) calls_.erase(id);
  context_.inputs.clear();
  static const PortFacts unknown;
  for (int i = 0; i < node.num_inputs(); ++i) {
    Port port = node.input(i);
    const PortFacts* facts = Facts(port);
    bool wait = !facts && !loops_settled_ && port.node != kNoNode &&
                IsBackEdge(graph_.node(port.node), node);
    context_.inputs.push_back(facts || wait ? facts : &unknown);
  }
  context_.outputs.clear();
  context_.outputs.resize(CountOutputs(node, op));
  // Uses the facts that the caller passed for this argument; without any, the node's shape function
  // reads its attributes.
  if (node.op_id() == ops_.arg && !args_.empty()) {
    int64_t index = node.GetInt("index", -1);
    if (index >= 0 && index < static_cast<int64_t>(args_.size()))
      context_.OutFacts(0, args_[index]);
  } else {
    op.function(context_);
  }
  if (!context_.sees_inside && !op.carries_elements) {
    for (PortFacts& facts : context_.outputs) {
      if (facts.extra) facts.extra->elements.reset();
    }
  }
  if (!context_.problem.empty()) {
    problem_of_[id] = context_.problem;
    problems_changed_ = true;
    for (PortFacts& facts : context_.outputs) facts = PortFacts();
  } else if (!problem_of_.empty() && problem_of_.erase(id) != 0) {
    problems_changed_ = true;
  }
  if (shared_->believes_notes) BelieveNotes(node);
  Feed(node);
  if (loops_settled_ && IsLoopMerge(node)) Widen(id);
  if (symbols_) {
    Symbolize(node);
    MeetDemands(id);
  }
  return Commit(id);
}

void ShapeMap::Impl::BelieveNotes(Node node) {
  std::optional<AttrView> attr = node.FindAttr("_output_shapes");
  auto shapes = attr ? attr->AsShapes() : std::nullopt;
  if (!shapes || shapes->size() != context_.outputs.size()) return;
  for (int i = 0; i < context_.num_outputs(); ++i) {
    PortFacts note;
    note.shape = std::move((*shapes)[i]);
    BelieveNote(note, &context_.outputs[i]);
  }
}

// Gives each unknown dimension and shape its own symbol or handle, so that they can be
// distinguished.
void ShapeMap::Impl::Symbolize(Node node) {
  for (int port = 0; port < context_.num_outputs(); ++port) {
    PortFacts& facts = context_.outputs[port];
    ShapeSymbols::Place place = {node.id(), node.op_id(), port};
    if (!facts.shape.known_rank()) {
      if (facts.handle == 0) facts.handle = symbols_->HandleAt(place);
      continue;
    }
    facts.handle = 0;
    for (int i = 0; i < facts.shape.rank(); ++i) {
      if (facts.shape.dim(i) == kUnknownDim)
        facts.shape.set_dim(i, symbols_->DimAt(place, i, &shared_->next_symbol));
    }
  }
}

void ShapeMap::Impl::MeetDemands(NodeId id) {
  if (!context_.problem.empty()) context_.demands.clear();
  if (!all_visited_) {
    if (context_.demands.empty() && !demands_.count(id)) return;
    demands_[id] = {made_demands_.size(), context_.demands.size()};
    llvm::move(context_.demands, std::back_inserter(made_demands_));
    return;
  }
  demands_changed_ |= !context_.demands.empty() || Demanded(id);
  for (const ShapeRequirement& demand : context_.demands) symbols_->Meet(demand);
}

// Applies all requirements. If any two contradict each other, ignores all requirements.
void ShapeMap::Impl::MeetAllDemands() {
  all_visited_ = true;
  std::vector<NodeId> readers;
  readers.reserve(demands_.size());
  for (const auto& entry : demands_) readers.push_back(entry.first);
  llvm::sort(readers);
  auto rank_of = [&](NodeId id) { return id < ranks_.size() ? ranks_[id] : ~0u; };
  std::stable_sort(readers.begin(), readers.end(),
                   [&](NodeId a, NodeId b) { return rank_of(a) < rank_of(b); });
  ranks_ = {};
  bool fit = true;
  for (NodeId id : readers) {
    auto [first, count] = demands_[id];
    for (const ShapeRequirement& demand : llvm::ArrayRef(made_demands_).slice(first, count))
      fit = fit && symbols_->Meet(demand);
  }
  if (!fit) symbols_->ForgetDemands();
  demanding_.resize(graph_.end_id());
  for (NodeId id : readers) demanding_.set(id);
  // Frees memory that is no longer needed, because a ShapeMap lives long.
  demands_ = llvm::DenseMap<NodeId, std::pair<size_t, size_t>>();
  made_demands_ = std::vector<ShapeRequirement>();
}

const ShapeMap::Impl::Resolved* ShapeMap::Impl::ResolvedOf(const PortFacts& facts) const {
  if (!symbols_) return nullptr;
  auto is_symbol = [](int64_t dim) { return dim < kUnknownDim; };
  bool has_symbols = !facts.shape.known_rank() ||
                     std::any_of(facts.shape.dims().begin(), facts.shape.dims().end(), is_symbol);
  const Elements* elements = facts.elements();
  bool has_symbolic_elements =
      elements && !std::all_of(elements->begin(), elements->end(), IsKnownElement);
  if (!has_symbols && !has_symbolic_elements) return nullptr;
  auto [it, added] = resolved_.try_emplace(&facts);
  if (!added) return &it->second;
  it->second.shape = symbols_->Resolve(facts.shape, facts.handle);
  if (!elements) return &it->second;
  it->second.elements = *elements;
  for (int64_t& element : *it->second.elements) {
    if (int64_t dim = DimOfElement(element); !IsKnownElement(element) && is_symbol(dim))
      element = ElementOfDim(symbols_->Resolve(dim));
  }
  return &it->second;
}

// Gives unknown dimensions of placeholders, arguments and fed nodes symbols; without trust_feeds,
// drops all facts about placeholders and fed nodes.
void ShapeMap::Impl::Feed(Node node) {
  bool placeholder = llvm::is_contained(ops_.placeholders, node.op_id());
  bool fed = !fed_.empty() && fed_.count(node.id());
  if (!placeholder && !fed && node.op_id() != ops_.arg) return;
  for (int port = 0; port < context_.num_outputs(); ++port) {
    PortFacts& facts = context_.outputs[port];
    if (fed && facts.extra && node.op_id() != ops_.arg) facts.extra.reset();
    if (!trust_feeds_ && (placeholder || fed)) facts = PortFacts();
    if (!use_symbols_ || !facts.shape.known_rank()) continue;
    const PortFacts* before = Facts({node.id(), port});
    bool again = before && before->shape.known_rank() && before->shape.rank() == facts.shape.rank();
    for (int i = 0; i < facts.shape.rank(); ++i) {
      if (facts.shape.dim(i) != kUnknownDim) continue;
      bool has_symbol = again && before->shape.dim(i) < kUnknownDim;
      facts.shape.set_dim(i, has_symbol ? before->shape.dim(i) : shared_->next_symbol--);
    }
  }
}

// Joins the new facts about the Merge of a loop with the old facts, so that every loop reaches a
// fixed point.
void ShapeMap::Impl::Widen(NodeId id) {
  for (int i = 0; i < context_.num_outputs(); ++i) {
    const PortFacts* before = Facts({id, i});
    if (before) context_.outputs[i] = JoinFacts(*before, context_.outputs[i]);
  }
}

bool ShapeMap::Impl::Commit(NodeId id) {
  uint32_t count = context_.outputs.size();
  bool same = first_[id] != kNotVisited && count_[id] == count;
  for (uint32_t i = 0; same && i < count; ++i)
    same = facts_[first_[id] + i].SameAs(context_.outputs[i]);
  if (same) {
    // A change of attributes may have changed the dtypes: they are computed again when needed.
    for (uint32_t i = 0; i < count; ++i) facts_[first_[id] + i].type = proto::DT_INVALID;
    return false;
  }
  bool has_room = first_[id] != kNotVisited && count <= count_[id];
  count_[id] = count;
  if (!has_room) {
    first_[id] = facts_.size();
    for (PortFacts& facts : context_.outputs) facts_.push_back(std::move(facts));
    return true;
  }
  for (uint32_t i = 0; i < count; ++i) facts_[first_[id] + i] = std::move(context_.outputs[i]);
  return true;
}

void ShapeMap::Impl::Grow() {
  first_.resize(graph_.end_id(), kNotVisited);
  count_.resize(graph_.end_id(), 0);
}

// Visits every node once, after its data inputs, ignoring back edges of loops; does not visit nodes
// on other cycles and nodes that read them. Returns the position of each node in that order.
std::vector<uint32_t> ShapeMap::Impl::VisitAll() {
  std::vector<uint32_t> waiting(graph_.end_id(), 0), position(graph_.end_id(), kNotVisited);
  std::vector<NodeId> ready;
  ready.reserve(graph_.num_nodes());
  for (Node node : graph_.nodes()) {
    uint32_t count = 0;
    for (int i = 0; i < node.num_inputs(); ++i) {
      Node input = node.input_node(i);
      count += input && !IsBackEdge(input, node);
    }
    waiting[node.id()] = count;
    if (count == 0) ready.push_back(node.id());
  }
  for (size_t at = 0; at < ready.size(); ++at) {
    NodeId id = ready[at];
    position[id] = at;
    Visit(id);
    Node node = graph_.node(id);
    for (const Use& use : node.uses()) {
      Node reader = graph_.node(use.node);
      if (use.slot >= static_cast<uint32_t>(reader.num_inputs()) || IsBackEdge(node, reader))
        continue;
      if (--waiting[use.node] == 0) ready.push_back(use.node);
    }
  }
  return position;
}

// Visits the nodes of loops until no fact changes, in the order of `position`, so that each round
// visits a loop's body once.
void ShapeMap::Impl::SettleLoops(const std::vector<uint32_t>& position) {
  loops_settled_ = true;
  std::set<std::pair<uint32_t, NodeId>> work;
  if (ops_.merge != kNoString || ops_.ref_merge != kNoString) {
    for (Node node : graph_.nodes()) {
      if (position[node.id()] != kNotVisited && IsLoopMerge(node))
        work.insert({position[node.id()], node.id()});
    }
  }
  while (!work.empty()) {
    NodeId id = work.begin()->second;
    work.erase(work.begin());
    if (!Visit(id)) continue;
    Node node = graph_.node(id);
    for (const Use& use : node.uses()) {
      if (position[use.node] != kNotVisited &&
          use.slot < static_cast<uint32_t>(graph_.node(use.node).num_inputs())) {
        work.insert({position[use.node], use.node});
      }
    }
  }
}

void ShapeMap::Impl::Run() {
  Grow();
  facts_.reserve(graph_.num_nodes() + graph_.num_nodes() / 8);
  SettleLoops(VisitAll());
  if (symbols_) MeetAllDemands();
}

// Visits new nodes on which `id` depends and for which Update was not called; inputs come first.
void ShapeMap::Impl::VisitMissingInputs(NodeId id) {
  Node last = graph_.node(id);
  auto is_missing = [&](Node input) { return input && first_[input.id()] == kNotVisited; };
  bool has_all = true;
  for (int i = 0, count = last.num_inputs(); i < count && has_all; ++i)
    has_all = !is_missing(last.input_node(i));
  if (has_all) return;
  std::vector<NodeId> stack = {id};
  llvm::DenseSet<NodeId> seen = {id};
  while (!stack.empty()) {
    Node node = graph_.node(stack.back());
    bool ready = true;
    for (int i = 0; i < node.num_inputs(); ++i) {
      Node input = node.input_node(i);
      if (!input || first_[input.id()] != kNotVisited || IsBackEdge(input, node)) continue;
      if (!seen.insert(input.id()).second) continue;
      stack.push_back(input.id());
      ready = false;
    }
    if (!ready) continue;
    stack.pop_back();
    if (node.id() != id) Visit(node.id());
  }
}

void ShapeMap::Impl::Update(NodeId id) {
  // If a node has an op that is new in the graph, FindNames must look up the ids of op names again:
  // the new op may be one of them.
  auto is_new = [&](NodeId node) { return !FindOpOf(graph_.node(node)); };
  bool has_new = is_new(id);
  for (NodeId node = first_.size(), end = graph_.end_id(); node < end; ++node)
    has_new |= is_new(node);
  Grow();
  if (has_new) ops_.FindNames(graph_.module().strings);
  if (!resolved_.empty()) resolved_.clear();
  shared_->calls.Forget();
  demands_changed_ |= Demanded(id);
  if (!graph_.IsAlive(id)) {
    if (id < first_.size()) first_[id] = kNotVisited;
    if (problem_of_.erase(id) != 0) problems_changed_ = true;
    return;
  }
  VisitMissingInputs(id);
  if (graph_.node(id).uses().empty()) {  // as for most new nodes
    Visit(id);
    return;
  }
  // In a broken graph, shapes on a cycle may grow forever; a valid graph needs far fewer visits.
  constexpr int kMaxVisits = 64;
  visits_.clear();
  work_ = {id};
  waiting_ = {id};
  for (size_t at = 0; at < work_.size(); ++at) {
    NodeId next = work_[at];
    waiting_.erase(next);
    if (++visits_[next] > kMaxVisits || !Visit(next)) continue;
    Node node = graph_.node(next);
    for (const Use& use : node.uses()) {
      bool data = use.slot < static_cast<uint32_t>(graph_.node(use.node).num_inputs());
      if (data && first_[use.node] != kNotVisited && waiting_.insert(use.node).second)
        work_.push_back(use.node);
    }
  }
}

void ShapeMap::Impl::NameProblems() const {
  problems_changed_ = false;
  problems_.clear();
  if (problem_of_.empty()) return;
  const Function* function = FunctionOf(graph_);
  std::string prefix = function ? (function->name() + "/").str() : "";
  for (const auto& [id, text] : problem_of_) {
    problems_.push_back({function ? Severity::kWarning : Severity::kError,
                         prefix + graph_.node(id).name().str(), text});
  }
}

}  // namespace grapnel
