#include "lib/ir/text_body_writer.h"

#include <set>

#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/text_inference.h"
#include "lib/ir/text_node_parts.h"
#include "lib/ir/text_value.h"
#include "lib/ir/wire.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"

namespace grapnel {
namespace {

constexpr int kElementsInFull = 256;  // of an exact constant; longer ones of numbers use base64
constexpr int kElementsForPeople = 8;
// A constant with a larger TensorProto is not written within its reader's inputs, since its text
// would be too long.
constexpr size_t kInlineBytes = 1024;
constexpr size_t kInlineText = 40;  // the longest constant written within its reader's inputs

}  // namespace

class BodyWriter::Impl {
  using Inferred = decltype(InferenceNode::inferred);

 public:
  Impl(const Graph& graph, const Function* function, const TextOptions& options, bool whole = true)
      : graph_(graph), function_(function), options_(options) {
    if (!whole) return;
    if (function) {
      for (const Function::Result& result : function->results) boundary_.insert(result.node);
      boundary_.insert(function->args.begin(), function->args.end());
    }
    Order();
    ChooseInline();
    InferAll();
  }

  void Write(llvm::StringRef indent, llvm::raw_ostream& os) {
    for (NodeId id : order_) {
      if (!inlined_.contains(id)) os << indent << Line(graph_.node(id)) << "\n";
    }
  }

  std::string Line(const Node& node) {
    NodeParts parts(node, function_);
    std::string line = "%" + NameText(node.name()) + " = " + OpText(node.op());
    std::string inputs = InputsText(node, parts);
    if (!inputs.empty()) line += "(" + inputs + ")";
    std::string claims = ClaimsText(node);
    std::string value;
    if (IsConstant(node)) value = TakeValue(&parts, &claims);
    if (!value.empty()) line += " " + value;
    std::string attrs = AttrsText(node, parts);
    if (!attrs.empty()) line += " {" + attrs + "}";
    if (!node.device().empty()) line += " @" + DeviceText(node.device(), options_.exact);
    if (!claims.empty()) line += " : " + claims;
    if (options_.exact && !parts.fields.empty()) line += FieldsText(parts.fields);
    return line;
  }

  // Returns an input for the text: "%a", "%a:1", "^a", or a quotation of `text`, the input as the
  // file has it. If `text` is empty, the file has the usual spelling.
  std::string InputText(Port port, llvm::StringRef text) const {
    if (port.node == kNoNode) {
      bool control = text.consume_front("^");
      return (control ? "^" : "%") + QuotedText(text);
    }
    std::string name = NameText(graph_.node(port.node).name());
    if (port.IsControl()) return "^" + name;
    bool bare = name[0] != '"';
    std::string plain = "%" + name + (port.index || !bare ? ":" + std::to_string(port.index) : "");
    if (!options_.exact) return plain;
    if (text == TextOfPort(port)) return plain;
    // The file spells the input in an unusual way, such as "a:0", which the text keeps.
    llvm::StringRef node = graph_.node(port.node).name();
    if (function_) {
      llvm::StringRef rest = text;
      bool spelled =
          bare && rest.consume_front(node) && rest.consume_front(":") && !rest.empty() &&
          llvm::isAlpha(rest[0]) &&
          llvm::all_of(rest, [](char c) { return llvm::isAlnum(c) || c == '_' || c == ':'; });
      return spelled ? "%" + text.str() : "%" + QuotedText(text);
    }
    return bare && text == (node + ":0").str() ? "%" + text.str() : "%" + QuotedText(text);
  }

 private:
  static std::string OpText(llvm::StringRef op) {
    bool bare = !op.empty() && llvm::all_of(op, [](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '.' || c == '>';
    });
    return bare ? op.str() : QuotedText(op);
  }

  // Returns the NodeDef input that reading makes of `%node:index`; empty if it cannot tell, as for
  // an unknown op in a function.
  std::string TextOfPort(Port port) const {
    Node node = graph_.node(port.node);
    if (!function_) return PortText(graph_, port);
    if (node.op() == "_Arg")
      return node.name().str() + (port.index ? ":" + std::to_string(port.index) : "");
    const OpInfo* info = DefinitionOf(node);
    if (!info) return "";
    auto [output, index] = grapnel::OutputOfPort(node, *info, port.index);
    return output.empty() ? "" : (node.name() + ":" + output + ":" + llvm::Twine(index)).str();
  }

