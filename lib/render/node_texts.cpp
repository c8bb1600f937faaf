#include "lib/render/node_texts.h"

#include <algorithm>

#include "lib/io/saved_variables.h"
#include "lib/ir/attr.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/literal.h"
#include "lib/ir/literal_json.h"
#include "lib/ir/node_types.h"
#include "lib/ir/text.h"
#include "lib/render/labels.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

constexpr int kMostTypes = 1000;  // as in ShownOutputs
constexpr int kTypesInText = 64;
constexpr size_t kLongValue = 512;  // an attribute of more bytes is in a key by its address
constexpr char kNameHere = '\1', kInputsHere = '\2';

std::string TypeText(const ShapeMap& shapes, Port port) {
  return TensorText(shapes.TypeOf(port), shapes.OfPort(port));
}

int NumTypes(const Node& node) { return std::clamp(NumOutputs(node), 0, kMostTypes); }

// True only if the graph's text has the name without quotes. False for some such names, with '>' or
// a backslash.
bool IsPlain(llvm::StringRef name) {
  return !name.empty() && llvm::all_of(name, [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.' || c == '/' || c == '-';
  });
}

// True if the text of the node consists of its op, plain names and texts of attributes.
bool HasPlainNames(const Node& node) {
  if (!IsPlain(node.name()) || !IsPlain(node.op())) return false;
  const Graph& graph = node.graph();
  return llvm::all_of(node.inputs(), [&](Port port) {
    return port.node != kNoNode && IsPlain(graph.node(port.node).name());
  });
}

// Returns the inputs as NodeText writes plain names: "(%a, %b:1, ^c)".
std::string InputsText(const Node& node) {
  std::string text;
  for (Port port : node.inputs()) {
    text += text.empty() ? "(" : ", ";
    llvm::StringRef name = node.graph().node(port.node).name();
    text += ((port.IsControl() ? "^" : "%") + name).str();
    if (port.index > 0) text += ":" + std::to_string(port.index);
  }
  return text.empty() ? text : text + ")";
}

// Returns NodeText with kNameHere and kInputsHere, if it is of the expected form; else NodeText.
std::string TextWithPlaces(const Node& node, bool is_plain) {
  std::string text = NodeText(node), begin = ("%" + node.name() + " = ").str();
  std::string inputs = is_plain ? InputsText(node) : "";
  size_t at = text.find(inputs, begin.size());
  if (!is_plain || !llvm::StringRef(text).starts_with(begin) || at == std::string::npos)
    return Printable(text);
  llvm::StringRef op = llvm::StringRef(text).slice(begin.size(), at);
  if (inputs.empty()) return std::string("%") + kNameHere + " = " + Printable(text.substr(at));
  return std::string("%") + kNameHere + " = " + Printable(op) + kInputsHere +
         Printable(text.substr(at + inputs.size()));
}

// Returns the name of the loop's variable that an argument or result is, or the key that a result has
// in the signature whose body this is; empty if it is neither.
std::string KeyOfEnd(const PageBody& body, const Node& node) {
  if (std::string variable = body.variables.Of(node); !variable.empty()) return variable;
  if (!body.entry || !IsResult(node) || node.num_inputs() == 0) return "";
  Port port = node.input(0);
  for (const SignatureBody::End& end : body.entry->outputs)
    if (end.port == port) return end.key;
  return "";
}

ValueTexts::Text TextOfValue(const Literal& value) {
  ValueTexts::Text text;
  text.value = PrintableStart(value.ToString());
  constexpr int64_t kSeenAtOnce = 8;
  std::optional<LiteralStatistics> statistics;
  if (value.num_elements() > kSeenAtOnce) statistics = StatisticsOf(value);
  if (statistics)
    text.statistics =
        JsonText([&](llvm::json::OStream& json) { WriteStatisticsJson(*statistics, json); });
  text.hash = llvm::xxh3_64bits(text.value + text.statistics);
  return text;
}

