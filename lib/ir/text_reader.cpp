#include <algorithm>
#include <set>

#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/ir/text.h"
#include "lib/ir/text_inference.h"
#include "lib/ir/text_parser.h"
#include "lib/ir/wire.h"
#include "lib/proto/op_def.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// What a graph is made of beside its bytes.
struct Build {
  std::vector<Problem> problems;
  std::vector<ShapeClaim> claims;
  llvm::StringMap<std::string> places;
  std::set<std::string> inputs_missing;  // nodes of which a problem says so already
};

void AppendMapEntry(std::string* out, uint32_t field, llvm::StringRef key, llvm::StringRef value) {
  std::string entry;
  AppendBytesField(&entry, 1, key);
  AppendBytesField(&entry, 2, value);
  AppendBytesField(out, field, entry);
}

void AppendAttrs(std::string* out, uint32_t field, ParsedAttrs attrs) {
  llvm::sort(attrs);
  for (const auto& [key, value] : attrs) AppendMapEntry(out, field, key, value);
}

const OpInfo* FindFunction(const llvm::StringMap<OpInfo>& functions, llvm::StringRef name) {
  auto it = functions.find(name);
  return it == functions.end() ? nullptr : &it->second;
}

// The nodes of one body, from their text to NodeDefs.
class BodyBuilder {
 public:
  BodyBuilder(std::vector<ParsedNode>& nodes, const ParsedFunction* function,
              const llvm::StringMap<OpInfo>& functions, Build* build)
      : nodes_(nodes), function_(function), functions_(functions), build_(*build) {}

  // Calls `add` with each NodeDef, in order; constants within inputs come before their readers.
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

  // "node", "node:1"; in a function "node:output:1", "argument".
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

  // Whether something of that name is there; a problem if not.
  bool CheckInput(const ParsedInput& input, llvm::StringRef reader) {
    if (index_.count(input.name)) return true;
    Report(input.place, reader, "'" + input.name + "' not found");
    build_.inputs_missing.insert(Where(reader));
    return false;
  }

 private:
  // A node of the text, an argument (neither), or a constant within a node's inputs.
  struct Flat {
    ParsedNode* node = nullptr;
    ParsedInput* literal = nullptr;
    uint32_t reader = 0;  // of a literal
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
    made.info = FindFunction(functions_, node.op);
    if (!made.info) made.info = FindOp(node.op);
    if (IsConstant(node) && node.literal) AddConstantType(node);
    for (const auto& [key, value] : node.attrs) {
      made.given.push_back({key, AttrView(value)});
      if (key == "f" || key == "then_branch" || key == "branches") {
        std::vector<llvm::StringRef> names = AttrView(value).FuncNames();
        if (!names.empty()) made.callee = FindFunction(functions_, names[0]);
      }
    }
    return made;
  }

  // A constant's dtype and shape are its own, else those that it claims.
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
          // In quotes it may be what a broken file says; importing tells.
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

  // A dtype or number that the op demands and that neither stands there nor follows.
  void CheckInferred(uint32_t i) {
    const InferenceNode& node = inference_[i];
    const ParsedNode& parsed = *flat_[i].node;
    if (!node.info || build_.inputs_missing.count(Where(parsed.name))) return;
    std::set<llvm::StringRef> asked;
    for (const OpArg& arg : node.info->inputs) {
      for (llvm::StringRef key : {arg.type_attr, arg.number_attr, arg.type_list_attr}) {
        if (key.empty() || !asked.insert(key).second || node.Find(key) ||
            llvm::is_contained(parsed.without, key))
          continue;
        Report(parsed.place, parsed.name,
               ("'" + key + "' does not follow from its inputs: write {" + key + "=...}").str());
      }
    }
  }

