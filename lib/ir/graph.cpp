#include "lib/ir/graph.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <queue>

#include "lib/ir/module.h"
#include "lib/ir/op_table.h"
#include "lib/ir/wire.h"
#include "lib/support/memory.h"
#include "llvm/ADT/BitVector.h"

namespace grapnel {
namespace {

// NodeDef.attr is field 5: a map entry with key 1 and value 2.
bool ReadAttrEntry(llvm::StringRef entry, llvm::StringRef* key, llvm::StringRef* value) {
  *key = *value = {};
  WireReader reader(entry);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) *key = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) *value = reader.bytes();
  }
  return !reader.failed();
}

// A length below 2^28, as all but constants have it; nothing else moves `at`.
bool ReadLength(const char*& at, const char* end, uint32_t* length) {
  uint32_t value = 0;
  const char* next = at;
  for (int shift = 0; shift < 28 && next != end; shift += 7) {
    uint8_t byte = static_cast<uint8_t>(*next++);
    value |= static_cast<uint32_t>(byte & 0x7F) << shift;
    if (byte >= 0x80) continue;
    *length = value;
    at = next;
    return true;
  }
  return false;
}

// Key and value of the entry at `at` where each length is a byte, as of nearly all; then `at` is
// after it. False: it is longer, or for the reasons of ReadPlainEntry.
bool ReadShortEntry(const char*& at, const char* end, llvm::StringRef* key,
                    llvm::StringRef* value) {
  constexpr char kEntry = 0x2A, kKey = 0x0A, kValue = 0x12;
  constexpr ptrdiff_t kHeads = 4, kLeast = 2 + kHeads;
  if (end - at < kLeast || at[0] != kEntry || at[2] != kKey) return false;
  auto length_at = [](const char* place) { return static_cast<uint8_t>(*place); };
  uint8_t size = length_at(at + 1), key_size = length_at(at + 3);
  if (size >= 0x80 || key_size + kHeads > size || end - at < 2 + size) return false;
  const char* value_head = at + 4 + key_size;
  uint8_t value_size = length_at(value_head + 1);
  if (value_head[0] != kValue || key_size + kHeads + value_size != size) return false;
  *key = llvm::StringRef(at + 4, key_size);
  *value = llvm::StringRef(value_head + 2, value_size);
  at += 2 + size;
  return true;
}

// Key and value of the entry at `at` as all writers write it, key before value and nothing else;
// then `at` is after it. False: it is written otherwise, or damaged, or is no attribute.
bool ReadPlainEntry(const char*& at, const char* end, llvm::StringRef* key,
                    llvm::StringRef* value) {
  constexpr char kEntry = 0x2A, kKey = 0x0A, kValue = 0x12;
  if (at == end || *at != kEntry) return false;
  const char* next = at + 1;
  uint32_t size, key_size, value_size;
  if (!ReadLength(next, end, &size) || size > end - next) return false;
  const char* entry_end = next + size;
  if (next == entry_end || *next++ != kKey) return false;
  if (!ReadLength(next, entry_end, &key_size) || key_size >= entry_end - next) return false;
  *key = llvm::StringRef(next, key_size);
  next += key_size;
  if (*next++ != kValue || !ReadLength(next, entry_end, &value_size)) return false;
  if (entry_end - next != static_cast<ptrdiff_t>(value_size)) return false;
  *value = llvm::StringRef(next, value_size);
  at = entry_end;
  return true;
}

// Most keys differ in their size or in their last character; many are a single one.
bool IsKey(llvm::StringRef key, llvm::StringRef wanted) {
  if (key.size() != wanted.size()) return false;
  if (key.empty()) return true;
  return key.back() == wanted.back() && (key.size() == 1 || key == wanted);
}

// The attributes among the fields of a NodeDef, which are its last or stand before few others.
template <typename Visit>
void VisitAttrs(llvm::StringRef fields, Visit visit) {
  const char *at = fields.begin(), *end = fields.end();
  llvm::StringRef key, value;
  while (at != end) {
    if (ReadShortEntry(at, end, &key, &value) || ReadPlainEntry(at, end, &key, &value)) {
      visit(key, value);
      continue;
    }
    WireReader reader({at, static_cast<size_t>(end - at)});
    if (!reader.Next()) return;
    if (reader.Is(5, WireType::kBytes) && ReadAttrEntry(reader.bytes(), &key, &value))
      visit(key, value);
    at += reader.offset();
  }
}

}  // namespace