// The value of the variable that a node is or reads; null if it is not known.
struct StoredValue {
  const ValueTexts::Text* text = nullptr;
  std::string variable;  // its name
};
StoredValue StoredValueOf(const PageBody& body, const Node& node) {
  NodeId id = body.values ? body.values->VariableOf(node) : kNoNode;
  if (id == kNoNode) return {};
  Node variable = node.graph().module().main.node(id);
  std::string name = body.layers.VariableOf(variable);
  return {body.values->Of(id), name.empty() ? NameOfVariable(variable) : std::move(name)};
}

class Writer {
 public:
  Writer(const PageBody& body, const Node& node, llvm::json::OStream& json)
      : body_(body), node_(node), json_(json), info_(DefinitionOf(node)) {}

  void Traits() {
    json_.attribute("op", Printable(node_.op()));
    if (IsArgument(node_)) json_.attribute("label", "arg " + Index());
    if (IsResult(node_)) json_.attribute("label", "result " + Index());
    Text("key", Printable(KeyOfEnd(body_, node_)));
    OpGroup group = GroupOf(node_.op());
    json_.attribute("group", static_cast<int>(group));
    if (group == OpGroup::kInput) json_.attribute("input", true);
    Text("device", PageDevice(node_, body_.marks));
    Text("cluster", Printable(body_.clusters.Of(node_)));
    json_.attributeArray("types", [&] {
      for (int port = 0; port < NumTypes(node_); ++port)
        json_.value(TypeText(body_.scopes.shapes(), {node_.id(), port}));
    });
    Text("attributes", AttributesText(node_));
    Calls();
  }

  void Panel(bool is_plain) {
    Text("device", Printable(node_.device()));
    if (body_.marks && body_.marks->device_of)
      json_.attribute("placed", PageDevice(node_, body_.marks));
    json_.attribute("text", TextWithPlaces(node_, is_plain));
    if (!info_) json_.attribute("custom", true);
    Value();
    Attributes();
    Names();
    FurtherTypes();
  }

 private:
  void Text(llvm::StringRef key, const std::string& text) {
    if (!text.empty()) json_.attribute(key, text);
  }

  std::string Index() const { return std::to_string(node_.GetInt("index")); }

  // Writes the functions that the node calls. The role of a function in an attribute is the
  // attribute's name; that of a function that is the op is "".
  void Calls() {
    std::vector<std::pair<llvm::StringRef, llvm::StringRef>> calls;
    if (body_.find(node_.op())) calls.push_back({"", node_.op()});
    if (MayCallFunctions(node_)) {
      for (const auto& [key, value] : node_.Attrs()) {
        for (llvm::StringRef name : value.FuncNames())
          if (body_.find(name)) calls.push_back({key, name});
      }
    }
    if (calls.empty()) return;
    json_.attributeArray("calls", [&] {
      for (const auto& [role, name] : calls) {
        json_.array([&, &role = role, &name = name] {
          json_.value(Printable(role));
          json_.value(Printable(name));
          json_.value(*body_.find(name));
        });
      }
    });
  }

  void Value() {
    if (!IsConstant(node_)) return ValueOfVariable();
    auto literal = Literal::FromConst(node_);
    if (!literal) return llvm::consumeError(literal.takeError());
    WriteValue(TextOfValue(*literal));
  }

  void ValueOfVariable() {
    StoredValue stored = StoredValueOf(body_, node_);
    if (!stored.text) return;
    json_.attribute("variable", Printable(stored.variable));
    WriteValue(*stored.text);
  }

  void WriteValue(const ValueTexts::Text& text) {
    json_.attribute("value", text.value);
    if (text.statistics.empty()) return;
    json_.attributeBegin("statistics");
    json_.rawValue(text.statistics);
    json_.attributeEnd();
  }

  void Attributes() {
    json_.attributeArray("attributes", [&] {
      for (const auto& [key, value] : node_.Attrs()) {
        json_.array([&, &key = key, &value = value] {
          json_.value(Printable(key));
          json_.value(PrintableStart(value.ToString()));
          std::vector<llvm::StringRef> functions = value.FuncNames();
          if (functions.empty()) return;
          json_.array([&] {
            for (llvm::StringRef name : functions) {
              if (std::optional<size_t> body = body_.find(name)) json_.value(*body);
            }
          });
        });
      }
    });
  }