  void CheckClaims(uint32_t i) {
    const ParsedNode& parsed = *flat_[i].node;
    const InferenceNode& node = inference_[i];
    if (parsed.literal) return;  // there the claim says what it is
    int port = 0;
    for (const TensorClaim& claim : parsed.claims) {
      bool known = node.info && node.resolved;
      if (known && port >= static_cast<int>(node.outputs.size())) {
        Report(claim.place, parsed.name,
               llvm::formatv("has {0} outputs, {1} are written", node.outputs.size(),
                             parsed.claims.size())
                   .str());
        return;
      }
      DataType is = known ? node.outputs[port] : proto::DT_INVALID;
      if (is != proto::DT_INVALID && claim.dtype != proto::DT_INVALID && is != claim.dtype)
        Report(claim.place, parsed.name,
               llvm::formatv("output {0} is {1}, {2} is written", port, DataTypeName(is),
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
      Report(literal.place, node, "its value is cut short ('...'): zeros stand for it",
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
  Build& build_;
  uint32_t num_args_ = 0;
  std::vector<Flat> flat_;
  std::vector<InferenceNode> inference_;
  llvm::StringMap<uint32_t> index_;
};

proto::OpDef SignatureOf(const ParsedFunction& function) {
  proto::OpDef op_def;
  if (function.signature) {
    op_def.ParseFromString(*function.signature);
    return op_def;
  }
  op_def.set_name(function.name);
  auto add = [](const ParsedArg& arg, proto::OpDef::ArgDef* out) {
    out->MergeFromString(arg.fields);
    out->set_name(arg.name);
    out->set_type(arg.type);
  };
  for (const ParsedArg& arg : function.args) add(arg, op_def.add_input_arg());
  for (const ParsedArg& arg : function.results) add(arg, op_def.add_output_arg());
  op_def.set_is_stateful(function.stateful);
  for (const ParsedReturn& result : function.returns) {
    if (result.input.control) op_def.add_control_output(result.name);
  }
  return op_def;
}

// FunctionDef: 1 signature, 3 node_def, 4 ret, 5 attr, 6 control_ret, 7 arg_attr.
std::string FunctionDefOf(ParsedFunction& function, const llvm::StringMap<OpInfo>& functions,
                          Build* build) {
  const OpInfo& info = functions.find(function.name)->second;
  std::string out;
  AppendBytesField(
      &out, 1,
      function.signature ? *function.signature : SignatureOf(function).SerializeAsString());
  BodyBuilder body(function.nodes, &function, functions, build);
  body.Run(&info, [&](const std::string& node) { AppendBytesField(&out, 3, node); });
  size_t place = 0;
  for (const ParsedReturn& result : function.returns) {
    if (result.input.control) {
      AppendMapEntry(&out, 6, result.name, result.input.name);
      continue;
    }
    std::string name = !result.name.empty()          ? result.name
                       : place < info.outputs.size() ? info.outputs[place].name
                                                     : "";
    ++place;
    if (result.none) continue;
    if (name.empty()) {
      build->problems.push_back({Severity::kError, "",
                                 "function '" + function.name + "' has " +
                                     std::to_string(info.outputs.size()) +
                                     " results, more are returned",
                                 result.input.place.ToString()});
      continue;
    }
    if (!result.input.quoted) body.CheckInput(result.input, "return");
    AppendMapEntry(&out, 4, name, body.InputText(result.input));
  }
  AppendAttrs(&out, 5, std::move(function.attrs));
  for (size_t i = 0; i < function.args.size(); ++i) {
    if (!function.args[i].attrs) continue;
    std::string attrs, entry;
    AppendAttrs(&attrs, 1, std::move(*function.args[i].attrs));
    AppendVarintField(&entry, 1, i);
    AppendBytesField(&entry, 2, attrs);
    AppendBytesField(&out, 7, entry);
  }
  return out + function.fields;
}

// Without the lines that say less: that an input is missing is said once, with its place.
void TakeImportProblems(const Build& build, Module* module) {
  std::vector<Problem> problems = build.problems;
  for (Problem& problem : module->problems) {
    bool said = build.inputs_missing.count(problem.where) &&
                llvm::StringRef(problem.text).contains("not found");
    if (said) continue;
    problem.place = module->places.lookup(problem.where);
    problems.push_back(std::move(problem));
  }
  module->problems = std::move(problems);
}

TextGraph BuildGraph(ParsedGraph& parsed, const std::string& file_name) {
  Build build;
  build.problems = std::move(parsed.problems);
  llvm::StringMap<OpInfo> functions;
  for (const ParsedFunction& function : parsed.functions) {
    build.places.try_emplace(function.name, function.place.ToString());
    functions.try_emplace(function.name, OpInfoFromProto(SignatureOf(function)));
  }
  std::string bytes, library;
  BodyBuilder(parsed.nodes, nullptr, functions, &build).Run(nullptr, [&](const std::string& node) {
    AppendBytesField(&bytes, 1, node);
  });
  for (ParsedFunction& function : parsed.functions)
    AppendBytesField(&library, 1, FunctionDefOf(function, functions, &build));
  library += parsed.library_fields;
  if (parsed.has_library || !library.empty()) AppendBytesField(&bytes, 2, library);
  if (parsed.versions) AppendBytesField(&bytes, 4, *parsed.versions);
  bytes += parsed.fields;

  TextGraph graph;
  graph.title = std::move(parsed.title);
  auto file = FileBytes::FromString(std::move(bytes), file_name);
  auto module = ImportGraphDef(file, file->bytes());
  if (module) {
    graph.module = std::move(*module);
  } else {
    graph.module = std::make_unique<Module>();
    build.problems.push_back({Severity::kError, "", TextOf(module.takeError())});
  }
  graph.module->places = std::move(build.places);
  TakeImportProblems(build, graph.module.get());
  graph.feeds = std::move(parsed.feeds);
  graph.fetches = std::move(parsed.fetches);
  graph.claims = std::move(build.claims);
  return graph;
}

bool IsDashes(llvm::StringRef line) { return line.substr(0, 3) == "---"; }

// What stands between two lines of dashes, and the title on the first of them.
struct Section {
  llvm::StringRef title, text;
  int first_line;
};

std::vector<Section> Split(llvm::StringRef text) {
  std::vector<Section> sections = {{"", text, 1}};
  int line = 1;
  for (llvm::StringRef rest = text; !rest.empty(); ++line) {
    auto [head, tail] = rest.split('\n');
    if (IsDashes(head)) {
      Section& last = sections.back();
      last.text = {last.text.begin(), static_cast<size_t>(head.begin() - last.text.begin())};
      sections.push_back({head.ltrim('-').trim(), tail, line + 1});
    }
    rest = tail;
  }
  return sections;
}

}  // namespace

bool LooksLikeGraphText(llvm::StringRef head) {
  for (;;) {
    head = head.ltrim(" \t\r\n\f\v");
    if (head.empty() || head[0] != '#') break;
    head = head.drop_until([](char c) { return c == '\n'; });
  }
  if (head.empty()) return false;
  if (head[0] == '%' || IsDashes(head)) return true;
  llvm::StringRef word = head.take_while([](char c) { return llvm::isAlpha(c) || c == '_'; });
  llvm::StringRef after = head.drop_front(word.size());
  if (after.empty() || after[0] != ' ') return false;
  char next = after.ltrim(' ').empty() ? '\0' : after.ltrim(' ')[0];
  if (word == "func") return next == '@';
  if (word == "fetch" || word == "feed") return next == '%' || next == '^';
  if (word == "producer" || word == "min_consumer" || word == "bad_consumers")
    return llvm::isDigit(next);
  return (word == "library" || word == "versions" || word == "fields") && next == '"';
}

std::vector<TextGraph> ReadGraphText(const FileBytes& file) {
  llvm::StringRef text = file.bytes();
  text.consume_front("\xEF\xBB\xBF");
  std::vector<TextGraph> graphs;
  std::vector<Section> sections = Split(text);
  for (const Section& section : sections) {
    ParsedGraph parsed = ParseGraphText(section.text, section.first_line);
    // Before the first line of dashes there may be comments alone.
    bool head_alone = &section == &sections.front() && sections.size() > 1;
    if (head_alone && parsed.IsEmpty()) continue;
    parsed.title = section.title.str();
    if (parsed.title.empty() && sections.size() > 2)
      parsed.title = std::to_string(graphs.size() + 1);
    graphs.push_back(BuildGraph(parsed, file.name()));
  }
  return graphs;
}

}  // namespace grapnel
