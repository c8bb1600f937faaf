#include "lib/diff/body_view.h"

#include "lib/ir/tensor_name.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

// Removes the numbers at the end: "conv2d_7_1" becomes "conv2d"; a component that is only a number
// stays.
llvm::StringRef WithoutEndNumbers(llvm::StringRef part) {
  while (true) {
    size_t stem = part.size();
    while (stem > 0 && llvm::isDigit(part[stem - 1])) --stem;
    if (stem == part.size() || stem < 2 || part[stem - 1] != '_') return part;
    part = part.take_front(stem - 1);
  }
}

void WriteNameClass(llvm::StringRef name, llvm::SmallVectorImpl<char>* out) {
  for (llvm::StringRef prefix : {"__inference_", "__forward_", "__backward_"}) {
    if (name.consume_front(prefix)) break;
  }
  while (true) {
    size_t slash = name.find('/');
    llvm::StringRef stem = WithoutEndNumbers(name.take_front(slash));
    out->append(stem.begin(), stem.end());
    if (slash == llvm::StringRef::npos) return;
    out->push_back('/');
    name = name.drop_front(slash + 1);
  }
}

}  // namespace

uint64_t HashText(llvm::StringRef text) {
  return llvm::xxh3_64bits(llvm::ArrayRef<uint8_t>(text.bytes_begin(), text.bytes_end()));
}

std::string NameClass(llvm::StringRef name) {
  llvm::SmallString<128> out;
  WriteNameClass(name, &out);
  return out.str().str();
}

BodyView::BodyView(const Graph& graph, const Function* function, bool names_only)
    : graph_(&graph), function_(function) {
  ReadNodes(/*with_classes=*/!names_only);
  ReadEdges();
  if (!names_only) Order();
}

void BodyView::ReadNodes(bool with_classes) {
  size_t n = graph_->num_nodes();
  ids_.reserve(n);
  names_.reserve(n);
  if (with_classes) name_classes_.reserve(n);
  ops_.reserve(n);
  index_of_.assign(graph_->end_id(), kNobody);
  struct Op {
    uint64_t hash;
    bool feeds_back, merges;
  };
  llvm::DenseMap<StringId, Op> ops;
  llvm::SmallString<128> name_class;
  for (Node node : graph_->nodes()) {
    index_of_[node.id()] = static_cast<int32_t>(ids_.size());
    ids_.push_back(node.id());
    llvm::StringRef name = node.name();
    names_.push_back(HashText(name));
    if (with_classes) {
      name_class.clear();
      WriteNameClass(name, &name_class);
      name_classes_.push_back(HashText(name_class));
    }
    auto [it, added] = ops.try_emplace(node.op_id());
    if (added) {
      llvm::StringRef op = node.op();
      it->second = {HashText(op), op == "NextIteration" || op == "RefNextIteration",
                    op == "Merge" || op == "RefMerge"};
    }
    ops_.push_back(it->second.hash);
    feeds_back_.push_back(it->second.feeds_back);
    merges_.push_back(it->second.merges);
  }
}

// Finds the node that a dangling input means. In a function, "node:output:1" may name an existing
// node and an output that the node's op does not have, for example after a user changed the op. The
// input then counts as an input from that node.
Port BodyView::PortOfBroken(llvm::StringRef text) const {
  TensorName name = ReadFunctionTensorName(text);
  Node node = graph_->Find(name.node);
  return {node ? node.id() : kNoNode, name.index};
}

void BodyView::ReadEdges() {
  size_t n = ids_.size();
  in_begin_.assign(n + 1, 0);
  out_begin_.assign(n + 1, 0);
  num_data_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    Node node = graph_->node(ids_[i]);
    num_data_[i] = node.num_inputs();
    int slots = node.num_inputs() + node.num_controls();
    for (int slot = 0; slot < slots; ++slot) {
      Port port = node.input(slot);
      bool control = slot >= node.num_inputs();
      if (port.node == kNoNode && !control) port = PortOfBroken(node.DanglingText(slot));
      int32_t source = port.node == kNoNode ? kNobody : index_of_[port.node];
      ins_.push_back({source, control ? kControlPort : port.index});
      if (source != kNobody) ++out_begin_[source + 1];
    }
    in_begin_[i + 1] = static_cast<uint32_t>(ins_.size());
  }
  for (size_t i = 0; i < n; ++i) out_begin_[i + 1] += out_begin_[i];
  outs_.resize(out_begin_[n]);
  std::vector<uint32_t> next(out_begin_.begin(), out_begin_.end() - 1);
  for (size_t i = 0; i < n; ++i) {
    for (uint32_t at = in_begin_[i]; at < in_begin_[i + 1]; ++at) {
      const In& in = ins_[at];
      if (in.node == kNobody) continue;
      int32_t slot = in.port == kControlPort ? kControlPort : int32_t(at - in_begin_[i]);
      outs_[next[in.node]++] = {static_cast<int32_t>(i), slot, in.port};
    }
  }
}

void BodyView::Order() {
  int32_t n = size();
  std::vector<int32_t> waits(n, 0);
  for (int32_t i = 0; i < n; ++i) {
    for (const Out& out : Readers(i)) waits[out.node] += !IsBackEdge(i, out.node);
  }
  order_.reserve(n);
  for (int32_t i = 0; i < n; ++i) {
    if (waits[i] == 0) order_.push_back(i);
  }
  for (size_t at = 0; at < order_.size(); ++at) {
    for (const Out& out : Readers(order_[at])) {
      if (!IsBackEdge(order_[at], out.node) && --waits[out.node] == 0) order_.push_back(out.node);
    }
  }
  num_ordered_ = static_cast<int32_t>(order_.size());
  for (int32_t i = 0; i < n; ++i) {
    if (waits[i] > 0) order_.push_back(i);
  }
  positions_.resize(n);
  for (int32_t at = 0; at < n; ++at) positions_[order_[at]] = at;
}

}  // namespace grapnel
