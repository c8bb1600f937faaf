// One class in one file: all edits share the record of the open rewrite, the cached facts and the
// check for changes that bypassed the Editor.
#include "lib/pass/editor.h"

#include <algorithm>
#include <functional>

#include "lib/ir/node_types.h"
#include "lib/pass/library.h"
#include "lib/pass/node_order.h"
#include "lib/pass/registry.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

std::vector<std::string> SortedNames(const StringTable& strings, llvm::ArrayRef<StringId> ids) {
  llvm::SmallVector<llvm::StringRef, 8> sorted;
  for (StringId id : ids) sorted.push_back(strings.Get(id));
  // most lists are short: avoids qsort
  if (sorted.size() > 1) std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> names;
  names.reserve(sorted.size());
  for (llvm::StringRef name : sorted) {
    if (names.empty() || names.back() != name) names.push_back(name.str());
  }
  return names;
}

// Sorts the part of `list` from `begin` on and removes duplicates.
void KeepDistinctFrom(size_t begin, std::vector<uint32_t>* list) {
  auto first = list->begin() + begin;
  if (std::adjacent_find(first, list->end(), std::greater_equal<>()) == list->end()) return;
  std::sort(first, list->end());
  list->erase(std::unique(first, list->end()), list->end());
}

// Writes a shape such as "[s1,8,s2]" as "[?,8,?]": readers of a refusal do not need to know which
// of the unknown dimensions are equal.
std::string WithoutSymbols(llvm::StringRef text) {
  std::string plain;
  bool in_shape = false;
  for (size_t i = 0; i < text.size(); ++i) {
    bool begins = in_shape && text[i] == 's' && (text[i - 1] == '[' || text[i - 1] == ',');
    size_t end = begins ? text.find_first_not_of("0123456789", i + 1) : i + 1;
    bool is_symbol = begins && end > i + 1 && end != llvm::StringRef::npos &&
                     (text[end] == ',' || text[end] == ']');
    in_shape = text[i] == '[' || (in_shape && text[i] != ']');
    plain += is_symbol ? '?' : text[i];
    if (is_symbol) i = end - 1;
  }
  return plain;
}

}  // namespace

void Editor::Record::Clear() {
  open = false;
  for (auto* names : {&used, &made, &changed, &removed}) names->clear();
  results.clear();
  sources.clear();
  functions.clear();
  note.clear();
}

Editor::Editor(Graph& graph, Function* function, Boundary boundary,
               const proto::RewriterConfig& config, Evaluator* evaluator)
    : graph_(graph),
      function_(function),
      boundary_(std::move(boundary)),
      config_(config),
      evaluator_(evaluator),
      registry_(&PassRegistry::Get()),
      const_op_(module().strings.Intern("Const")),
      host_const_op_(module().strings.Intern("HostConst")),
      seen_version_(graph.version()) {
  for (const auto* ids : {&boundary_.fetched, &boundary_.fed, &boundary_.kept}) {
    for (NodeId id : *ids) {
      if (id >= preserved_.size()) preserved_.resize(id + 1);
      preserved_.set(id);
    }
  }
  for (Port port : boundary_.fetched_ports)
    fetches_.push_back({graph_.node(port.node).name_id(), port.index});
}
Editor::~Editor() = default;

ShapeMap Editor::InferGrapplerShapes(bool trust_feeds) const {
  ShapeOptions options;
  options.trust_feeds = trust_feeds || trusts_shapes_;
  options.fed = &boundary_.fed;
  options.from_readers = true;
  options.ranks = ranks_;
  options.sees_inside = false;
  return InferShapes(graph_, options, argument_shapes_);
}

const ShapeMap& Editor::shapes() {
  if (are_shapes_fixed_) return *shapes_;
  // At the start of a pass, discards the shapes if over a quarter of the nodes changed: inferring
  // all shapes again, as TensorFlow does for each pass, is then faster.
  if (shapes_ && starts_pass_ && stale_shapes_.size() > graph_.num_nodes() / 4) shapes_.reset();
  if (shapes_) {
    llvm::DenseSet<NodeId> updated;
    for (NodeId id : stale_shapes_) {
      if (stale_shapes_.size() == 1 || updated.insert(id).second) shapes_->Update(id);
    }
    // Shapes are also inferred from a node's readers: if readers were removed, their constraints
    // must go, too.
    if (starts_pass_ && shapes_->DemandsChanged()) shapes_.reset();
  }
  if (!shapes_) {
    shapes_ = std::make_unique<ShapeMap>(InferGrapplerShapes(trusts_feeds_));
  }
  stale_shapes_.clear();
  starts_pass_ = false;
  return *shapes_;
}
void Editor::TrustFeeds(bool trust) {
  if (trust == trusts_feeds_) return;
  trusts_feeds_ = trust;
  are_shapes_fixed_ = false;
  shapes_.reset();
}

