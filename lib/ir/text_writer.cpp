#include <map>
#include <set>

#include "lib/ir/import.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/text.h"
#include "lib/ir/text_body_writer.h"
#include "lib/ir/text_node_parts.h"
#include "lib/ir/text_value.h"
#include "lib/ir/wire.h"
#include "lib/ir/wire_map.h"
#include "lib/proto/function.pb.h"
#include "lib/proto/versions.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"

namespace grapnel {
namespace {

// Prints a function of the library: its header, its nodes and its results.
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
      if (reader.Is(4, WireType::kBytes)) rets_.insert(ReadMapEntry(reader.bytes()));
      if (reader.Is(5, WireType::kBytes)) attrs_.insert(ReadMapEntry(reader.bytes()));
      if (reader.Is(6, WireType::kBytes)) control_rets_.insert(ReadMapEntry(reader.bytes()));
      if (reader.Is(7, WireType::kBytes)) ReadArgAttrs(reader.bytes(), reader.whole_field());
      if (reader.field() == 2 || reader.field() > 7) fields_ += reader.whole_field();
    }
  }

  void Write(llvm::raw_ostream& os) {
    os << "func @" << NameText(signature_.name());
    if (options_.exact && !SignatureFollows())
      os << " signature \"" << llvm::encodeBase64(signature_bytes_) << "\"";
    os << AttrDefsText() << "(";
    for (int i = 0; i < signature_.input_arg_size(); ++i)
      os << (i ? ", " : "") << "%" << ArgText(signature_.input_arg(i), i);
    os << ") -> (";
    for (int i = 0; i < signature_.output_arg_size(); ++i)
      os << (i ? ", " : "") << ArgText(signature_.output_arg(i), -1);
    os << ")";
    if (signature_.is_stateful()) os << " stateful";
    if (!attrs_.empty()) os << " attributes " << AttrsText(attrs_);
    if (options_.exact && !fields_.empty()) os << FieldsText(fields_);
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
    TextAttrs& attrs = arg_attrs_[static_cast<int>(index)];
    WireReader attr(value);
    while (attr.Next()) {
      if (attr.Is(1, WireType::kBytes)) attrs.insert(ReadMapEntry(attr.bytes()));
    }
  }

  static std::string AttrsText(const TextAttrs& attrs) {
    std::string text = "{";
    for (const auto& [key, value] : attrs)
      text += (text == "{" ? "" : ", ") + NameText(key) + "=" + AttrText(AttrView(value), "");
    return text + "}";
  }

  static std::string FieldsOf(const proto::OpDef::ArgDef& arg) {
    proto::OpDef::ArgDef rest = arg;
    rest.clear_name();
    rest.clear_type();
    rest.clear_type_attr();
    rest.clear_number_attr();
    rest.clear_type_list_attr();
    return rest.SerializeAsString();
  }

  // Returns the type of an argument as the text writes it: float, T, N*float, N*T or Ts...
  static std::string TypeText(const proto::OpDef::ArgDef& arg) {
    if (!arg.type_list_attr().empty()) return arg.type_list_attr() + "...";
    std::string type =
        arg.type() == proto::DT_INVALID ? arg.type_attr() : DataTypeName(arg.type()).str();
    return arg.number_attr().empty() ? type : arg.number_attr() + "*" + type;
  }

  std::string AttrDefsText() const {
    std::string text;
    for (const auto& def : signature_.attr()) {
      text += (text.empty() ? "[" : ", ") + NameText(def.name()) + ": " + def.type();
      if (def.has_default_value()) {
        std::string bytes = def.default_value().SerializeAsString();
        text += " = " + AttrText(AttrView(bytes), def.type());
      }
      proto::OpDef::AttrDef rest = def;
      rest.clear_name();
      rest.clear_type();
      rest.clear_default_value();
      std::string fields = rest.SerializeAsString();
      if (options_.exact && !fields.empty()) text += FieldsText(fields);
    }
    return text.empty() ? text : text + "]";
  }

  std::string ArgText(const proto::OpDef::ArgDef& arg, int index) const {
    std::string text = NameText(arg.name());
    std::string type = TypeText(arg);
    if (!type.empty()) text += ": " + type;
    auto attrs = arg_attrs_.find(index);
    if (options_.exact && attrs != arg_attrs_.end()) text += " " + AttrsText(attrs->second);
    std::string fields = FieldsOf(arg);
    return options_.exact && !fields.empty() ? text + FieldsText(fields) : text;
  }

  // True if the function's header and `return` statement express the whole signature. Otherwise the
  // text also contains the serialized OpDef.
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
    // True if TypeText expresses all fields of the argument, and the text reads back as the same
    // argument.
    auto known = [](const proto::OpDef::ArgDef& arg) {
      if (arg.type() != proto::DT_INVALID)
        return ParseDataType(DataTypeName(arg.type())) && arg.type_attr().empty() &&
               arg.type_list_attr().empty();
      if (!arg.type_list_attr().empty())
        return arg.type_attr().empty() && arg.number_attr().empty();
      return !arg.type_attr().empty() && !ParseDataType(arg.type_attr());
    };
    for (const auto& def : signature_.attr()) *again.add_attr() = def;
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
  TextAttrs attrs_, rets_, control_rets_;
  std::map<int, TextAttrs> arg_attrs_;
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
  for (const std::string& end : ends) {
    TensorName tensor = ReadTensorName(end);
    text += text.empty() ? word.str() + " " : ", ";
    text += (tensor.control ? "^" : "%") + NameText(tensor.node);
    if (tensor.has_index) text += ":" + std::to_string(tensor.index);
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
  // Writes at least a line of dashes, even for an empty graph: an empty file would not be
  // recognized as a graph's text.
  if (os.tell() == begin) os << "---\n";
}

std::string NodeText(const Node& node, const PortDescriber& describe) {
  TextOptions options;
  options.describe = describe;
  return BodyWriter(node.graph(), nullptr, options, /*whole=*/false).Line(node);
}

}  // namespace grapnel