llvm::StringRef Node::DanglingText(int slot) const {
  const NodeTable::Edge& edge = table_->nodes_[id_].edges[slot];
  return edge.node == kNoNode ? table_->strings_.Get(edge.use) : llvm::StringRef();
}

llvm::SmallVector<Use, 4> Node::UsesOf(int port) const {
  llvm::SmallVector<Use, 4> result;
  for (const Use& use : uses()) {
    if (table_->nodes_[use.node].edges[use.slot].port == port) result.push_back(use);
  }
  return result;
}

std::optional<AttrView> Node::FindAttr(llvm::StringRef key) const {
  const NodeTable::Text& text = table_->texts_[id_];
  std::optional<AttrView> found;
  if (text.attrs >= 0) {
    for (const NodeTable::Attribute& attribute : table_->attrs_[text.attrs]) {
      if (IsKey(table_->strings_.Get(attribute.key), key)) found = AttrView(attribute.value);
    }
    return found;
  }
  VisitAttrs(table_->FieldsFromAttrs(id_), [&](llvm::StringRef k, llvm::StringRef value) {
    if (IsKey(k, key)) found = AttrView(value);
  });
  return found;
}

std::optional<AttrView> Node::Attr(llvm::StringRef key) const {
  if (std::optional<AttrView> found = FindAttr(key)) return found;
  const OpInfo* info = FindOp(op());
  const OpAttr* attr = info ? info->FindAttr(key) : nullptr;
  if (attr && attr->default_value) return AttrView(*attr->default_value);
  return std::nullopt;
}

DataType Node::GetType(llvm::StringRef key, DataType otherwise) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsType().value_or(otherwise) : otherwise;
}
int64_t Node::GetInt(llvm::StringRef key, int64_t otherwise) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsInt().value_or(otherwise) : otherwise;
}
float Node::GetFloat(llvm::StringRef key, float otherwise) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsFloat().value_or(otherwise) : otherwise;
}
bool Node::GetBool(llvm::StringRef key, bool otherwise) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsBool().value_or(otherwise) : otherwise;
}
std::string Node::GetString(llvm::StringRef key, llvm::StringRef otherwise) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsString().value_or(otherwise).str() : otherwise.str();
}
std::vector<int64_t> Node::GetInts(llvm::StringRef key) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsInts().value_or(std::vector<int64_t>()) : std::vector<int64_t>();
}

void Node::ForEachAttr(llvm::function_ref<void(llvm::StringRef, AttrView)> visit) const {
  const NodeTable::Text& text = table_->texts_[id_];
  if (text.attrs >= 0) {
    for (const NodeTable::Attribute& a : table_->attrs_[text.attrs])
      visit(table_->strings_.Get(a.key), AttrView(a.value));
  } else {
    VisitAttrs(table_->FieldsFromAttrs(id_),
               [&](llvm::StringRef key, llvm::StringRef value) { visit(key, AttrView(value)); });
  }
}

std::vector<std::pair<llvm::StringRef, AttrView>> Node::Attrs() const {
  constexpr size_t kMostlyEnough = 8;
  std::vector<std::pair<llvm::StringRef, AttrView>> attrs;
  attrs.reserve(kMostlyEnough);
  const NodeTable::Text& text = table_->texts_[id_];
  if (text.attrs >= 0) {
    for (const NodeTable::Attribute& a : table_->attrs_[text.attrs]) {
      attrs.emplace_back(table_->strings_.Get(a.key), AttrView(a.value));
    }
  } else {
    VisitAttrs(table_->FieldsFromAttrs(id_), [&](llvm::StringRef key, llvm::StringRef value) {
      attrs.emplace_back(key, AttrView(value));
    });
  }
  bool in_order = true;  // as writers leave them
  for (size_t i = 1; i < attrs.size() && in_order; ++i)
    in_order = attrs[i - 1].first < attrs[i].first;
  if (in_order) return attrs;
  // Of two entries with one key the last counts, as in protobuf's maps.
  std::stable_sort(attrs.begin(), attrs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t kept = 0;
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (i + 1 == attrs.size() || attrs[i + 1].first != attrs[i].first) attrs[kept++] = attrs[i];
  }
  attrs.resize(kept);
  return attrs;
}

