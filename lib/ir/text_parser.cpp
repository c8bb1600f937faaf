#include "lib/ir/text_parser.h"

#include "lib/ir/device_name.h"
#include "lib/ir/op_table.h"
#include "lib/ir/wire.h"
#include "lib/proto/versions.pb.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// A recursive-descent parser. Each function parses one construct of the grammar in
// docs/reference/text.md; if the text does not match, it returns false, and the scanner has the
// error.
class Parser {
 public:
  Parser(llvm::StringRef text, int first_line) : scanner_(text, first_line) {}

  ParsedGraph Run() {
    while (!scanner_.AtEnd()) {
      if (!ReadStatement()) Report();
    }
    return std::move(graph_);
  }

 private:
  void Report() {
    graph_.problems.push_back(
        {Severity::kError, "", scanner_.error(), scanner_.error_place().ToString()});
    scanner_.Recover();
  }

  bool ReadStatement() {
    if (scanner_.Peek() == '%') {
      graph_.nodes.emplace_back();
      if (ReadNode(&graph_.nodes.back())) return true;
      KeepBroken(&graph_.nodes);
      return false;
    }
    if (scanner_.ConsumeWord("func")) return ReadFunction();
    if (scanner_.ConsumeWord("fetch")) return ReadEnds(&graph_.fetches);
    if (scanner_.ConsumeWord("feed")) return ReadEnds(&graph_.feeds);
    if (scanner_.ConsumeWord("library")) {
      graph_.has_library = true;
      return scanner_.Peek() != '"' || ReadFields({1}, &graph_.library_fields);
    }
    if (scanner_.ConsumeWord("fields")) return ReadFields({1, 2, 4}, &graph_.fields);
    if (ReadVersions()) return !scanner_.failed();
    return scanner_.Fail("expected a node (%name = Op(...)), func, fetch, feed or producer");
  }

  // Keeps a node that was parsed only up to an error, if its op is known, so that its readers find
  // it.
  static void KeepBroken(std::vector<ParsedNode>* nodes) {
    nodes->back().broken = true;
    if (nodes->back().op.empty()) nodes->pop_back();
  }

  // If the next statement is one such as "producer 1", reads it and returns true, even if the
  // scanner fails in it; otherwise returns false.
  bool ReadVersions() {
    llvm::StringRef word = scanner_.PeekWord();
    if (word != "producer" && word != "min_consumer" && word != "bad_consumers" &&
        word != "versions")
      return false;
    scanner_.TakeWord();
    if (!graph_.versions) graph_.versions.emplace();
    if (word == "versions") {
      std::string bytes;
      if (scanner_.Peek() == '"' && scanner_.ReadBase64(&bytes)) *graph_.versions += bytes;
      return true;
    }
    proto::VersionDef versions;
    versions.ParseFromString(*graph_.versions);
    int64_t number = 0;
    if (word == "bad_consumers") {
      while (scanner_.ReadInt(&number)) {
        versions.add_bad_consumers(static_cast<int32_t>(number));
        if (!scanner_.Consume(",")) break;
      }
    } else if (scanner_.ReadInt(&number)) {
      if (word == "producer") versions.set_producer(static_cast<int32_t>(number));
      if (word == "min_consumer") versions.set_min_consumer(static_cast<int32_t>(number));
    }
    graph_.versions = versions.SerializeAsString();
    return true;
  }

  // Reads the base64 text of a "fields" clause: serialized fields of a message. These must not
  // include the fields `said`, for which the text has its own syntax.
  bool ReadFields(std::initializer_list<uint32_t> said, std::string* bytes) {
    TextPlace place = scanner_.place();
    if (!scanner_.ReadBase64(bytes)) return false;
    WireReader reader(*bytes);
    bool good = true;
    while (reader.Next()) good &= !llvm::is_contained(said, reader.field());
    if (good && !reader.failed()) return true;
    bytes->clear();
    return scanner_.FailAt(place, "these bytes are not valid additional fields");
  }