void Editor::FixShapes() {
  are_shapes_fixed_ = false;
  shapes();
  are_shapes_fixed_ = true;
}

const Shape& Editor::ShapeOf(Port port) { return shapes().OfPort(port); }
DataType Editor::TypeOf(Port port) { return TypeOfPort(graph_, port); }

bool Editor::IsConstant(const Node& node) const {
  StringId op = node.op_id();
  return (op == const_op_ || op == host_const_op_) && !IsFed(node);
}

const Literal* Editor::ConstantOf(const Node& node) {
  if (!node || !IsConstant(node)) return nullptr;
  auto [it, added] = constants_.try_emplace(node.id());
  if (added) {
    if (auto literal = Literal::FromConst(node)) {
      it->second = std::make_unique<Literal>(std::move(*literal));
    } else {
      llvm::consumeError(
          literal.takeError());  // the verifier and the reader report broken constants
    }
  }
  return it->second.get();
}

std::vector<NodeId> Editor::NodesInOrder() {
  if (order_version_ != graph_.version()) {
    order_ = GrapplerOrder(graph_, ranks_);
    order_version_ = graph_.version();
  }
  return order_;
}

// If `order` is the cached order, the cache stays valid: GrapplerOrder keeps an order that it
// returned itself.
void Editor::SetOrder(llvm::ArrayRef<NodeId> order) {
  if (order != llvm::ArrayRef<NodeId>(order_)) order_version_.reset();
  ranks_.assign(graph_.end_id(), ~0u);
  for (uint32_t i = 0; i < order.size(); ++i) ranks_[order[i]] = i;
}

// True if `grapnel passes` lists the rule under the pass, so that users can select it and read its
// help. The PassManager's own stages are not registered passes: then always true.
bool Editor::IsListed(llvm::StringRef rule) const {
  const PassRegistry::Entry* entry = registry_->Find(pass_);
  return !entry || llvm::any_of(registry_->ReportedBy(*entry),
                                [&](const PassStep& step) { return rule == step.name; });
}

void Editor::SetNote(std::string text) {
  assert(record_.open && "no rewrite is under way");
  record_.note = std::move(text);
}

void Editor::EndRecord() {
  if (num_changes_ != record_.changes_before) Keep(record_);
  record_.Clear();
}

void Editor::Keep(Record& record) {
  if (record.node) {
    record.used.push_back(record.name);
    record.sources.push_back(record.node.id());
  }
  if (rewrites_left_) --*rewrites_left_;
  int number = ++(counter_ ? *counter_ : own_counter_);

  RecordOrigins(record);
  if (!fetches_.empty()) WatchFetches(record);
  if (!on_rewrite_) return;
  StringTable& strings = module().strings;
  Rewrite rewrite;
  rewrite.number = number;
  rewrite.iteration = iteration_;
  rewrite.pass = pass_;
  rewrite.rule = record.rule.str();
  rewrite.function = function_ ? function_->name().str() : "";
  rewrite.node = strings.Get(record.name).str();
  rewrite.used = SortedNames(strings, record.used);
  rewrite.made = SortedNames(strings, record.made);
  rewrite.changed = SortedNames(strings, record.changed);
  rewrite.removed = SortedNames(strings, record.removed);
  rewrite.functions = record.functions;
  rewrite.note = record.note;
  // A node that the rewrite made or removed is not listed as changed as well.
  llvm::erase_if(rewrite.changed, [&](const std::string& name) {
    return llvm::is_contained(rewrite.made, name) || llvm::is_contained(rewrite.removed, name);
  });
  on_rewrite_(rewrite);
}

int Editor::FurtherFetch(const Node& node) const {
  if (!IsPreserved(node)) return 0;
  int first = 0;
  for (Port port : boundary_.fetched_ports) {
    if (port.node == node.id() && port.index > 0 && (first == 0 || port.index < first))
      first = port.index;
  }
  return first;
}