std::optional<llvm::StringRef> Graph::AttrBytes(NodeId id) const {
  if (texts_[id].attrs >= 0) return std::nullopt;
  constexpr char kAttr = 0x2A;
  llvm::StringRef fields = FieldsFromAttrs(id);
  if (!fields.empty() && fields[0] == kAttr) return fields;
  WireReader reader(fields);
  while (reader.Next()) {
    if (reader.field() == 5) return fields.drop_front(reader.whole_field().data() - fields.data());
  }
  return llvm::StringRef();
}

bool Graph::MayHaveAttr(llvm::StringRef key) {
  if (attr_keys_) return attr_keys_->contains(key);
  attr_keys_.emplace();
  constexpr size_t kShort = 256, kOps = 64;
  // Attributes whose keys are known, by the last digits of the op: most nodes of one have the same.
  std::array<llvm::StringRef, kOps> known;
  for (Node node : nodes()) {
    llvm::StringRef& latest = known[node.op_id() % kOps];
    std::optional<llvm::StringRef> bytes = AttrBytes(node.id());
    bool is_short = bytes && bytes->size() < kShort;
    if (is_short && *bytes == latest) continue;
    node.ForEachAttr([&](llvm::StringRef k, AttrView) { AddAttrKey(k); });
    if (is_short) latest = *bytes;
  }
  return attr_keys_->contains(key);
}

Graph::Graph(Module* module, const Function* function)
    : NodeTable(module->strings),
      module_(module),
      function_(function),
      version_(FirstVersion()),
      changes_from_(version_) {}

uint64_t Graph::FirstVersion() {
  static std::atomic<uint64_t> graphs{0};
  return graphs.fetch_add(1, std::memory_order_relaxed) << kBitsOfChanges;
}

Node Graph::Find(llvm::StringRef name) const {
  StringId id = module_->strings.Find(name);
  return id == kNoString ? Node(this, kNoNode) : Find(id);
}

Node Graph::Find(StringId name) const {
  auto it = by_name_.find(name);
  return Node(this, it == by_name_.end() ? kNoNode : it->second);
}

void Graph::Reserve(size_t nodes) {
  // Optimizers add some: then all of it would move. What is not filled takes no memory.
  size_t some_more = nodes + nodes / 4;
  nodes_.reserve(some_more);
  texts_.reserve(some_more);
  alive_.reserve(some_more);
  UseHugePages(nodes_.data() + nodes_.size(), (nodes - nodes_.size()) * sizeof(Data));
  UseHugePages(texts_.data() + texts_.size(), (nodes - texts_.size()) * sizeof(Text));
  by_name_.reserve(nodes);
}

void Graph::CopyNodes(const Graph& original,
                      llvm::function_ref<llvm::StringRef(llvm::StringRef)> share) {
  ++version_;
  nodes_ = original.nodes_;
  texts_ = original.texts_;
  alive_ = original.alive_;
  attrs_ = original.attrs_;
  by_name_ = original.by_name_;
  num_alive_ = original.num_alive_;
  ForgetChanges();
  attr_keys_.reset();
  for (Text& text : texts_) {
    if (text.source) text.source = share({text.source, text.source_size}).data();
  }
  for (std::vector<Attribute>& attrs : attrs_) {
    for (Attribute& attr : attrs) attr.value = share(attr.value);
  }
}

NodeId Graph::AddNode(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device) {
  StringTable& strings = module_->strings;
  StringId name_id = strings.Intern(name);
  NodeId id = Append(name_id, strings.Intern(op), strings.Intern(device), {}, nullptr, 0);
  assert(by_name_[name_id] == id && "the name is taken");
  Mark(id);
  return id;
}

NodeId Graph::AddImported(StringId name, StringId op, StringId device, llvm::StringRef source,
                          bool* name_taken, size_t attrs_at) {
  NodeId id = Append(name, op, device, source, name_taken, attrs_at);
  ForgetChanges();
  attr_keys_.reset();
  return id;
}

NodeId Graph::Append(StringId name, StringId op, StringId device, llvm::StringRef source,
                     bool* name_taken, size_t attrs_at) {
  ++version_;
  NodeId id = nodes_.size();
  nodes_.emplace_back().op = op;
  alive_.push_back(1);
  Text& text = texts_.emplace_back();
  text.name = name;
  text.device = device;
  text.source = source.data();
  text.source_size = source.size();
  text.attrs_at = attrs_at;
  text.version = version_;
  bool is_new = by_name_.try_emplace(name, id).second;
  if (name_taken) *name_taken = !is_new;
  ++num_alive_;
  return id;
}

