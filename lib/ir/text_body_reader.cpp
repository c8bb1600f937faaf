#include "lib/ir/text_body_reader.h"

#include "lib/ir/text_inference.h"
#include "lib/ir/wire.h"
#include "lib/ir/wire_map.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

const OpInfo* FindSignature(const llvm::StringMap<OpInfo>& functions, llvm::StringRef name) {
  auto it = functions.find(name);
  return it == functions.end() ? nullptr : &it->second;
}

}  // namespace

void AppendAttrs(std::string* out, uint32_t field, ParsedAttrs attrs) {
  llvm::sort(attrs);
  for (const auto& [key, value] : attrs) AppendMapEntry(out, field, key, value);
}

class BodyReader::Impl {
 public:
  Impl(std::vector<ParsedNode>& nodes, const ParsedFunction* function,
       const llvm::StringMap<OpInfo>& functions, TextBuild* build)
      : nodes_(nodes), function_(function), functions_(functions), build_(*build) {}

  void Run(const OpInfo* signature, llvm::function_ref<void(const std::string&)> add) {
    Flatten(signature);
    ConnectInputs();
    InferAttributes(inference_);
    NameLiterals();
    for (uint32_t i = num_args_; i < flat_.size(); ++i) {
      if (flat_[i].literal) {
        add(LiteralNodeDef(i));
      } else {
        CheckInferred(i);
        CheckClaims(i);
        add(NodeDefOf(i));
      }
    }
  }

  std::string InputText(const ParsedInput& input) {
    if (input.control) return "^" + input.name;
    std::string port = input.port ? ":" + std::to_string(*input.port) : "";
    if (!input.output.empty()) return input.name + ":" + input.output + port;
    auto it = index_.find(input.name);
    if (!function_ || it == index_.end() || it->second < num_args_) return input.name + port;
    const InferenceNode& source = inference_[it->second];
    auto [output, index] = OutputOfPort(source, input.port.value_or(0));
    if (!output.empty()) return (input.name + ":" + output + ":" + llvm::Twine(index)).str();
    if (source.info) {
      Report(input.place, "",
             "op '" + OpOf(it->second) + "' of '" + input.name + "' has no output " +
                 std::to_string(input.port.value_or(0)));
    } else {
      Report(input.place, "",
             "op '" + OpOf(it->second) + "' of '" + input.name +
                 "' is not known: name its output, as in %" + input.name + ":output:0");
    }
    return input.name + port;
  }

  bool CheckInput(const ParsedInput& input, llvm::StringRef reader) {
    if (index_.count(input.name)) return true;
    auto names = [&](NameSink take) {
      for (const auto& entry : index_) take(entry.first());
    };
    Report(input.place, reader, TextOf(NotFound("input", input.name, names)));
    build_.inputs_missing.insert(Where(reader));
    return false;
  }

 private:
  // A node of the text, an argument (both pointers are null), or a constant written within a node's
  // inputs.
  struct Flat {
    ParsedNode* node = nullptr;
    ParsedInput* literal = nullptr;
    uint32_t reader = 0;  // for a constant, the index of the node that reads it
    int slot = 0;
  };

  std::string Where(llvm::StringRef node) const {
    return function_ ? (function_->name + "/" + node).str() : node.str();
  }

  void Report(TextPlace place, llvm::StringRef node, std::string text,
              Severity severity = Severity::kError) {
    build_.problems.push_back(
        {severity, node.empty() ? "" : Where(node), std::move(text), place.ToString()});
  }

  std::string OpOf(uint32_t i) const { return flat_[i].node ? flat_[i].node->op : "Const"; }

  static bool IsConstant(const ParsedNode& node) {
    return node.op == "Const" || node.op == "HostConst";
  }

  void Flatten(const OpInfo* signature) {
    if (signature) {
      for (const OpArg& arg : signature->inputs) {
        index_.try_emplace(arg.name, flat_.size());
        flat_.push_back({});
        InferenceNode& made = inference_.emplace_back();
        made.outputs.assign(1, arg.type);
        made.resolved = true;
      }
    }
    num_args_ = flat_.size();
    for (ParsedNode& node : nodes_) {
      int slot = 0;
      uint32_t first = flat_.size();
      for (ParsedInput& input : node.inputs) {
        if (input.literal) {
          if (!input.name.empty()) index_.try_emplace(input.name, flat_.size());
          flat_.push_back({nullptr, &input, 0, slot});
          InferenceNode& made = inference_.emplace_back();
          made.info = FindOp("Const");
          made.is_literal = true;
          made.natural = input.literal->NaturalType();
          if (input.literal->type) {
            made.outputs.assign(1, *input.literal->type);
            made.resolved = true;
          }
        }
        slot += !input.control;
      }
      for (uint32_t i = first; i < flat_.size(); ++i) flat_[i].reader = flat_.size();
      index_.try_emplace(node.name, flat_.size());
      build_.places.try_emplace(Where(node.name), node.place.ToString());
      flat_.push_back({&node, nullptr, 0, 0});
      inference_.push_back(Start(node));
    }
  }

