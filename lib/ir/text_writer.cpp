#include <map>
#include <set>

#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/ir/print.h"
#include "lib/ir/text.h"
#include "lib/ir/text_inference.h"
#include "lib/ir/text_value.h"
#include "lib/ir/wire.h"
#include "lib/proto/function.pb.h"
#include "lib/proto/versions.pb.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"

namespace grapnel {
namespace {

constexpr int kElementsInFull = 256;  // of a constant written exactly; more stand in base64
constexpr int kElementsForPeople = 8;
constexpr size_t kInlineText = 40;  // the longest constant that stands within its reader

std::string Base64Field(llvm::StringRef bytes) {
  return " fields \"" + llvm::encodeBase64(bytes) + '"';
}

using Attrs = std::map<llvm::StringRef, llvm::StringRef>;

std::pair<llvm::StringRef, llvm::StringRef> MapEntry(llvm::StringRef entry) {
  llvm::StringRef key, value;
  WireReader reader(entry);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) key = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) value = reader.bytes();
  }
  return {key, value};
}

// A NodeDef taken apart; views of its bytes.
struct NodeParts {
  std::string owned;  // of a node that was changed: it stands in no file
  llvm::SmallVector<llvm::StringRef, 4> inputs;
  Attrs attrs;
  std::string fields;

  NodeParts(const Node& node, const Function* function) {
    llvm::StringRef bytes = node.graph().UnchangedSource(node.id());
    if (bytes.empty()) bytes = owned = ExportNodeDef(node, function);
    WireReader reader(bytes);
    while (reader.Next()) {
      if (reader.field() > 5) {
        fields += reader.whole_field();
      } else if (reader.Is(3, WireType::kBytes)) {
        inputs.push_back(reader.bytes());
      } else if (reader.Is(5, WireType::kBytes)) {
        auto [key, value] = MapEntry(reader.bytes());
        attrs[key] = value;
      }
    }
  }
  NodeParts(const NodeParts&) = delete;
};

bool IsConstant(const Node& node) { return node.op() == "Const" || node.op() == "HostConst"; }

// A device as the reader takes it without quotes.
std::string BareDevice(llvm::StringRef device) {
  bool bare = !device.empty() && device[0] == '/' &&
              llvm::all_of(device,
                           [](char c) {
                             return llvm::isAlnum(c) || llvm::StringRef("/:_*-.").contains(c);
                           }) &&
              device.back() != ':' && !device.contains("::");
  return bare ? device.str() : QuotedText(device);
}

// cpu:0 for /device:CPU:0; for people also for a whole name on this host.
std::string DeviceText(llvm::StringRef device, bool exact) {
  llvm::StringRef rest = device;
  auto plain = [](llvm::StringRef text) {
    return !text.empty() && llvm::all_of(text, llvm::isAlnum);
  };
  std::string shortened = ShortDevice(device);
  auto [type, id] = llvm::StringRef(shortened).split(':');
  bool is_short = plain(type) && plain(id);
  if (is_short && !exact) return shortened;
  if (is_short && rest.consume_front("/device:") && rest == type.upper() + ":" + id.str())
    return shortened;
  return BareDevice(device);
}