void Graph::AddChange(NodeId id) {
  constexpr size_t kLeast = 256;
  if (changes_.size() >= kLeast + nodes_.size() / 4) ForgetChanges();
  changes_.push_back({version_, id});
}

void Graph::ForgetChanges() {
  changes_.clear();
  changes_from_ = version_;
}

std::vector<NodeId> Graph::ChangedSince(uint64_t since) const {
  std::vector<NodeId> changed;
  if (since < changes_from_) {
    for (Node node : nodes()) {
      if (VersionOf(node.id()) > since) changed.push_back(node.id());
    }
    return changed;
  }
  auto first = std::partition_point(changes_.begin(), changes_.end(),
                                    [&](const Change& change) { return change.version <= since; });
  llvm::BitVector is_changed(nodes_.size());
  for (auto at = first; at != changes_.end(); ++at) is_changed[at->node] = alive_[at->node];
  for (NodeId id : is_changed.set_bits()) changed.push_back(id);
  return changed;
}

Graph::Edge Graph::MakeEdge(NodeId reader, uint32_t slot, Port port) {
  assert(IsAlive(port.node));
  std::vector<Data>& nodes = nodes_;
  uint32_t use = nodes[port.node].uses.size();
  nodes[port.node].uses.push_back({reader, slot});
  return {port.node, port.index, use};
}

// Forgets the use of a live edge; the last use takes its place.
void Graph::DropUse(const Edge& edge) {
  if (edge.node == kNoNode) return;
  auto& uses = nodes_[edge.node].uses;
  uint32_t last = uses.size() - 1;
  if (edge.use != last) {
    uses[edge.use] = uses[last];
    nodes_[uses[edge.use].node].edges[uses[edge.use].slot].use = edge.use;
  }
  uses.pop_back();
}

void Graph::RemoveEdge(NodeId id, uint32_t slot) {
  ++version_;
  Data& data = nodes_[id];
  DropUse(data.edges[slot]);
  if (slot < data.num_data) --data.num_data;
  for (uint32_t i = slot; i + 1 < data.edges.size(); ++i) {
    data.edges[i] = data.edges[i + 1];
    if (data.edges[i].node != kNoNode) nodes_[data.edges[i].node].uses[data.edges[i].use].slot = i;
  }
  data.edges.pop_back();
  Mark(id);
}

void Graph::RemoveNode(NodeId id) {
  ++version_;
  Data& data = nodes_[id];
  assert(alive_[id] && data.uses.empty() && "a node that is read cannot go");
  for (const Edge& edge : data.edges) DropUse(edge);
  data.edges.clear();
  data.num_data = 0;
  alive_[id] = 0;
  auto it = by_name_.find(texts_[id].name);
  if (it != by_name_.end() && it->second == id) by_name_.erase(it);
  --num_alive_;
}

void Graph::SetOp(NodeId id, llvm::StringRef op) {
  ++version_;
  // What the source says of attributes stays with the old op.
  if (!SharesAttrs(id)) OwnAttrs(id);
  nodes_[id].op = module_->strings.Intern(op);
  Mark(id);
  // In a function's body readers name the output, and another op calls it otherwise.
  if (this == &module_->main) return;
  for (const Use& use : nodes_[id].uses) Mark(use.node);
}

void Graph::SetDevice(NodeId id, llvm::StringRef device) {
  ++version_;
  texts_[id].device = module_->strings.Intern(device);
  Mark(id);
}

void Graph::Rename(NodeId id, llvm::StringRef name) {
  ++version_;
  Text& text = texts_[id];
  auto it = by_name_.find(text.name);
  if (it != by_name_.end() && it->second == id) by_name_.erase(it);
  text.name = module_->strings.Intern(name);
  by_name_.try_emplace(text.name, id);  // where a damaged graph has a name twice, it is the first's
  Mark(id);
  for (const Use& use : nodes_[id].uses) Mark(use.node);
}

void Graph::AddInput(NodeId id, Port port) {
  ++version_;
  uint32_t slot = nodes_[id].num_data;
  Edge edge = MakeEdge(id, slot, port);
  Data& data = nodes_[id];
  data.edges.insert(slot, edge);
  ++data.num_data;
  for (uint32_t i = slot + 1; i < data.edges.size(); ++i) {
    if (data.edges[i].node != kNoNode) nodes_[data.edges[i].node].uses[data.edges[i].use].slot = i;
  }
  Mark(id);
}