  // Lists the nodes in the order of the file; for human readers in topological order, with nodes on
  // a cycle that is not a loop at the end.
  void Order() {
    if (!options_.exact) {
      order_ = TopologicalOrder(graph_);
      if (order_.size() < graph_.num_nodes()) {
        std::vector<bool> seen(graph_.end_id(), false);
        for (NodeId id : order_) seen[id] = true;
        for (Node node : graph_.nodes()) {
          if (!seen[node.id()]) order_.push_back(node.id());
        }
      }
    } else {
      for (Node node : graph_.nodes()) order_.push_back(node.id());
    }
    llvm::erase_if(order_, [&](NodeId id) { return boundary_.contains(id); });
  }

  // Chooses the constants to write within the inputs of their readers: short ones with a single
  // use. In exact mode, only those that precede their reader directly, because reading puts them
  // there.
  void ChooseInline() {
    std::vector<uint32_t> place(graph_.end_id(), 0);
    for (size_t i = 0; i < order_.size(); ++i) place[order_[i]] = i;
    for (NodeId id : order_) {
      Node reader = graph_.node(id);
      if (boundary_.contains(id)) continue;
      llvm::SmallVector<NodeId, 4> found;
      for (int slot = 0; slot < reader.num_inputs(); ++slot) {
        Port port = reader.input(slot);
        if (port.node != kNoNode && CanStandIn(graph_.node(port.node), port, reader))
          found.push_back(port.node);
      }
      // In exact mode, goes from the last constant input to the first and stops at one that is not
      // directly before the reader or the constants already chosen.
      uint32_t expected = place[id];
      for (NodeId constant : llvm::reverse(found)) {
        if (options_.exact && place[constant] + 1 != expected) break;
        expected = place[constant];
        inlined_.insert(constant);
      }
    }
  }

  bool CanStandIn(const Node& node, Port port, const Node& reader) const {
    if (node.op() != "Const" || port.index != 0 || node.num_controls() || node.num_inputs() ||
        node.uses().size() != 1 || boundary_.contains(node.id()) ||
        boundary_.contains(reader.id()) || node.device() != reader.device() || IsEnd(node.name()))
      return false;
    NodeParts parts(node, function_);
    if (options_.exact && !parts.fields.empty()) return false;
    for (const auto& [key, value] : parts.attrs) {
      bool hidden = key == "_output_shapes" && !options_.exact;
      if (key != "value" && key != "dtype" && !hidden) return false;
    }
    auto tensor = AttrView(parts.attrs["value"]).AsTensor();
    // Constants within inputs are short, so a large tensor is skipped without parsing it.
    if (!tensor || tensor->size() > kInlineBytes) return false;
    LiteralPrint print = PrintLiteral(*tensor, options_.exact, kElementsForPeople);
    auto dtype = AttrView(parts.attrs["dtype"]).AsType();
    bool cut = llvm::StringRef(print.text).contains("...");
    return !print.is_proto && !cut && print.text.size() <= kInlineText && dtype == print.dtype &&
           (!options_.exact || SameAttr(parts.attrs["dtype"], attr::Type(print.dtype)));
  }

  bool IsEnd(llvm::StringRef name) const {
    for (const auto* ends : {&options_.feeds, &options_.fetches}) {
      for (llvm::StringRef end : *ends) {
        if (ReadTensorName(end).node == name) return true;
      }
    }
    return false;
  }

  const OpInfo* CalleeOf(const Node& node) const {
    for (llvm::StringRef key : {"f", "then_branch", "branches"}) {
      auto value = node.FindAttr(key);
      if (!value) continue;
      std::vector<llvm::StringRef> names = value->FuncNames();
      const Function* callee = names.empty() ? nullptr : graph_.module().FindFunction(names[0]);
      if (callee) return &callee->info;
    }
    return nullptr;
  }

