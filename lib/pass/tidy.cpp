#include "lib/pass/tidy.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr const char* kClass = "_class";
constexpr const char* kPrefix = "loc:@";

// True if all elements are bitwise equal, but each is stored.
bool IsWordySplat(const Literal& value) {
  constexpr int64_t kLeast = 64;
  if (value.num_elements() < kLeast || value.is_splat()) return false;
  size_t size = DataTypeSize(value.dtype());
  llvm::StringRef bytes = value.bytes();
  if (size == 0 || bytes.size() < 2 * size) return false;
  return bytes.drop_front(size) == bytes.drop_back(size);
}

// Disjoint sets of names.
class Groups {
 public:
  StringId RootOf(StringId name) {
    auto [it, added] = parent_.try_emplace(name, name);
    if (added) names_.push_back(name);
    StringId root = it->second;
    while (parent_[root] != root) root = parent_[root];
    while (parent_[name] != root) {
      StringId next = parent_[name];
      parent_[name] = root;
      name = next;
    }
    return root;
  }
  void Join(StringId name, StringId other) {
    StringId root = RootOf(name), other_root = RootOf(other);
    parent_[other_root] = root;
  }
  const std::vector<StringId>& names() const { return names_; }  // in insertion order

 private:
  llvm::DenseMap<StringId, StringId> parent_;
  std::vector<StringId> names_;
};

}  // namespace

void CompressConstants(Editor& edit) {
  StringId constant = edit.module().strings.Find("Const"),
           host_constant = edit.module().strings.Find("HostConst");
  for (Node node : edit.graph().nodes()) {
    if (node.op_id() != constant && node.op_id() != host_constant) continue;
    std::optional<AttrView> value = node.FindAttr("value");
    auto tensor = value ? value->AsTensor() : std::nullopt;
    constexpr size_t kLeastBytes = 64;
    if (!tensor || tensor->size() < kLeastBytes) continue;
    auto literal = Literal::FromTensorProto(*tensor);
    if (!literal) {
      llvm::consumeError(literal.takeError());
      continue;
    }
    if (!IsWordySplat(*literal)) continue;
    if (!edit.Begin("compress_constant", node)) return;
    edit.SetAttr(node, "value", attr::Tensor(literal->ToTensorProto(/*compress=*/true)));
    edit.End();
  }
}

bool HasColocations(Graph& graph) {
  if (!graph.MayHaveAttr(kClass)) return false;
  for (Node node : graph.nodes()) {
    if (node.FindAttr(kClass)) return true;
  }
  return false;
}

void ReassignColocations(Editor& edit) {
  Graph& graph = edit.graph();
  StringTable& strings = edit.module().strings;
  Groups groups;
  for (NodeId id : edit.NodesInOrder()) {
    std::optional<AttrView> attr = graph.node(id).FindAttr(kClass);
    auto places = attr ? attr->AsStrings() : std::nullopt;
    if (!places) continue;
    for (llvm::StringRef place : *places) {
      if (place.consume_front(kPrefix))
        groups.Join(graph.node(id).name_id(), strings.Intern(place));
    }
  }
  llvm::MapVector<StringId, std::vector<NodeId>> members;  // by root, in insertion order
  for (StringId name : groups.names()) {
    if (Node node = graph.Find(name)) members[groups.RootOf(name)].push_back(node.id());
  }
  for (const auto& [root, ids] : members) {
    if (!edit.Begin("reassign_colocation", graph.node(ids.front()))) return;
    std::string place = kPrefix + strings.Get(root).str();
    for (NodeId id : ids) {
      Node node = graph.node(id);
      if (node.name_id() == root) {
        edit.RemoveAttr(node, kClass);
      } else {
        edit.SetAttr(node, kClass, attr::Strings({place}));
      }
    }
    edit.End();
  }
}

}  // namespace grapnel