void Graph::SetInput(NodeId id, int slot, Port port) {
  ++version_;
  Data& data = nodes_[id];
  if (data.edges[slot].node == port.node && data.edges[slot].port == port.index) return;
  DropUse(data.edges[slot]);
  data.edges[slot] = MakeEdge(id, slot, port);
  Mark(id);
}

void Graph::RemoveInput(NodeId id, int slot) { RemoveEdge(id, slot); }

bool Graph::AddControl(NodeId id, NodeId from) {
  Data& data = nodes_[id];
  if (nodes_[from].uses.size() < data.edges.size()) {
    for (const Use& use : nodes_[from].uses) {
      if (use.node == id && use.slot >= data.num_data) return false;
    }
  } else {
    for (uint32_t i = data.num_data; i < data.edges.size(); ++i) {
      if (data.edges[i].node == from) return false;
    }
  }
  AppendControl(id, from);
  return true;
}

void Graph::AppendControl(NodeId id, NodeId from) {
  ++version_;
  Data& data = nodes_[id];
  Edge edge = MakeEdge(id, data.edges.size(), {from, kControlPort});
  data.edges.push_back(edge);
  Mark(id);
}

bool Graph::RemoveControl(NodeId id, NodeId from) {
  bool removed = false;
  for (uint32_t i = nodes_[id].edges.size(); i-- > nodes_[id].num_data;) {
    if (nodes_[id].edges[i].node == from) {
      RemoveEdge(id, i);
      removed = true;
    }
  }
  return removed;
}

void Graph::RemoveControlSlot(NodeId id, uint32_t slot) {
  ++version_;
  Data& data = nodes_[id];
  assert(slot >= data.num_data && "a data input has its place");
  DropUse(data.edges[slot]);
  if (slot + 1 < data.edges.size()) {
    data.edges[slot] = data.edges.back();
    if (data.edges[slot].node != kNoNode)
      nodes_[data.edges[slot].node].uses[data.edges[slot].use].slot = slot;
  }
  data.edges.pop_back();
  Mark(id);
}

void Graph::SetInputs(NodeId id, llvm::ArrayRef<Port> ports) {
  ++version_;
  Data& data = nodes_[id];
  for (const Edge& edge : data.edges) DropUse(edge);
  data.edges.clear();
  data.num_data = 0;
  for (Port port : ports) {
    assert((port.IsControl() || data.num_data == data.edges.size()) && "control inputs come last");
    Edge edge = MakeEdge(id, data.edges.size(), port);
    data.edges.push_back(edge);
    data.num_data += !port.IsControl();
  }
  Mark(id);
}

void Graph::AddImportedInput(NodeId id, Port port, llvm::StringRef text, bool control) {
  ++version_;
  bool after_controls = !control && nodes_[id].edges.size() != nodes_[id].num_data;
  if (port.node != kNoNode && after_controls) {
    bool was_changed = texts_[id].changed;
    AddInput(id, port);
    texts_[id].changed = was_changed;
    return;
  }
  uint32_t slot = nodes_[id].edges.size();
  Edge edge = {kNoNode, control ? kControlPort : 0, 0};
  if (port.node != kNoNode) {
    edge = MakeEdge(id, slot, port);
  } else if (after_controls) {
    return;  // broken twice over; the problem is on record
  } else {
    edge.use = module_->strings.Intern(text);
  }
  nodes_[id].edges.push_back(edge);
  nodes_[id].num_data += !control;
}

std::vector<Graph::Attribute>& Graph::OwnAttrs(NodeId id) {
  ++version_;
  Text& text = texts_[id];
  if (text.attrs < 0) {
    std::vector<Attribute> own;
    VisitAttrs(FieldsFromAttrs(id), [&](llvm::StringRef key, llvm::StringRef value) {
      StringId key_id = module_->strings.Intern(key);
      for (Attribute& a : own) {
        if (a.key == key_id) {
          a.value = value;
          return;
        }
      }
      own.push_back({key_id, value});
    });
    text.attrs = attrs_.size();
    attrs_.push_back(std::move(own));
  }
  Mark(id);
  return attrs_[text.attrs];
}

void Graph::SetAttr(NodeId id, llvm::StringRef key, llvm::StringRef value) {
  SetAttr(id, key, llvm::ArrayRef<llvm::StringRef>(value));
}