  // Determines which attributes must be written, because a reader of the text would infer other
  // values; the text omits the others. First infers each node's attributes from the true dtypes of
  // its inputs, which a reader has once all required attributes are written. Then infers as a
  // reader does, who knows fewer dtypes on cycles.
  void InferAll() {
    if (function_) ids_.assign(function_->args.begin(), function_->args.end());
    num_args_ = ids_.size();
    ids_.insert(ids_.end(), order_.begin(), order_.end());
    index_.assign(graph_.end_id(), kNoNode);
    for (size_t i = 0; i < ids_.size(); ++i) index_[ids_[i]] = i;
    while (CompareAll(InferFromTruth())) {
    }
    std::vector<InferenceNode> nodes = InferAsReader();
    while (CompareAll(nodes)) nodes = InferAsReader();
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (nodes[i].is_literal) natural_[ids_[i]] = !written_.count({ids_[i], ""});
      if (!nodes[i].inferred.empty()) inferred_[ids_[i]] = std::move(nodes[i].inferred);
    }
  }

  InferenceNode Argument(size_t i) const {
    InferenceNode node;
    node.outputs.assign(1, function_->info.inputs[i].type);
    node.resolved = true;
    return node;
  }

  std::vector<InferenceNode> InferAsReader() const {
    std::vector<InferenceNode> nodes(ids_.size());
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (i < num_args_) {
        nodes[i] = Argument(i);
      } else {
        Describe(graph_.node(ids_[i]), &nodes[i]);
      }
    }
    InferAttributes(nodes);
    return nodes;
  }

  // Adds a twin with the true output dtypes for each node. Nodes read the twins of their inputs, so
  // no inference depends on another one. Constants within inputs have no twin, because their dtypes
  // follow from their readers.
  std::vector<InferenceNode> InferFromTruth() const {
    size_t twin = ids_.size();
    std::vector<InferenceNode> nodes(2 * ids_.size());
    for (size_t i = 0; i < ids_.size(); ++i) {
      InferenceNode& truth = nodes[twin + i];
      truth.resolved = true;
      if (i < num_args_) {
        nodes[i] = truth = Argument(i);
        continue;
      }
      truth.outputs = OutputTypes(graph_.node(ids_[i]));
      Describe(graph_.node(ids_[i]), &nodes[i]);
      for (InferenceNode::Input& input : nodes[i].inputs) {
        if (input.node != kNoNode && !inlined_.contains(ids_[input.node])) input.node += twin;
      }
    }
    InferAttributes(nodes);
    nodes.resize(ids_.size());
    return nodes;
  }

  // Records the attributes that must be written; returns whether it found any. Returns early after
  // constants, because their dtypes change what their readers infer.
  bool CompareAll(const std::vector<InferenceNode>& nodes) {
    size_t before = written_.size();
    for (bool literals : {true, false}) {
      for (size_t i = num_args_; i < ids_.size(); ++i) {
        if (nodes[i].is_literal == literals) Compare(graph_.node(ids_[i]), nodes[i]);
      }
      if (written_.size() != before) return true;
    }
    return false;
  }

  static llvm::SmallVector<DataType, 2> OutputTypes(const Node& node) {
    llvm::SmallVector<DataType, 2> outputs;
    const OpInfo* info = DefinitionOf(node);
    if (!info) return outputs;
    auto types = TypesOf(node, *info);
    if (!types) {
      llvm::consumeError(types.takeError());
      return outputs;
    }
    outputs.assign(types->outputs.begin(), types->outputs.end());
    return outputs;
  }

  void Describe(const Node& node, InferenceNode* out) const {
    out->info = DefinitionOf(node);
    out->callee = CalleeOf(node);
    if (inlined_.contains(node.id())) {
      LiteralPrint print =
          PrintLiteral(*node.FindAttr("value")->AsTensor(), options_.exact, kElementsForPeople);
      out->is_literal = true;
      TextScanner scanner(print.text);
      TextLiteral literal;
      ReadLiteral(scanner, &literal);
      out->natural = literal.NaturalType();
      if (written_.count({node.id(), ""})) {
        out->outputs.assign(1, print.dtype);
        out->resolved = true;
      }
      return;
    }
    for (int slot = 0; slot < node.num_inputs(); ++slot) {
      Port port = node.input(slot);
      auto& input = out->inputs.emplace_back();
      if (port.node == kNoNode) continue;
      input.node = index_[port.node];
      input.port = port.index;
    }
    for (const auto& [key, value] : node.Attrs()) {
      bool follows = out->info && CanBeInferred(*out->info, out->callee, key);
      if (!follows || written_.count({node.id(), key})) out->given.push_back({key, value});
    }
  }

  // Adds to written_ those attributes of the node for which reading would infer another value or
  // none.
  void Compare(const Node& node, const InferenceNode& inferred) {
    if (inferred.is_literal) {
      DataType type = inferred.outputs.empty() ? inferred.natural : inferred.outputs[0];
      if (AttrView(*node.FindAttr("dtype")).AsType() != type) written_.insert({node.id(), ""});
      return;
    }
    if (!inferred.info) return;
    for (const auto& [key, value] : node.Attrs()) {
      if (!CanBeInferred(*inferred.info, inferred.callee, key)) continue;
      const std::string* same = inferred.FindInferred(key);
      if (!same || !SameAttr(*same, value.bytes())) written_.insert({node.id(), key});
    }
  }

  std::string InputsText(const Node& node, const NodeParts& parts) {
    std::string text;
    auto add = [&](int slot, Port port, llvm::StringRef written) {
      bool is_literal = port.node != kNoNode && !port.IsControl() && inlined_.contains(port.node);
      text += text.empty() ? "" : ", ";
      text += is_literal ? LiteralText(node, slot, port) : InputText(port, written);
    };
    if (!options_.exact) {
      int slot = 0;
      for (Port port : node.inputs()) {
        add(slot, port, port.node == kNoNode ? node.DanglingText(slot) : llvm::StringRef());
        ++slot;
      }
      return text;
    }
    // In a broken file, data inputs may come after control inputs; Graph has no slot for one whose
    // node does not exist. If a slot is missing, prints each data input after a control input as
    // the file has it.
    auto is_control = [](llvm::StringRef input) { return HasPrefix(input, "^"); };
    bool all_there = llvm::count_if(parts.inputs, is_control) + node.num_inputs() ==
                     static_cast<int>(parts.inputs.size());
    int data = 0, controls = 0;
    for (llvm::StringRef input : parts.inputs) {
      int slot = is_control(input) ? node.num_inputs() + controls++ : data++;
      bool has_slot = all_there || is_control(input) || !controls;
      add(slot, has_slot ? node.input(slot) : Port{}, input);
    }
    return text;
  }

  // Returns the text of a constant that is written within its reader's inputs. Contains the
  // constant's name only if it is not the default one.
  std::string LiteralText(const Node& reader, int slot, Port port) {
    Node constant = graph_.node(port.node);
    LiteralPrint print =
        PrintLiteral(*constant.FindAttr("value")->AsTensor(), options_.exact, kElementsForPeople);
    std::string text = print.text;
    bool natural = natural_.lookup(constant.id());
    if (!print.dims_follow) {
      text = (DataTypeName(print.dtype) + DimsText(print.dims) + " " + text).str();
    } else if (!natural) {
      text = (DataTypeName(print.dtype) + " " + text).str();
    }
    InferenceNode named;
    named.info = DefinitionOf(reader);
    for (const auto& [key, value] : reader.Attrs()) named.given.push_back({key, value});
    if (constant.name() == LiteralName(named, reader.name(), slot)) return text;
    return "%" + NameText(constant.name()) + "=" + text;
  }

  std::string ClaimsText(const Node& node) const {
    std::string claims;
    if (!options_.describe || options_.exact || function_) return claims;
    int outputs = std::max(NumOutputs(node), 0);
    for (int i = 0; i < outputs; ++i) claims += (i ? ", " : "") + options_.describe({node.id(), i});
    return claims;
  }

  // Returns the text of a constant's value. Removes the attributes that this text states from
  // `parts`, and sets `claims` to the type after the node's colon, where the text needs one.
  std::string TakeValue(NodeParts* parts, std::string* claims) {
    auto value = parts->attrs.find("value");
    auto tensor = value == parts->attrs.end() ? std::nullopt : AttrView(value->second).AsTensor();
    // Returns "" if the attribute has more fields than the tensor, which the text could not state.
    // Compares sizes, because parsing a large constant takes long.
    if (!tensor || value->second.size() != attr::TensorHead(tensor->size()).size() + tensor->size())
      return "";
    LiteralPrint print = PrintLiteral(*tensor, options_.exact,
                                      options_.exact ? kElementsInFull : kElementsForPeople);
    parts->attrs.erase(value);
    if (print.is_proto) return print.text;
    auto dtype = parts->attrs.find("dtype");
    bool says_dtype =
        dtype != parts->attrs.end() && SameAttr(dtype->second, attr::Type(print.dtype));
    if (!print.dims_follow || !print.type_follows || !says_dtype || !options_.exact)
      *claims = (DataTypeName(print.dtype) + DimsText(print.dims)).str();
    if (says_dtype) {
      parts->attrs.erase(dtype);
    } else {
      parts->attrs.try_emplace("dtype");  // the node has no dtype attribute: the text then says so
    }
    return print.text;
  }

  static bool Follows(const Inferred& inferred, llvm::StringRef key, llvm::StringRef value) {
    return llvm::any_of(inferred, [&](const auto& entry) {
      return entry.first == key && SameAttr(entry.second, value);
    });
  }

  std::string AttrsText(const Node& node, const NodeParts& parts) {
    const OpInfo* table = FindOp(node.op());
    auto inferred = inferred_.find(node.id());
    std::string text;
    auto add = [&](const std::string& attr) { text += (text.empty() ? "" : ", ") + attr; };
    for (const auto& [key, value] : parts.attrs) {
      if (IsConstant(node) && key == "dtype" && value.data() == nullptr) {
        add("-dtype");
        continue;
      }
      const OpAttr* attr = table ? table->FindAttr(key) : nullptr;
      if (inferred != inferred_.end() && Follows(inferred->second, key, value)) continue;
      bool is_default = attr && attr->default_value && SameAttr(*attr->default_value, value) &&
                        !written_.count({node.id(), key});
      if (!options_.exact && (key == "_output_shapes" || is_default)) continue;
      add(NameText(key) + "=" +
          AttrText(AttrView(value), attr ? llvm::StringRef(attr->type) : llvm::StringRef()));
    }
    if (inferred == inferred_.end()) return text;
    for (const auto& [key, value] : inferred->second) {
      if (parts.attrs.count(key)) continue;
      const OpAttr* attr = DefinitionOf(node)->FindAttr(key);
      bool is_default = attr && attr->default_value && SameAttr(*attr->default_value, value);
      if (options_.exact || !is_default) add("-" + NameText(key));
    }
    return text;
  }

  const Graph& graph_;
  const Function* function_;
  const TextOptions& options_;
  std::vector<NodeId> order_;
  // The nodes for the inference: the ids of the arguments, then of the other nodes in the order of
  // the text. index_ is the inverse: the index in ids_ for a node id.
  std::vector<NodeId> ids_;
  size_t num_args_ = 0;
  std::vector<uint32_t> index_;
  llvm::DenseSet<NodeId> boundary_;  // arguments and results, which the header and `return` write
  llvm::DenseSet<NodeId> inlined_;
  // Attributes that the text must state, because reading would not infer their values. An empty key
  // stands for the dtype of a constant within inputs.
  std::set<std::pair<NodeId, llvm::StringRef>> written_;
  llvm::DenseMap<NodeId, bool> natural_;  // for constants within inputs: is the dtype inferred?
  llvm::DenseMap<NodeId, Inferred> inferred_;
};

BodyWriter::BodyWriter(const Graph& graph, const Function* function, const TextOptions& options,
                       bool whole)
    : impl_(std::make_unique<Impl>(graph, function, options, whole)) {}
BodyWriter::~BodyWriter() = default;

void BodyWriter::Write(llvm::StringRef indent, llvm::raw_ostream& os) { impl_->Write(indent, os); }
std::string BodyWriter::Line(const Node& node) { return impl_->Line(node); }
std::string BodyWriter::InputText(Port port, llvm::StringRef text) const {
  return impl_->InputText(port, text);
}

}  // namespace grapnel