// Looks up fetches by name, because another node may have replaced the fetched node under its name.
const Editor::Fetch* Editor::LostFetch() const {
  for (const Fetch& fetch : fetches_) {
    Node node = graph_.Find(graph_.module().strings.Get(fetch.name));
    int outputs = node ? NumOutputs(node) : 0;
    if (outputs >= 0 && fetch.index >= outputs) return &fetch;
  }
  return nullptr;
}

void Editor::WatchFetches(const Record& record) {
  if (!lost_by_.empty()) return;
  bool touches = llvm::any_of(record.sources,
                              [&](NodeId id) { return id < preserved_.size() && preserved_[id]; });
  if (touches && LostFetch()) lost_by_ = record.rule.str();
}

Error Editor::CheckFetches() const {
  const Fetch* fetch = LostFetch();
  if (!fetch) return Error::success();
  llvm::StringRef name = graph_.module().strings.Get(fetch->name);
  Node node = graph_.Find(name);
  std::string now = node ? llvm::formatv("'{0}' is now {1}, with {2}", name, node.op(),
                                         Plural(NumOutputs(node), "output"))
                               .str()
                         : ("there is no node '" + name + "' any more").str();
  std::string rule = lost_by_.empty() ? "" : "rule '" + lost_by_ + "': ";
  return MakeError("{0}the fetch '{1}:{2}' is lost: {3}", rule, name, fetch->index, now);
}

// The result of a rewrite derives from all nodes that it used. The full sets would grow with every
// rewrite along a chain, so only one step is stored per rewrite: OriginsOf follows these steps.
void Editor::RecordOrigins(const Record& record) {
  size_t names = derived_from_.size();
  for (NodeId id : record.sources) {
    if (DerivationOf(id) == kFromTheStart) derived_from_.push_back(graph_.node(id).name_id());
  }
  KeepDistinctFrom(names, &derived_from_);
  size_t steps = derived_from_.size();
  for (NodeId id : record.sources) {
    if (uint32_t step = DerivationOf(id); step != kFromTheStart) derived_from_.push_back(step);
  }
  KeepDistinctFrom(steps, &derived_from_);
  uint32_t number = derivations_.size();
  derivations_.push_back({names, steps});
  if (latest_derivation_.size() < graph_.end_id())
    latest_derivation_.resize(graph_.end_id(), kFromTheStart);
  for (NodeId id : record.results) {
    if (graph_.IsAlive(id)) latest_derivation_[id] = number;
  }
}

void Editor::Used(const Node& node) {
  record_.used.push_back(node.name_id());
  record_.sources.push_back(node.id());
}

void Editor::AddRefusal(llvm::StringRef rule, const Node& node, llvm::StringRef text,
                        const std::function<void(const Refusal&)>& take) {
  auto [reason, remedy] = text.split('\n');
  take({pass_, rule.str(), function_ ? function_->name().str() : "", node.name().str(),
        WithoutSymbols(reason), WithoutSymbols(remedy)});
}

void Editor::Touch(const Node& node) {
  if (touched_.empty() || touched_.back() != node.id()) touched_.push_back(node.id());
}

void Editor::Changed(const Node& node) {
  ++num_changes_;
  seen_version_ = graph_.version();
  // A node usually changes in several consecutive edits, and needs only one entry for all of them.
  bool is_same = !record_.changed.empty() && record_.changed.back() == node.name_id() &&
                 record_.sources.back() == node.id() && record_.results.back() == node.id();
  if (!is_same) {
    record_.changed.push_back(node.name_id());
    record_.sources.push_back(node.id());
    record_.results.push_back(node.id());
  }
  constants_.erase(node.id());
  if (function_) function_->changed = true;
  Touch(node);
  if (shapes_) stale_shapes_.push_back(node.id());
}

void Editor::Blame(std::string what, llvm::StringRef rule) {
  if (fault_) return;
  if (record_.open) rule = record_.rule;
  std::string node = record_.open ? module().strings.Get(record_.name).str() : "";
  fault_ = {rule.str(), std::move(node), std::move(what)};
}

void Editor::BlameOpenRewrite() {
  Blame(("began a rewrite before it ended that of '" + record_.rule + "'").str());
}