llvm::StringRef Graph::SetAttr(NodeId id, llvm::StringRef key,
                               llvm::ArrayRef<llvm::StringRef> pieces) {
  std::vector<Attribute>& own = OwnAttrs(id);
  StringId key_id = module_->strings.Intern(key);
  llvm::StringRef kept = module_->Keep(pieces);
  for (Attribute& a : own) {
    if (a.key == key_id) {
      a.value = kept;
      return kept;
    }
  }
  AddAttrKey(module_->strings.Get(key_id));
  constexpr size_t kMostlyEnough = 8;
  if (own.size() == own.capacity()) own.reserve(std::max(kMostlyEnough, 2 * own.size()));
  own.push_back({key_id, kept});
  return kept;
}

void Graph::RemoveAttr(NodeId id, llvm::StringRef key) {
  std::vector<Attribute>& own = OwnAttrs(id);
  StringId key_id = module_->strings.Find(key);  // after OwnAttrs, which interns the node's keys
  own.erase(
      std::remove_if(own.begin(), own.end(), [&](const Attribute& a) { return a.key == key_id; }),
      own.end());
}

void Graph::ShareAttrs(NodeId id, llvm::StringRef bytes) {
  Text& text = texts_[id];
  assert(text.attrs < 0 && (!text.source || text.shares_attrs) && "it has attributes of its own");
  ++version_;
  text.source = bytes.data();
  text.source_size = bytes.size();
  text.shares_attrs = true;
  text.attrs_at = 0;
  Mark(id);
  if (attr_keys_) VisitAttrs(bytes, [&](llvm::StringRef key, llvm::StringRef) { AddAttrKey(key); });
}

void Graph::CopyAttrs(NodeId to, const Node& from) {
  assert(&from.graph().module() == module_);
  const Text& text = texts_[to];
  const Text& other = from.graph().texts_[from.id()];
  if (other.shares_attrs && other.attrs < 0 && text.attrs < 0 && !text.source)
    return ShareAttrs(to, from.graph().Bytes(from.id()));
  std::vector<Attribute> copied;
  for (const auto& [key, value] : from.Attrs()) {
    copied.push_back({module_->strings.Intern(key), value.bytes()});
    AddAttrKey(module_->strings.Get(copied.back().key));
  }
  OwnAttrs(to) = std::move(copied);
}

std::string Graph::UniqueName(llvm::StringRef base) const {
  std::string name = base.str();
  for (int i = 1; Find(name); ++i) name = (base + "_" + llvm::Twine(i)).str();
  return name;
}

llvm::StringRef Graph::UnchangedSource(NodeId id) const {
  return texts_[id].changed ? llvm::StringRef() : Source(id);
}

std::vector<NodeId> TopologicalOrder(const Graph& graph) {
  StringId merge = graph.module().strings.Find("Merge"),
           ref_merge = graph.module().strings.Find("RefMerge");
  StringId next = graph.module().strings.Find("NextIteration"),
           ref_next = graph.module().strings.Find("RefNextIteration");
  auto is_back_edge = [&](Node from, Node to) {
    return (from.op_id() == next || from.op_id() == ref_next) &&
           (to.op_id() == merge || to.op_id() == ref_merge);
  };
  std::vector<NodeId> order;
  order.reserve(graph.num_nodes());
  std::vector<uint32_t> waiting(graph.end_id(), 0);
  bool is_in_order = true;
  for (Node node : graph.nodes()) {
    uint32_t count = 0;
    for (int slot = 0, slots = node.num_inputs() + node.num_controls(); slot < slots; ++slot) {
      NodeId from = node.input(slot).node;
      if (from == kNoNode || is_back_edge(graph.node(from), node)) continue;
      ++count;
      is_in_order = is_in_order && from < node.id();
    }
    waiting[node.id()] = count;
    order.push_back(node.id());
  }
  if (is_in_order) return order;  // then the smallest id that is left is always ready
  order.clear();
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (Node node : graph.nodes()) {
    if (waiting[node.id()] == 0) ready.push(node.id());
  }
  while (!ready.empty()) {
    NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    Node node = graph.node(id);
    for (const Use& use : node.uses()) {
      if (is_back_edge(node, graph.node(use.node))) continue;
      if (--waiting[use.node] == 0) ready.push(use.node);
    }
  }
  return order;
}

}  // namespace grapnel