  void Names() {
    if (node_.num_inputs() > 0) {
      json_.attributeArray("in", [&] {
        for (int slot = 0; slot < node_.num_inputs(); ++slot)
          json_.value(Printable(InputName(info_, node_, slot)));
      });
    }
    if (!info_ || NumTypes(node_) == 0) return;
    json_.attributeArray("out", [&] {
      for (int port = 0; port < NumTypes(node_); ++port)
        json_.value(Printable(OutputOfPort(node_, *info_, port).first));
    });
  }

  // Writes the types of the outputs that nodes read and that are not in the traits.
  void FurtherTypes() {
    if (NumOutputs(node_) <= kMostTypes) return;
    std::map<int32_t, std::string> types;
    for (const Use& use : node_.uses()) {
      Port port = node_.graph().node(use.node).input(static_cast<int>(use.slot));
      if (port.index >= kMostTypes) types.try_emplace(port.index);
    }
    json_.attributeObject("types", [&] {
      for (auto& [port, text] : types)
        json_.attribute(std::to_string(port), TypeText(body_.scopes.shapes(), {node_.id(), port}));
    });
  }

  const PageBody& body_;
  Node node_;
  llvm::json::OStream& json_;
  const OpInfo* info_;
};

// A stream into a string, with a small buffer: llvm::raw_string_ostream has none, which is slow for
// JSON, and allocating one takes longer than writing a short text.
class TextStream : public llvm::raw_ostream {
 public:
  TextStream() { SetBuffer(buffer_, sizeof buffer_); }
  ~TextStream() override { flush(); }
  std::string Take() && {
    flush();
    return std::move(text_);
  }

 private:
  void write_impl(const char* bytes, size_t size) override { text_.append(bytes, size); }
  uint64_t current_pos() const override { return text_.size(); }

  std::string text_;
  char buffer_[1024];
};

template <typename Number>
void AppendBytes(Number number, llvm::SmallVectorImpl<char>* key) {
  const auto* bytes = reinterpret_cast<const char*>(&number);
  key->append(bytes, bytes + sizeof number);
}

void AppendText(llvm::StringRef text, llvm::SmallVectorImpl<char>* key) {
  AppendBytes(text.size(), key);
  key->append(text.begin(), text.end());
}

// Returns the cost of a node with the constants and variables folded into it.
Cost CostWithConstants(const BodyScopes& body, const Node& node) {
  Cost cost = body.costs().OfNode(node.id());
  for (int i = 0; i < node.num_inputs(); ++i) {
    Node input = node.input_node(i);
    while (input && body.folding().uses[input.id()] == NodeUse::kFolded) {
      cost += body.costs().OfNode(input.id());
      input = input.num_inputs() == 1 ? input.input_node(0) : Node();
    }
  }
  return cost;
}

}  // namespace

std::string JsonText(llvm::function_ref<void(llvm::json::OStream&)> write) {
  TextStream os;
  {
    llvm::json::OStream json(os);
    write(json);
  }
  return std::move(os).Take();
}

std::string AttributesText(const Node& node) {
  std::string text;
  for (const auto& [key, value] : node.Attrs()) {
    if (value.kind() == AttrKind::kTensor || key.starts_with("_output_shapes")) continue;
    text += (text.empty() ? "" : " ") + key.str() + "=" + value.ToString();
  }
  return Printable(text);
}

std::string OutputTypes(const ShapeMap& shapes, const Node& node) {
  std::string text;
  int count = NumOutputs(node);
  for (int port = 0; port < std::min(count, kTypesInText); ++port)
    text += (port ? " " : "") + TypeText(shapes, {node.id(), port});
  return count > kTypesInText ? text + " ..." : text;
}