void Editor::BlameChanges(llvm::StringRef rule) {
  std::vector<NodeId> changed = graph_.ChangedSince(seen_version_);
  NodeId shown = record_.open && record_.node ? record_.node.id() : kNoNode;
  seen_version_ = graph_.version();
  std::string what = "removed a node";
  if (!changed.empty()) {
    NodeId named = llvm::is_contained(changed, shown) ? shown : changed[0];
    what = ("changed '" + graph_.node(named).name() + "'").str();
  }
  Blame(what + " without the Editor, so the change is not recorded", rule);
}

// True if the node may be edited now; otherwise the pass has a fault.
bool Editor::MayChange(const Node& node) {
  NoticeChanges();
  if (!record_.open)
    Blame(("changed '" + node.name() + "' outside of a rewrite: Begin() was not called").str());
  else if (!graph_.IsAlive(node.id()))
    Blame(("changed '" + node.name() + "' after it was removed").str());
  return !fault_;
}

// True if the node may get an input from `port`; otherwise the pass has a fault.
bool Editor::MayRead(const Node& node, Port port) {
  if (port.node >= graph_.end_id())
    Blame(("gave '" + node.name() + "' an input that does not exist").str());
  else if (!graph_.IsAlive(port.node))
    Blame(("gave '" + node.name() + "' an input from '" + graph_.node(port.node).name() +
           "', which was removed")
              .str());
  return !fault_;
}

Node Editor::AddNode(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device) {
  NoticeChanges();
  if (!record_.open)
    Blame(("made '" + name + "' outside of a rewrite: Begin() was not called").str());
  if (name.empty() || op.empty()) {
    Blame("made a node without a name, or without an op");
    if (name.empty()) name = "unnamed";
  }
  Node node = graph_.node(graph_.AddNode(graph_.UniqueName(name), op, device));
  ++num_changes_;
  seen_version_ = graph_.version();
  record_.made.push_back(node.name_id());
  record_.results.push_back(node.id());
  if (function_) function_->changed = true;
  if (shapes_) stale_shapes_.push_back(node.id());
  Touch(node);
  return node;
}

// Builds the attribute in the memory of the graph; the literal that ConstantOf() returns may point
// into that memory.
void Editor::SetValue(const Node& node, const Literal& value) {
  graph_.SetAttr(node.id(), "dtype", attr::Type(value.dtype()));
  llvm::StringRef content;
  std::string tensor = value.TensorProtoHead(/*compress=*/true, &content);
  std::string head = attr::TensorHead(tensor.size() + content.size());
  llvm::StringRef kept = graph_.SetAttr(node.id(), "value", {head, tensor, content});
  constexpr size_t kSmall =
      1024;  // bytes; a larger value without content is now a splat and must be read again
  if (!content.empty()) {
    constants_[node.id()] = std::make_unique<Literal>(
        Literal::Borrow(value.dtype(), value.dims(), kept.take_back(content.size()), nullptr));
  } else if (value.bytes().size() <= kSmall) {
    constants_[node.id()] = std::make_unique<Literal>(value);
  }
  seen_version_ = graph_.version();
}

Node Editor::AddConstant(llvm::StringRef name, const Literal& value, llvm::StringRef device,
                         llvm::ArrayRef<Node> controls) {
  Node node = AddNode(name, "Const", device);
  for (const Node& control : controls) AddControl(node, control);
  SetValue(node, value);
  return node;
}

void Editor::TurnIntoConstant(const Node& node, const Literal& value,
                              llvm::ArrayRef<Node> controls) {
  if (!MayChange(node)) return;
  llvm::SmallVector<Port, 4> ports;
  for (Port port : node.inputs()) Used(graph_.node(port.node));
  for (const Node& control : controls) {
    Port port = {control.id(), kControlPort};
    if (!llvm::is_contained(ports, port)) ports.push_back(port);
  }
  for (Port port : node.inputs()) Touch(graph_.node(port.node));
  graph_.SetInputs(node.id(), ports);
  graph_.SetOp(node.id(), "Const");
  for (const auto& [key, unused] : node.Attrs()) {
    if (!key.empty() && key[0] != '_') graph_.RemoveAttr(node.id(), key);
  }
  Changed(node);
  SetValue(node, value);
}