  InferenceNode Start(ParsedNode& node) {
    InferenceNode made;
    made.info = FindSignature(functions_, node.op);
    if (!made.info) made.info = FindOp(node.op);
    if (IsConstant(node) && node.literal) AddConstantType(node);
    for (const auto& [key, value] : node.attrs) {
      made.given.push_back({key, AttrView(value)});
      if (key == "f" || key == "then_branch" || key == "branches") {
        std::vector<llvm::StringRef> names = AttrView(value).FuncNames();
        if (!names.empty()) made.callee = FindSignature(functions_, names[0]);
      }
    }
    return made;
  }

  // Gives a constant the dtype and shape that its value states, or else those after the node's
  // colon, or else the dtype of its attribute `dtype`; adds that attribute if it is missing.
  static void AddConstantType(ParsedNode& node) {
    TextLiteral& literal = *node.literal;
    bool has_dtype =
        llvm::any_of(node.attrs, [](const auto& attr) { return attr.first == "dtype"; });
    if (!node.claims.empty()) {
      const TensorClaim& claim = node.claims[0];
      if (!literal.type && claim.dtype != proto::DT_INVALID) literal.type = claim.dtype;
      if (!literal.dims && claim.shape.IsFullyKnown())
        literal.dims = Dims(claim.shape.dims().begin(), claim.shape.dims().end());
    }
    if (!literal.type && has_dtype) {
      for (const auto& [key, value] : node.attrs) {
        if (key == "dtype") literal.type = AttrView(value).AsType();
      }
    }
    bool without = llvm::is_contained(node.without, "dtype");
    if (!has_dtype && !without && literal.form != TextLiteral::Form::kProto)
      node.attrs.push_back({"dtype", attr::Type(literal.NaturalType())});
  }

  void ConnectInputs() {
    uint32_t literal = num_args_;
    for (uint32_t i = num_args_; i < flat_.size(); ++i) {
      if (flat_[i].literal) continue;
      for (ParsedInput& input : flat_[i].node->inputs) {
        if (input.control) {
          CheckControl(input, flat_[i].node->name);
          continue;
        }
        InferenceNode::Input& made = inference_[i].inputs.emplace_back();
        if (input.literal) {
          made.node = literal++;
        } else {
          auto it = index_.find(input.name);
          // A quoted input is not checked here: it may be an invalid text from a broken file, which
          // import reports.
          if (it == index_.end() && !input.quoted) CheckInput(input, flat_[i].node->name);
          if (it != index_.end()) made.node = it->second;
          made.port = input.port.value_or(0);
          made.output = input.output;
        }
      }
      literal = i + 1;
    }
  }

  void CheckControl(const ParsedInput& input, llvm::StringRef reader) {
    if (TextScanner::IsBareName(input.name)) CheckInput(input, reader);
  }

  void NameLiterals() {
    for (uint32_t i = num_args_; i < flat_.size(); ++i) {
      ParsedInput* input = flat_[i].literal;
      if (!input || !input->name.empty()) continue;
      uint32_t reader = flat_[i].reader;
      std::string base = LiteralName(inference_[reader], flat_[reader].node->name, flat_[i].slot);
      input->name = base;
      for (int n = 1; !index_.try_emplace(input->name, i).second; ++n)
        input->name = base + "_" + std::to_string(n);
    }
  }

  // Reports an attribute for a dtype or a number of inputs that the op requires, if it is neither
  // written nor could be inferred.
  void CheckInferred(uint32_t i) {
    const InferenceNode& node = inference_[i];
    const ParsedNode& parsed = *flat_[i].node;
    if (!node.info || parsed.broken || build_.inputs_missing.count(Where(parsed.name))) return;
    std::set<llvm::StringRef> asked;
    for (const OpArg& arg : node.info->inputs) {
      for (const std::string* attr : {&arg.type_attr, &arg.number_attr, &arg.type_list_attr}) {
        llvm::StringRef key = *attr;
        if (key.empty() || !asked.insert(key).second || node.Find(key) ||
            llvm::is_contained(parsed.without, key))
          continue;
        Report(parsed.place, parsed.name,
               ("'" + key + "' does not follow from the node's inputs: write {" + key + "=...}")
                   .str());
      }
    }
  }