// The text of one body.
class BodyWriter {
 public:
  // `whole`: else nothing is left out that reading would have to infer from other nodes.
  BodyWriter(const Graph& graph, const Function* function, const TextOptions& options,
             bool whole = true)
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
    if (options_.exact && !parts.fields.empty()) line += Base64Field(parts.fields);
    return line;
  }

  // "%a", "%a:1", "^a", or what the file says, in quotes. `text` may be empty: then the port's own.
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
    // What says the same in another way stays so.
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

  // How reading writes `%node:index` again; empty in a function when the op is not known.
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

  // The file's order; for people inputs before their readers, nodes on a broken cycle at the end.
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

  // A constant that one input reads and nothing else stands there, if it is short. Exactly written
  // it must also come right before its reader, as reading puts it there.
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
      // From the last on, as long as they are in order and without a gap.
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
    if (!tensor) return false;
    LiteralPrint print = PrintLiteral(*tensor, options_.exact, kElementsForPeople);
    auto dtype = AttrView(parts.attrs["dtype"]).AsType();
    bool cut = llvm::StringRef(print.text).contains("...");
    return !print.is_proto && !cut && print.text.size() <= kInlineText && dtype == print.dtype &&
           (!options_.exact || SameAttr(parts.attrs["dtype"], attr::Type(print.dtype)));
  }

  bool IsEnd(llvm::StringRef name) const {
    for (const auto* ends : {&options_.feeds, &options_.fetches}) {
      for (llvm::StringRef end : *ends) {
        if (end.split(':').first == name) return true;
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

  // What reading will infer, so that the text leaves out just what agrees. What is written in full
  // may change what follows elsewhere: again until nothing more must be written.
  void InferAll() {
    std::vector<uint32_t> index(graph_.end_id(), kNoNode);
    std::vector<NodeId> ids;
    if (function_) {
      for (NodeId id : function_->args) {
        index[id] = ids.size();
        ids.push_back(id);
      }
    }
    size_t num_args = ids.size();
    for (NodeId id : order_) {
      index[id] = ids.size();
      ids.push_back(id);
    }
    for (;;) {
      std::vector<InferenceNode> nodes(ids.size());
      for (size_t i = 0; i < ids.size(); ++i) {
        if (i < num_args) {
          nodes[i].outputs.assign(1, function_->info.inputs[i].type);
          nodes[i].resolved = true;
        } else {
          Describe(graph_.node(ids[i]), index, &nodes[i]);
        }
      }
      InferAttributes(nodes);
      // Constants first: what their readers infer depends on them.
      size_t before = written_.size();
      for (bool literals : {true, false}) {
        for (size_t i = num_args; i < ids.size(); ++i) {
          if (nodes[i].is_literal == literals) Compare(graph_.node(ids[i]), nodes[i]);
        }
        if (written_.size() != before) break;
      }
      if (written_.size() == before) {
        Keep(ids, std::move(nodes));
        return;
      }
    }
  }

  void Describe(const Node& node, llvm::ArrayRef<uint32_t> index, InferenceNode* out) const {
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
      input.node = index[port.node];
      input.port = port.index;
    }
    for (const auto& [key, value] : node.Attrs()) {
      bool follows = out->info && CanBeInferred(*out->info, out->callee, key);
      if (!follows || written_.count({node.id(), key})) out->given.push_back({key, value});
    }
  }

  // Notes what must be written of a node because reading would infer something else.
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

  // Of what was inferred: the keys, for what the text leaves out and for what it must deny.
  void Keep(llvm::ArrayRef<NodeId> ids, std::vector<InferenceNode> nodes) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (nodes[i].is_literal) natural_[ids[i]] = !written_.count({ids[i], ""});
      if (!nodes[i].inferred.empty()) inferred_[ids[i]] = std::move(nodes[i].inferred);
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
    // A broken file may have data inputs after control inputs; one that is also dangling has no
    // slot.
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

  // A constant within its reader's inputs, with its name where that is not the usual one.
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

  // The value of a constant; what it says is taken from the attributes, and its claim is added.
  std::string TakeValue(NodeParts* parts, std::string* claims) {
    auto value = parts->attrs.find("value");
    auto tensor = value == parts->attrs.end() ? std::nullopt : AttrView(value->second).AsTensor();
    if (!tensor || !SameAttr(value->second, attr::Tensor(*tensor))) return "";
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
      parts->attrs.try_emplace("dtype");  // none at all: denied
    }
    return print.text;
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
      if (inferred != inferred_.end() && llvm::any_of(inferred->second, [&](const auto& entry) {
            return entry.first == key && SameAttr(entry.second, value);
          }))
        continue;
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
  llvm::DenseSet<NodeId>
      boundary_;  // arguments and results: they stand in the header and in `return`
  llvm::DenseSet<NodeId> inlined_;
  // Attributes that do not follow from the inputs; with no key, a constant within them that says
  // its dtype.
  std::set<std::pair<NodeId, llvm::StringRef>> written_;
  llvm::DenseMap<NodeId, bool> natural_;  // inlined constants whose dtype follows
  llvm::DenseMap<NodeId, decltype(InferenceNode::inferred)> inferred_;
};

// A function of the library: header, body, what it returns.
class FunctionWriter {
 public:
  FunctionWriter(const Function& function, const TextOptions& options)
      : function_(function),
        options_(options),
        bytes_(ExportFunctionDef(function)),
        body_(function.body, &function, options) {
    WireReader reader(bytes_);
    while (reader.Next()) {
      if (reader.Is(1, WireType::kBytes))
        signature_.ParseFromArray(reader.bytes().data(), reader.bytes().size()),
            signature_bytes_ = reader.bytes();
      if (reader.Is(4, WireType::kBytes)) rets_.insert(MapEntry(reader.bytes()));
      if (reader.Is(5, WireType::kBytes)) attrs_.insert(MapEntry(reader.bytes()));
      if (reader.Is(6, WireType::kBytes)) control_rets_.insert(MapEntry(reader.bytes()));
      if (reader.Is(7, WireType::kBytes)) ReadArgAttrs(reader.bytes(), reader.whole_field());
      if (reader.field() == 2 || reader.field() > 7) fields_ += reader.whole_field();
    }
  }

  void Write(llvm::raw_ostream& os) {
    os << "func @" << NameText(signature_.name());
    if (options_.exact && !SignatureFollows())
      os << " signature \"" << llvm::encodeBase64(signature_bytes_) << "\"";
    os << "(";
    for (int i = 0; i < signature_.input_arg_size(); ++i)
      os << (i ? ", " : "") << "%" << ArgText(signature_.input_arg(i), i);
    os << ") -> (";
    for (int i = 0; i < signature_.output_arg_size(); ++i)
      os << (i ? ", " : "") << ArgText(signature_.output_arg(i), -1);
    os << ")";
    if (signature_.is_stateful()) os << " stateful";
    if (!attrs_.empty()) os << " attributes " << AttrsText(attrs_);
    if (options_.exact && !fields_.empty()) os << Base64Field(fields_);
    os << " {\n";
    body_.Write("  ", os);
    std::string returns = ReturnsText();
    if (!returns.empty()) os << "  return " << returns << "\n";
    os << "}\n";
  }

 private:
  void ReadArgAttrs(llvm::StringRef entry, llvm::StringRef whole) {
    uint64_t index = 0;
    llvm::StringRef value;
    WireReader reader(entry);
    while (reader.Next()) {
      if (reader.Is(1, WireType::kVarint)) index = reader.number();
      if (reader.Is(2, WireType::kBytes)) value = reader.bytes();
    }
    if (index >= static_cast<uint64_t>(signature_.input_arg_size())) {
      fields_ += whole;
      return;
    }
    Attrs& attrs = arg_attrs_[static_cast<int>(index)];
    WireReader attr(value);
    while (attr.Next()) {
      if (attr.Is(1, WireType::kBytes)) attrs.insert(MapEntry(attr.bytes()));
    }
  }

  static std::string AttrsText(const Attrs& attrs) {
    std::string text = "{";
    for (const auto& [key, value] : attrs)
      text += (text == "{" ? "" : ", ") + NameText(key) + "=" + AttrText(AttrView(value), "");
    return text + "}";
  }

  static std::string FieldsOf(const proto::OpDef::ArgDef& arg) {
    proto::OpDef::ArgDef rest = arg;
    rest.clear_name();
    rest.clear_type();
    return rest.SerializeAsString();
  }

  std::string ArgText(const proto::OpDef::ArgDef& arg, int index) const {
    std::string text = NameText(arg.name());
    if (arg.type() != proto::DT_INVALID) text += (": " + DataTypeName(arg.type())).str();
    auto attrs = arg_attrs_.find(index);
    if (options_.exact && attrs != arg_attrs_.end()) text += " " + AttrsText(attrs->second);
    std::string fields = FieldsOf(arg);
    return options_.exact && !fields.empty() ? text + Base64Field(fields) : text;
  }

  // Whether the header and `return` say all of the signature.
  bool SignatureFollows() const {
    proto::OpDef again;
    again.set_name(signature_.name());
    for (const auto& arg : signature_.input_arg()) *again.add_input_arg() = arg;
    for (const auto& arg : signature_.output_arg()) *again.add_output_arg() = arg;
    again.set_is_stateful(signature_.is_stateful());
    std::set<llvm::StringRef> controls;
    for (const std::string& name : signature_.control_output()) {
      again.add_control_output(name);
      if (!control_rets_.count(name) || !controls.insert(name).second) return false;
    }
    auto known = [](const proto::OpDef::ArgDef& arg) {
      return arg.type() == proto::DT_INVALID || ParseDataType(DataTypeName(arg.type()));
    };
    return controls.size() == control_rets_.size() &&
           again.SerializeAsString() == signature_bytes_ &&
           llvm::all_of(signature_.input_arg(), known) &&
           llvm::all_of(signature_.output_arg(), known);
  }

  std::string ReturnsText() {
    std::string text;
    auto add = [&](const std::string& item) { text += (text.empty() ? "" : ", ") + item; };
    std::map<llvm::StringRef, llvm::StringRef> left = rets_, controls = control_rets_;
    for (const Function::Result& result : function_.results) {
      auto ret = rets_.find(result.name);
      Node node = function_.body.node(result.node);
      if (ret == rets_.end() || node.num_inputs() == 0) {
        add("none");
        continue;
      }
      add(body_.InputText(node.input(0), ret->second));
      left.erase(result.name);
    }
    for (const auto& [name, value] : left) add(NameText(name) + "=%" + QuotedText(value));
    auto add_control = [&](llvm::StringRef name, llvm::StringRef node) {
      add("^" + NameText(name) + (name == node ? "" : "=%" + NameText(node)));
    };
    for (const std::string& name : signature_.control_output()) {
      auto it = controls.find(name);
      if (it == controls.end()) continue;
      add_control(it->first, it->second);
      controls.erase(it);
    }
    for (const auto& [name, node] : controls) add_control(name, node);
    return text;
  }

  const Function& function_;
  const TextOptions& options_;
  std::string bytes_;
  BodyWriter body_;
  proto::OpDef signature_;
  llvm::StringRef signature_bytes_;
  Attrs attrs_, rets_, control_rets_;
  std::map<int, Attrs> arg_attrs_;
  std::string fields_;
};

std::string VersionsText(llvm::StringRef bytes) {
  proto::VersionDef versions;
  std::string text;
  bool known = versions.ParseFromArray(bytes.data(), bytes.size());
  proto::VersionDef again;
  again.set_producer(versions.producer());
  again.set_min_consumer(versions.min_consumer());
  *again.mutable_bad_consumers() = versions.bad_consumers();
  if (known && !bytes.empty() && again.SerializeAsString() == bytes) {
    if (versions.producer()) text += "producer " + std::to_string(versions.producer()) + "\n";
    if (versions.min_consumer())
      text += "min_consumer " + std::to_string(versions.min_consumer()) + "\n";
    for (int consumer : versions.bad_consumers())
      text += (text.find("bad_") == std::string::npos ? "bad_consumers " : ", ") +
              std::to_string(consumer);
    return versions.bad_consumers_size() ? text + "\n" : text;
  }
  return "versions \"" + llvm::encodeBase64(bytes) + "\"\n";
}

std::string EndsText(llvm::StringRef word, llvm::ArrayRef<std::string> ends) {
  std::string text;
  for (llvm::StringRef end : ends) {
    bool control = end.consume_front("^");
    auto [name, port] = end.rsplit(':');
    bool has_port = !port.empty() && llvm::all_of(port, llvm::isDigit);
    text += (text.empty() ? word + " " : llvm::Twine(", ")).str() + (control ? "^" : "%") +
            NameText(has_port ? name : end);
    if (has_port) text += ":" + port.str();
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace

void WriteGraphAsText(const Module& module, const TextOptions& options, llvm::raw_ostream& os) {
  uint64_t begin = os.tell();
  os << EndsText("feed", options.feeds) << EndsText("fetch", options.fetches);
  if (options.exact) {
    if (module.has_versions || !module.versions.empty()) os << VersionsText(module.versions);
    bool empty_library = module.has_library && module.functions.empty();
    if (!module.other_library_fields.empty() || empty_library)
      os << "library \"" << llvm::encodeBase64(module.other_library_fields) << "\"\n";
    if (!module.other_fields.empty())
      os << "fields \"" << llvm::encodeBase64(module.other_fields) << "\"\n";
  }
  BodyWriter(module.main, nullptr, options).Write("", os);
  for (const auto& function : module.functions) {
    if (os.tell() != begin) os << "\n";
    FunctionWriter(*function, options).Write(os);
  }
  // Nothing at all would not be known for a graph's text again.
  if (os.tell() == begin) os << "---\n";
}

std::string NodeText(const Node& node, const PortDescriber& describe) {
  TextOptions options;
  options.describe = describe;
  return BodyWriter(node.graph(), nullptr, options, /*whole=*/false).Line(node);
}

}  // namespace grapnel