  // Parses the tensors of a fetch or feed statement, such as "fetch %a, %b:1".
  bool ReadEnds(std::vector<std::string>* ends) {
    do {
      ParsedInput input;
      if (!ReadInput(&input)) return false;
      if (input.literal)
        return scanner_.FailAt(input.place, "expected a tensor (%name or %name:1)");
      std::string text = input.control ? "^" + input.name : input.name;
      ends->push_back(input.port ? text + ":" + std::to_string(*input.port) : text);
    } while (scanner_.Consume(","));
    return true;
  }

  // Parses a node: %name = Op(inputs) constant {attributes} @device : types fields "..."
  bool ReadNode(ParsedNode* node) {
    node->place = scanner_.place();
    if (!scanner_.Expect("%") || !scanner_.ReadName(&node->name) || !scanner_.Expect("="))
      return false;
    if (!ReadOp(&node->op)) return false;
    if (scanner_.Consume("(") && !scanner_.Consume(")")) {
      do {
        node->inputs.emplace_back();
        if (!ReadInput(&node->inputs.back())) {
          node->inputs.pop_back();
          return false;
        }
      } while (scanner_.Consume(","));
      if (!scanner_.Expect(")")) return false;
    }
    bool is_constant = node->op == "Const" || node->op == "HostConst";
    if (is_constant && StartsLiteral(scanner_)) {
      if (!ReadLiteral(scanner_, &node->literal.emplace())) {
        node->literal.reset();  // avoids a second problem about an incomplete constant
        return false;
      }
    }
    if (scanner_.Peek() == '{' && !ReadAttrs(FindOp(node->op), &node->attrs, &node->without))
      return false;
    if (scanner_.Consume("@") && !ReadDevice(&node->device)) return false;
    if (scanner_.Consume(":")) {
      do {
        if (!ReadClaim(scanner_, &node->claims.emplace_back())) return false;
      } while (scanner_.Consume(","));
    }
    return !scanner_.ConsumeWord("fields") || ReadFields({1, 2, 3, 4, 5}, &node->fields);
  }

  bool ReadOp(std::string* op) {
    if (scanner_.Peek() == '"') return scanner_.ReadString(op);
    *op = scanner_.TakeWord().str();
    return !op->empty() || scanner_.Fail("expected an op");
  }

  bool ReadDevice(std::string* device) {
    if (scanner_.Peek() == '"') return scanner_.ReadString(device);
    TextPlace place = scanner_.place();
    device->clear();
    // A colon belongs to the device if a letter, a digit or "*" follows directly; otherwise it
    // begins the types of the outputs.
    auto belongs = [&](char c, char next) {
      return llvm::isAlnum(c) || llvm::is_contained({'/', '_', '*', '-', '.'}, c) ||
             (c == ':' && (llvm::isAlnum(next) || next == '*'));
    };
    for (char c; belongs(c = scanner_.CharAt(0), scanner_.CharAt(1)); *device += c)
      scanner_.Consume(llvm::StringRef(&c, 1));
    if (device->empty()) return scanner_.Fail("expected a device");
    // Completes a short name: cpu:0 means /device:CPU:0.
    if ((*device)[0] == '/') return true;
    auto whole = DeviceNameFromTyped(*device);
    if (!whole) return scanner_.FailAt(place, TextOf(whole.takeError()));
    *device = std::move(*whole);
    return true;
  }