// Makes bytes that are equal only for nodes whose traits and panels have the same texts; if
// `is_of_page`, only for nodes of this page. Making them takes a fraction of the time that the
// texts take.
void NodeTexts::MakeKey(const Node& node, bool with_panel, Key* key, bool* is_of_page) const {
  AppendText(node.op(), key);
  AppendText(node.device(), key);
  AppendBytes(node.num_inputs(), key);
  if (body_.marks && body_.marks->device_of) AppendText(body_.marks->device_of(node), key);
  AppendText(body_.clusters.Of(node), key);
  AppendText(KeyOfEnd(body_, node), key);
  int outputs = NumOutputs(node);
  AppendBytes(outputs, key);
  for (int port = 0; port < std::min(outputs, kMostTypes); ++port) {
    Port at{node.id(), port};
    const Shape& shape = body_.scopes.shapes().OfPort(at);
    AppendBytes(body_.scopes.shapes().TypeOf(at), key);
    AppendBytes(shape.known_rank() ? shape.rank() : -1, key);
    for (int i = 0; shape.known_rank() && i < shape.rank(); ++i)
      AppendBytes(shape.IsKnown(i) ? shape.dim(i) : kUnknownDim, key);
  }
  node.ForEachAttr([&](llvm::StringRef name, AttrView value) {
    AppendText(name, key);
    AppendBytes(value.bytes().size(), key);
    if (value.bytes().size() > kLongValue) {
      AppendBytes(value.bytes().data(), key);  // the same bytes, at one address
    } else {
      *key += value.bytes();
    }
  });
  // The texts contain names, or depend on the readers.
  bool is_of_node = outputs > kMostTypes || !HasPlainNames(node);
  if (is_of_node) AppendBytes(node.id(), key);
  StoredValue stored = with_panel ? StoredValueOf(body_, node) : StoredValue();
  if (stored.text) {
    AppendText(stored.variable, key);
    AppendBytes(stored.text->hash, key);
  }
  // The numbers of called functions' bodies, and the definitions of ops that are functions, are
  // those of the page.
  *is_of_page = is_of_node || MayCallFunctions(node) || body_.find(node.op());
}

SharedTexts NodeTexts::SharedOf(const Node& node, bool with_panel) {
  bool is_of_page = false;
  Key key;
  MakeKey(node, with_panel, &key, &is_of_page);
  if (in_file_ && with_panel && !is_of_page) {
    if (const SharedTexts* found = in_file_->Find({key.size(), llvm::xxh3_64bits(key.str())}))
      return {found->traits | kInFile, found->panel | kInFile};
  }
  auto [it, is_new] = known_.try_emplace(key.str());
  auto& [shared, of_page] = it->second;
  of_page = is_of_page;
  auto text_of = [&](auto write) {
    return JsonText(
        [&](llvm::json::OStream& json) { json.object([&] { write(Writer(body_, node, json)); }); });
  };
  if (is_new)
    shared.traits =
        texts_.Number(PageTextKind::kTraits, text_of([](Writer writer) { writer.Traits(); }));
  if (with_panel && shared.panel == 0) {
    bool is_plain = HasPlainNames(node);
    shared.panel = texts_.Number(PageTextKind::kPanel,
                                 text_of([&](Writer writer) { writer.Panel(is_plain); }));
  }
  return with_panel ? shared : SharedTexts{shared.traits, 0};
}

void NodeTexts::ForEachShared(
    llvm::function_ref<void(KnownNodeTexts::Key, SharedTexts)> visit) const {
  for (const auto& made : known_) {
    if (!made.second.is_of_page)
      visit({made.getKey().size(), llvm::xxh3_64bits(made.getKey())}, made.second.texts);
  }
}

uint32_t NodeTexts::BoxOf(const Node& node) {
  const BodyScopes& scopes = body_.scopes;
  std::vector<NodeId> noted;
  std::vector<std::string> notes = ConstantNotes(node, scopes.folding().uses, &scopes.shapes(),
                                                 body_.entry, &body_.layers, &noted);
  Cost cost = CostWithConstants(scopes, node);
  if (notes.empty() && cost.flops == 0 && cost.bytes == 0) return 0;
  std::string text = JsonText([&](llvm::json::OStream& json) {
    json.object([&] {
      if (!notes.empty()) {
        json.attributeArray("notes", [&] {
          for (const std::string& note : notes) json.value(note);
        });
        json.attributeArray("noted", [&] {
          for (NodeId id : noted) json.value(int64_t{id} - node.id());
        });
      }
      if (cost.flops) json.attribute("flops", cost.flops);
      if (cost.bytes) json.attribute("bytes", cost.bytes);
    });
  });
  return texts_.Number(PageTextKind::kBox, text);
}

