// Attributes of nodes. They are read from the bytes of the file; once one changes, all attributes
// of the node are stored separately.
#include <algorithm>
#include <array>
#include <cassert>

#include "lib/ir/graph.h"
#include "lib/ir/module.h"
#include "lib/ir/op_table.h"
#include "lib/ir/wire.h"

namespace grapnel {
namespace {

// Reads an entry of NodeDef.attr (field 5): a map entry with key 1 and value 2.
bool ReadAttrEntry(llvm::StringRef entry, llvm::StringRef* key, llvm::StringRef* value) {
  *key = *value = {};
  WireReader reader(entry);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) *key = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) *value = reader.bytes();
  }
  return !reader.failed();
}

// Reads a length below 2^28 and advances `at`; only some constants are longer. Otherwise returns
// false and leaves `at` unchanged.
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

// Reads the attribute at `at` if its lengths take one byte each, as most do, and advances `at`.
// Otherwise, and where ReadPlainEntry would return false, returns false.
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

// Reads the attribute at `at`, if it is in the form that all known writers use (the key, then the
// value, nothing else), and advances `at`. Returns false for other forms, damaged entries and other
// fields.
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

// Compares sizes and last characters before the whole keys: most keys differ there, and many keys
// are one character long.
bool IsKey(llvm::StringRef key, llvm::StringRef wanted) {
  if (key.size() != wanted.size()) return false;
  if (key.empty()) return true;
  return key.back() == wanted.back() && (key.size() == 1 || key == wanted);
}

// Calls `visit` for the attributes in `fields`, the end of a NodeDef. Few or no other fields come
// after them.
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
  bool in_order = true;  // as usual in files
  for (size_t i = 1; i < attrs.size() && in_order; ++i)
    in_order = attrs[i - 1].first < attrs[i].first;
  if (in_order) return attrs;
  // If a key occurs several times, its last value counts, as in protobuf's maps.
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
  // The attribute bytes seen last, by the low digits of the op's id. A node with the same bytes has
  // no new keys, and most nodes of an op have the same.
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

void Graph::SetRest(NodeId id, llvm::StringRef node_def) {
  Text& text = texts_[id];
  ++version_;
  text.source = node_def.data();
  text.source_size = node_def.size();
  text.attrs_at = 0;
  text.attrs = -1;
  text.shares_attrs = false;
  Mark(id);
  if (attr_keys_)
    VisitAttrs(node_def, [&](llvm::StringRef key, llvm::StringRef) { AddAttrKey(key); });
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

}  // namespace grapnel