  void CheckClaims(uint32_t i) {
    const ParsedNode& parsed = *flat_[i].node;
    const InferenceNode& node = inference_[i];
    if (parsed.literal) return;  // for a constant, a stated type is not a check: it sets the type
    int port = 0;
    for (const TensorClaim& claim : parsed.claims) {
      bool known = node.info && node.resolved;
      if (known && port >= static_cast<int>(node.outputs.size())) {
        Report(claim.place, parsed.name,
               llvm::formatv("has {0} outputs, but the text says {1}", node.outputs.size(),
                             parsed.claims.size())
                   .str());
        return;
      }
      DataType is = known ? node.outputs[port] : proto::DT_INVALID;
      if (is != proto::DT_INVALID && claim.dtype != proto::DT_INVALID && is != claim.dtype)
        Report(claim.place, parsed.name,
               llvm::formatv("output {0} is {1}, but the text says {2}", port, DataTypeName(is),
                             DataTypeName(claim.dtype))
                   .str());
      if (claim.shape.known_rank())
        build_.claims.push_back({function_ ? function_->name : "", parsed.name, port, claim.shape,
                                 claim.place.ToString()});
      ++port;
    }
  }

  std::string LiteralNodeDef(uint32_t i) {
    const ParsedInput& input = *flat_[i].literal;
    DataType type =
        inference_[i].outputs.empty() ? inference_[i].natural : inference_[i].outputs[0];
    if (type == proto::DT_INVALID) type = inference_[i].natural;
    std::string out;
    AppendBytesField(&out, 1, input.name);
    AppendBytesField(&out, 2, "Const");
    const std::string& device = flat_[flat_[i].reader].node->device;
    if (!device.empty()) AppendBytesField(&out, 4, device);
    ParsedAttrs attrs;
    AddValue(*input.literal, type, input.name, &attrs);
    attrs.push_back({"dtype", attr::Type(type)});
    AppendAttrs(&out, 5, std::move(attrs));
    return out;
  }

  void AddValue(const TextLiteral& literal, DataType type, llvm::StringRef node,
                ParsedAttrs* attrs) {
    auto tensor = TensorProtoOf(literal, type);
    if (!tensor) return Report(literal.place, node, TextOf(tensor.takeError()));
    if (literal.form == TextLiteral::Form::kCut)
      Report(literal.place, node, "its value is cut short ('...'): zeros replace it",
             Severity::kWarning);
    attrs->push_back({"value", attr::Tensor(*tensor)});
  }

  std::string NodeDefOf(uint32_t i) {
    ParsedNode& node = *flat_[i].node;
    std::string out;
    if (!node.name.empty()) AppendBytesField(&out, 1, node.name);
    if (!node.op.empty()) AppendBytesField(&out, 2, node.op);
    for (const ParsedInput& input : node.inputs)
      AppendBytesField(&out, 3, input.literal ? InputText(LiteralInput(input)) : InputText(input));
    if (!node.device.empty()) AppendBytesField(&out, 4, node.device);
    ParsedAttrs attrs = node.attrs;
    if (node.literal) AddValue(*node.literal, node.literal->NaturalType(), node.name, &attrs);
    for (const auto& [key, value] : inference_[i].inferred) {
      if (!llvm::is_contained(node.without, key)) attrs.push_back({key.str(), value});
    }
    AppendAttrs(&out, 5, std::move(attrs));
    return out + node.fields;
  }

  static ParsedInput LiteralInput(const ParsedInput& input) {
    ParsedInput made;
    made.name = input.name;
    return made;
  }

  std::vector<ParsedNode>& nodes_;
  const ParsedFunction* function_;
  const llvm::StringMap<OpInfo>& functions_;
  TextBuild& build_;
  uint32_t num_args_ = 0;
  std::vector<Flat> flat_;
  std::vector<InferenceNode> inference_;
  llvm::StringMap<uint32_t> index_;
};

BodyReader::BodyReader(std::vector<ParsedNode>& nodes, const ParsedFunction* function,
                       const llvm::StringMap<OpInfo>& functions, TextBuild* build)
    : impl_(std::make_unique<Impl>(nodes, function, functions, build)) {}
BodyReader::~BodyReader() = default;

void BodyReader::Run(const OpInfo* signature, llvm::function_ref<void(const std::string&)> add) {
  impl_->Run(signature, add);
}
std::string BodyReader::InputText(const ParsedInput& input) { return impl_->InputText(input); }
bool BodyReader::CheckInput(const ParsedInput& input, llvm::StringRef reader) {
  return impl_->CheckInput(input, reader);
}

}  // namespace grapnel