uint32_t NodeTexts::DetailsOf(const Node& node) {
  if (!body_.marks || !body_.marks->details) return 0;
  std::vector<PageMarks::Detail> details = body_.marks->details(node);
  if (details.empty()) return 0;
  std::string text = JsonText([&](llvm::json::OStream& json) {
    auto write_lines = [&](llvm::StringRef text) {
      llvm::SmallVector<llvm::StringRef, 16> lines;
      text.rtrim('\n').split(lines, '\n');
      json.attributeArray("lines", [&] {
        for (llvm::StringRef line : lines) json.value(Printable(line));
      });
    };
    json.array([&] {
      for (const PageMarks::Detail& detail : details) {
        json.object([&] {
          json.attribute("what", PrintableStart(detail.what));
          if (!detail.card.empty()) json.attribute("card", detail.card);
          if (!detail.text.empty()) return write_lines(detail.text);
          json.attribute("before", PrintableStart(detail.before));
          json.attribute("after", PrintableStart(detail.after));
        });
      }
    });
  });
  return texts_.Number(PageTextKind::kDetails, text);
}

uint32_t NodeTexts::StackOf(const Node& node) {
  const Function* function = node.graph().function();
  llvm::StringRef name = function ? function->name() : "";
  return texts_.Number(PageTextKind::kStack, body_.stacks.Of(name, node));
}

NodeId ValueTexts::VariableOf(const Node& node) const {
  bool may_show = IsVariable(node) || node.op() == "ReadVariableOp" ||
                  (IsArgument(node) && node.GetType("T") == proto::DT_RESOURCE);
  return may_show ? values_.variable_of(node) : kNoNode;
}

const ValueTexts::Text* ValueTexts::Of(NodeId variable) {
  Made* made;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    made = &made_[variable];
  }
  std::call_once(made->once, [&] {
    if (std::optional<Literal> value = values_.read(variable)) made->text = TextOfValue(*value);
  });
  return made->text ? &*made->text : nullptr;
}

std::string StackTexts::Of(llvm::StringRef function, const Node& node) {
  if (lines_.empty()) return "";
  LineTable::TraceId trace = lines_.Find(function, node.name());
  if (!trace) trace = lines_.Of(node);
  if (!trace) return "";
  std::lock_guard<std::mutex> lock(mutex_);
  auto [it, is_new] = texts_.try_emplace(trace);
  if (is_new) it->second = Make(trace);
  return it->second;
}

// Writes the innermost frame first, because users look for that frame.
std::string StackTexts::Make(LineTable::TraceId trace) const {
  std::optional<SourceFrame> line = lines_.LineOf(trace);
  const LineTable::Stack stack = lines_.StackOf(trace);
  return JsonText([&](llvm::json::OStream& json) {
    json.object([&] {
      if (line) json.attribute("line", Printable(FrameText(*line, /*with_function=*/false)));
      json.attributeArray("frames", [&] {
        for (const SourceFrame& frame : llvm::reverse(stack))
          json.object([&] { WriteFrame(frame, json); });
      });
    });
  });
}

void StackTexts::WriteFrame(const SourceFrame& frame, llvm::json::OStream& json) const {
  json.attribute("file", Printable(frame.file));
  json.attribute("line", frame.line);
  if (!frame.function.empty()) json.attribute("function", Printable(frame.function));
  if (IsFrameworkFile(frame.file)) {
    json.attribute("framework", true);
    return;
  }
  std::optional<PageLines::Text> text;
  if (page_lines_.text) text = page_lines_.text(frame);
  if (!text && !frame.code.empty()) text = PageLines::Text{frame.line, {frame.code.str()}};
  if (!text) return;
  json.attribute("first_line", text->first);
  json.attributeArray("lines", [&] {
    for (const std::string& one : text->lines) json.value(Printable(one));
  });
}

}  // namespace grapnel