  bool ReadAttrs(const OpInfo* info, ParsedAttrs* attrs,
                 std::vector<std::string>* without = nullptr) {
    if (!scanner_.Expect("{")) return false;
    for (bool first = true; !scanner_.Consume("}"); first = false) {
      if (!first && !scanner_.Expect(",")) return false;
      std::string key, value;
      if (without && scanner_.Consume("-")) {
        if (!scanner_.ReadName(&key)) return false;
        without->push_back(std::move(key));
        continue;
      }
      TextPlace place = scanner_.place();
      if (!scanner_.ReadName(&key) || !scanner_.Expect("=")) return false;
      if (llvm::any_of(*attrs, [&](const auto& entry) { return entry.first == key; }))
        return scanner_.FailAt(place, "attribute '" + key + "' occurs twice");
      const OpAttr* attr = info ? info->FindAttr(key) : nullptr;
      if (!ReadAttr(scanner_, attr ? llvm::StringRef(attr->type) : llvm::StringRef(), &value))
        return false;
      attrs->push_back({std::move(key), std::move(value)});
    }
    return true;
  }

  bool ReadInput(ParsedInput* input) {
    input->place = scanner_.place();
    if (scanner_.Consume("^")) {
      input->control = true;
      return scanner_.ReadName(&input->name);
    }
    if (!scanner_.Consume("%")) {
      if (!StartsLiteral(scanner_))
        return scanner_.Fail("expected an input: %name, ^name or a constant");
      return ReadLiteral(scanner_, &input->literal.emplace());
    }
    bool quoted;
    if (!scanner_.ReadName(&input->name, &quoted)) return false;
    if (scanner_.CharAt(0) == ':' && llvm::isDigit(scanner_.CharAt(1))) {
      scanner_.Consume(":");
      return ReadPort(input);
    }
    if (scanner_.CharAt(0) == ':' && llvm::isAlpha(scanner_.CharAt(1))) {
      scanner_.Consume(":");
      input->output = scanner_.TakeWord().str();
      return scanner_.CharAt(0) != ':' || (scanner_.Consume(":") && ReadPort(input));
    }
    input->quoted = quoted;
    if (!scanner_.Consume("=")) return true;
    return ReadLiteral(scanner_, &input->literal.emplace());
  }

  bool ReadPort(ParsedInput* input) {
    int64_t port;
    if (!scanner_.ReadInt(&port)) return false;
    if (port < 0 || port > std::numeric_limits<int32_t>::max())
      return scanner_.Fail("expected an output's number");
    input->port = static_cast<int>(port);
    return true;
  }

  // Parses a function: func @f[T: type](%x: T, ...) -> (y: float, ...) stateful attributes {...}
  // fields "..." { ... }
  bool ReadFunction() {
    ParsedFunction function;
    function.place = scanner_.place();
    if (!scanner_.Expect("@") || !scanner_.ReadName(&function.name)) return false;
    bool read = ReadHeader(&function) && scanner_.Expect("{");
    graph_.functions.push_back(std::move(function));
    if (!read) return false;
    while (!scanner_.Consume("}")) {
      if (scanner_.AtEnd())
        return scanner_.Fail("expected '}' at the end of function '" +
                             graph_.functions.back().name + "'");
      if (!ReadBodyStatement(&graph_.functions.back())) Report();
    }
    return true;
  }

  bool ReadBodyStatement(ParsedFunction* function) {
    if (scanner_.Peek() == '%') {
      function->nodes.emplace_back();
      if (ReadNode(&function->nodes.back())) return true;
      KeepBroken(&function->nodes);
      return false;
    }
    if (scanner_.ConsumeWord("return")) return ReadReturns(function);
    return scanner_.Fail("expected a node, return or '}'");
  }

  bool ReadHeader(ParsedFunction* function) {
    if (scanner_.ConsumeWord("signature")) {
      if (!scanner_.ReadBase64(&function->signature.emplace())) return false;
    }
    if (scanner_.Consume("[") && !ReadAttrDefs(&function->attr_defs)) return false;
    if (!ReadArgs("%", &function->args)) return false;
    if (scanner_.Consume("->") && !ReadArgs("", &function->results)) return false;
    function->stateful = scanner_.ConsumeWord("stateful");
    if (scanner_.ConsumeWord("attributes") && !ReadAttrs(nullptr, &function->attrs)) return false;
    return !scanner_.ConsumeWord("fields") || ReadFields({1, 3, 4, 5, 6}, &function->fields);
  }