void Editor::RemoveNode(const Node& node) {
  if (!MayChange(node)) return;
  for (const Use& use : node.uses()) {
    Node reader = graph_.node(use.node);
    if (reader.input(use.slot).IsControl()) continue;
    ++num_changes_;  // the rewrite counts, so that its number can be reported
    return Blame(
        ("removed '" + node.name() + "', which '" + reader.name() + "' still reads").str());
  }
  if (IsPreserved(node)) {
    ++num_changes_;
    const char* why = IsFetched(node) ? "is fetched" : IsFed(node) ? "is fed" : "must stay";
    return Blame(("removed '" + node.name() + "', which " + why).str());
  }
  while (!node.uses().empty()) {
    Use use = node.uses().back();
    graph_.RemoveControlSlot(use.node, use.slot);
    Changed(graph_.node(use.node));
  }
  ++num_changes_;
  record_.removed.push_back(node.name_id());
  record_.used.push_back(node.name_id());
  record_.sources.push_back(node.id());
  if (function_) function_->changed = true;
  constants_.erase(node.id());
  for (Port port : node.inputs()) {
    if (port.node != kNoNode) Touch(graph_.node(port.node));
  }
  if (shapes_) stale_shapes_.push_back(node.id());
  graph_.RemoveNode(node.id());
  seen_version_ = graph_.version();
}

void Editor::RedirectPort(Port from, Port to) {
  Node node = graph_.node(from.node);
  if (!MayChange(node) || !MayRead(node, to)) return;
  for (const Use& use : node.UsesOf(from.index)) {
    graph_.SetInput(use.node, use.slot, to);
    Changed(graph_.node(use.node));
  }
  record_.used.push_back(node.name_id());
  record_.sources.push_back(node.id());
  Touch(node);
  Touch(graph_.node(to.node));
}

void Editor::RedirectNode(const Node& node, Port to) {
  if (!MayChange(node) || !MayRead(node, to)) return;
  llvm::SmallVector<Use, 8> uses(node.uses().begin(), node.uses().end());
  llvm::SmallVector<NodeId, 8> waiting;
  for (const Use& use : uses) {
    Node reader = graph_.node(use.node);
    if (static_cast<int>(use.slot) < reader.num_inputs()) {
      graph_.SetInput(use.node, use.slot, to);
      Changed(reader);
    } else {
      waiting.push_back(use.node);
    }
  }
  for (NodeId id : waiting) {
    graph_.RemoveControl(id, node.id());
    if (id != to.node) graph_.AddControl(id, to.node);
    Changed(graph_.node(id));
  }
  record_.used.push_back(node.name_id());
  record_.sources.push_back(node.id());
  Touch(node);
  Touch(graph_.node(to.node));
}

