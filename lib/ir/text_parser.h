// The syntax tree of a graph's text, as parsed, with nothing inferred. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_PARSER_H_
#define GRAPNEL_LIB_IR_TEXT_PARSER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/ir/text_value.h"

namespace grapnel {

// An input in the text: %name, %name:1, %name:output:1, ^name, or a constant: [1,0] or %name=[1,0].
struct ParsedInput {
  TextPlace place;
  std::string name;  // empty for a constant within the inputs without a name
  // The name of the output argument, which a function's text states for a node with an unknown op.
  std::string output;
  std::optional<int> port;
  bool control = false;
  bool quoted = false;  // written in quotes and without a port
  std::optional<TextLiteral> literal;
};

using ParsedAttrs = std::vector<std::pair<std::string, std::string>>;  // serialized AttrValues

struct ParsedNode {
  TextPlace place;
  std::string name, op, device;
  std::vector<ParsedInput> inputs;
  ParsedAttrs attrs;
  std::vector<std::string> without;  // `-T`: the file has no attribute T, so T must not be inferred
  std::optional<TextLiteral> literal;
  std::vector<TensorClaim> claims;
  std::string fields;   // other fields of the NodeDef, serialized
  bool broken = false;  // could not be parsed completely; the error is already reported
};

struct ParsedArg {
  std::string name;
  // The argument's type is written as float, T, N*float, N*T or Ts...: a dtype, or the function's
  // attributes for the dtype (T), the number of tensors (N) and the list of dtypes (Ts).
  DataType type = proto::DT_INVALID;
  std::string type_attr, number_attr, type_list_attr;
  std::string fields;                // other fields of the ArgDef, serialized
  std::optional<ParsedAttrs> attrs;  // nullopt: no entry in FunctionDef.arg_attr
};

// An attribute that a function declares, as in [T: type = float].
struct ParsedAttrDef {
  std::string name, type;
  std::optional<std::string> default_value;  // a serialized AttrValue
  std::string fields;                        // other fields of the AttrDef, serialized
};

struct ParsedReturn {
  std::string name;  // of the result or control output; empty: the signature's next result
  bool none = false;
  ParsedInput input;
};

struct ParsedFunction {
  TextPlace place;
  std::string name;
  std::vector<ParsedAttrDef> attr_defs;  // the attributes of a polymorphic function
  std::vector<ParsedArg> args, results;
  bool stateful = false;
  std::optional<std::string> signature;  // the complete OpDef; replaces the fields above
  ParsedAttrs attrs;
  std::string fields;  // other fields of the FunctionDef, serialized
  std::vector<ParsedNode> nodes;
  std::vector<ParsedReturn> returns;
};

struct ParsedGraph {
  std::string title;
  std::vector<ParsedNode> nodes;
  std::vector<ParsedFunction> functions;
  std::vector<std::string> feeds, fetches;
  std::optional<std::string> versions;  // a serialized VersionDef
  bool has_library = false;
  std::string library_fields, fields;  // other fields of the FunctionDefLibrary and of the GraphDef
  std::vector<Problem> problems;
  bool IsEmpty() const {
    return nodes.empty() && functions.empty() && feeds.empty() && fetches.empty() && !versions &&
           !has_library && fields.empty() && problems.empty();
  }
};

// Parses the text of one graph. `first_line` is the number that the first line of `text` has in its
// file.
ParsedGraph ParseGraphText(llvm::StringRef text, int first_line);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_PARSER_H_