  bool ReadArgs(llvm::StringRef sigil, std::vector<ParsedArg>* args) {
    if (!scanner_.Expect("(")) return false;
    for (bool first = true; !scanner_.Consume(")"); first = false) {
      if (!first && !scanner_.Expect(",")) return false;
      ParsedArg arg;
      if (!scanner_.Expect(sigil) || !scanner_.ReadName(&arg.name)) return false;
      // The type may be missing: if the text contains the complete signature of the function, that
      // has it.
      if (scanner_.Consume(":") && !ReadArgType(&arg)) return false;
      if (scanner_.Peek() == '{' && !ReadAttrs(nullptr, &arg.attrs.emplace())) return false;
      if (scanner_.ConsumeWord("fields") && !ReadFields({1, 3, 4, 5, 6}, &arg.fields)) return false;
      args->push_back(std::move(arg));
    }
    return true;
  }

  // Parses an argument's type: float, T, N*float, N*T or Ts...
  bool ReadArgType(ParsedArg* arg) {
    std::string word = scanner_.TakeWord().str();
    if (scanner_.CharAt(0) == '*') {
      scanner_.Consume("*");
      arg->number_attr = std::move(word);
      word = scanner_.TakeWord().str();
    }
    if (word.empty()) return scanner_.Fail("expected a dtype");
    if (llvm::StringRef(word).take_back(3) == "...") {
      arg->type_list_attr = llvm::StringRef(word).drop_back(3).str();
    } else if (auto type = ParseDataType(word)) {
      arg->type = *type;
    } else {
      arg->type_attr = std::move(word);
    }
    return true;
  }

  // Parses the attributes that a function declares, such as [T: type = float, N: int].
  bool ReadAttrDefs(std::vector<ParsedAttrDef>* defs) {
    for (bool first = true; !scanner_.Consume("]"); first = false) {
      if (!first && !scanner_.Expect(",")) return false;
      ParsedAttrDef def;
      if (!scanner_.ReadName(&def.name) || !scanner_.Expect(":")) return false;
      def.type = scanner_.TakeWord().str();
      if (def.type == "list" && scanner_.Consume("(")) {
        def.type += "(" + scanner_.TakeWord().str() + ")";
        if (!scanner_.Expect(")")) return false;
      }
      if (scanner_.Consume("=") && !ReadAttr(scanner_, def.type, &def.default_value.emplace()))
        return false;
      if (scanner_.ConsumeWord("fields") && !ReadFields({1, 2, 3}, &def.fields)) return false;
      defs->push_back(std::move(def));
    }
    return true;
  }

  // Parses a return statement, such as "return %a, none, y=%b:1, ^print, ^name=%node".
  bool ReadReturns(ParsedFunction* function) {
    do {
      ParsedReturn result;
      if (scanner_.PeekWord() == "none" && scanner_.CharAfterWord() != '=') {
        scanner_.TakeWord();
        result.none = true;
      } else if (scanner_.Consume("^")) {
        result.input.place = scanner_.place();
        if (!scanner_.ReadName(&result.name)) return false;
        result.input.control = true;
        result.input.name = result.name;
        if (scanner_.Consume("=") &&
            (!scanner_.Expect("%") || !scanner_.ReadName(&result.input.name)))
          return false;
      } else {
        if (scanner_.Peek() != '%' && (!scanner_.ReadName(&result.name) || !scanner_.Expect("=")))
          return false;
        if (!ReadInput(&result.input)) return false;
        if (result.input.literal)
          return scanner_.FailAt(result.input.place, "expected a tensor (%name or %name:1)");
      }
      function->returns.push_back(std::move(result));
    } while (scanner_.Consume(","));
    return true;
  }

  TextScanner scanner_;
  ParsedGraph graph_;
};

}  // namespace

ParsedGraph ParseGraphText(llvm::StringRef text, int first_line) {
  return Parser(text, first_line).Run();
}

}  // namespace grapnel