void Editor::SetOp(const Node& node, llvm::StringRef op) {
  if (!MayChange(node)) return;
  graph_.SetOp(node.id(), op);
  Changed(node);
}
void Editor::SetDevice(const Node& node, llvm::StringRef device) {
  if (!MayChange(node)) return;
  graph_.SetDevice(node.id(), device);
  Changed(node);
}
void Editor::AddInput(const Node& node, Port port) {
  if (!MayChange(node) || !MayRead(node, port)) return;
  graph_.AddInput(node.id(), port);
  Changed(node);
}
void Editor::SetInput(const Node& node, int slot, Port port) {
  Port old = node.input(slot);
  if (old == port) return;
  if (!MayChange(node) || !MayRead(node, port)) return;
  graph_.SetInput(node.id(), slot, port);
  if (old.node != kNoNode) Touch(graph_.node(old.node));
  Changed(node);
}
void Editor::RemoveInput(const Node& node, int slot) {
  if (!MayChange(node)) return;
  Port old = node.input(slot);
  graph_.RemoveInput(node.id(), slot);
  if (old.node != kNoNode) Touch(graph_.node(old.node));
  Changed(node);
}
void Editor::SetInputs(const Node& node, llvm::ArrayRef<Port> ports) {
  if (!MayChange(node)) return;
  if (!llvm::all_of(ports, [&](Port port) { return MayRead(node, port); })) return;
  for (Port port : node.inputs()) Touch(graph_.node(port.node));
  graph_.SetInputs(node.id(), ports);
  Changed(node);
}
void Editor::AddControl(const Node& node, const Node& from) {
  if (node == from || !MayChange(node) || !MayRead(node, {from.id(), kControlPort})) return;
  if (graph_.AddControl(node.id(), from.id())) Changed(node);
}
void Editor::RemoveControl(const Node& node, const Node& from) {
  if (!MayChange(node)) return;
  if (graph_.RemoveControl(node.id(), from.id())) {
    Changed(node);
    Touch(from);
  }
}
void Editor::AppendControl(const Node& node, const Node& from) {
  if (!MayChange(node) || !MayRead(node, {from.id(), kControlPort})) return;
  graph_.AppendControl(node.id(), from.id());
  Changed(node);
}
void Editor::SetControlSlot(const Node& node, int slot, const Node& from) {
  if (!MayChange(node) || (from && !MayRead(node, {from.id(), kControlPort}))) return;
  Node old = graph_.node(node.input(slot).node);
  if (from) {
    graph_.SetInput(node.id(), slot, {from.id(), kControlPort});
  } else {
    graph_.RemoveControlSlot(node.id(), slot);
  }
  Touch(old);
  Changed(node);
}
void Editor::CopyControls(const Node& node, const Node& from) {
  for (int i = 0; i < from.num_controls(); ++i) AddControl(node, from.control(i));
}
void Editor::SetAttr(const Node& node, llvm::StringRef key, llvm::StringRef value) {
  std::optional<AttrView> old = node.FindAttr(key);
  if (old && old->bytes() == value) return;
  if (!MayChange(node)) return;
  graph_.SetAttr(node.id(), key, value);
  Changed(node);
}
void Editor::RemoveAttr(const Node& node, llvm::StringRef key) {
  if (!node.FindAttr(key) || !MayChange(node)) return;
  graph_.RemoveAttr(node.id(), key);
  Changed(node);
}
void Editor::CopyAttrs(const Node& to, const Node& from) {
  if (!MayChange(to)) return;
  graph_.CopyAttrs(to.id(), from);
  Changed(to);
}

Function* Editor::AddFunction(llvm::StringRef name) {
  ++num_changes_;
  record_.functions.push_back(name.str());
  return module().AddFunction(name);
}
void Editor::DropUnreachableFunctions(bool choices) {
  std::vector<std::string> dropped = grapnel::DropUnreachableFunctions(module(), choices);
  num_changes_ += dropped.size();
  llvm::append_range(record_.functions, dropped);
}
void Editor::TouchedFunction(llvm::StringRef name) {
  ++num_changes_;
  record_.functions.push_back(name.str());
}

std::string Editor::NameInScope(llvm::StringRef name, llvm::StringRef prefix) {
  auto [scope, leaf] = name.rsplit('/');
  if (leaf.empty()) return (prefix + "/" + name).str();
  return (scope + "/" + prefix + "/" + leaf).str();
}

std::vector<std::string> Editor::OriginsOf(const Node& node) const {
  uint32_t latest = DerivationOf(node.id());
  if (latest == kFromTheStart) return {node.name().str()};
  std::vector<StringId> names;
  std::vector<bool> seen(derivations_.size());
  std::vector<uint32_t> open = {latest};
  seen[latest] = true;
  llvm::ArrayRef<uint32_t> all(derived_from_);
  while (!open.empty()) {
    uint32_t number = open.back();
    open.pop_back();
    auto [from, steps] = derivations_[number];
    size_t end = number + 1 < derivations_.size() ? derivations_[number + 1].names : all.size();
    llvm::append_range(names, all.slice(from, steps - from));
    for (uint32_t earlier : all.slice(steps, end - steps)) {
      if (!seen[earlier]) open.push_back(earlier);
      seen[earlier] = true;
    }
  }
  return SortedNames(graph_.module().strings, names);
}

void Editor::StartPass(llvm::StringRef pass, int iteration, llvm::StringRef only_rule,
                       std::vector<std::string> without) {
  pass_ = pass.str();
  only_rule_ = only_rule.str();
  without_ = std::move(without);
  iteration_ = iteration;
  starts_pass_ = true;
  TrustFeeds(false);
  fault_.reset();
  NoticeChanges();  // that a pass over another body made
  touched_.clear();
}

std::vector<NodeId> Editor::TakeTouched() {
  std::vector<NodeId> touched = std::move(touched_);
  touched_.clear();
  return touched;
}

}  // namespace grapnel
