// A graph's text as it is written, before anything is inferred. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_PARSER_H_
#define GRAPNEL_LIB_IR_TEXT_PARSER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/ir/text_value.h"

namespace grapnel {

// %name, %name:1, %name:output:1, ^name, or a constant: [1,0] or %name=[1,0].
struct ParsedInput {
  TextPlace place;
  std::string name;    // of a constant empty when it has none of its own
  std::string output;  // in functions, of an op that is not known
  std::optional<int> port;
  bool control = false;
  bool quoted = false;  // in quotes without a port: then the name is all that the file says
  std::optional<TextLiteral> literal;
};

using ParsedAttrs = std::vector<std::pair<std::string, std::string>>;  // serialized AttrValues

struct ParsedNode {
  TextPlace place;
  std::string name, op, device;
  std::vector<ParsedInput> inputs;
  ParsedAttrs attrs;
  std::vector<std::string> without;  // `-T`: is not to be inferred
  std::optional<TextLiteral> literal;
  std::vector<TensorClaim> claims;
  std::string fields;   // other fields of the NodeDef
  bool broken = false;  // read as far as it went: that is a problem already
};

struct ParsedArg {
  std::string name;
  // float, T, N*float, N*T or Ts...: a dtype, or attributes of the function that say it.
  DataType type = proto::DT_INVALID;
  std::string type_attr, number_attr, type_list_attr;
  std::string fields;                // other fields of the ArgDef
  std::optional<ParsedAttrs> attrs;  // nullopt: the FunctionDef has no entry for it
};

// T: type = float
struct ParsedAttrDef {
  std::string name, type;
  std::optional<std::string> default_value;  // a serialized AttrValue
  std::string fields;                        // other fields of the AttrDef
};

struct ParsedReturn {
  std::string name;  // empty: as the result in that place, or the node of a control output
  bool none = false;
  ParsedInput input;
};

struct ParsedFunction {
  TextPlace place;
  std::string name;
  std::vector<ParsedAttrDef> attr_defs;  // what makes it polymorphic
  std::vector<ParsedArg> args, results;
  bool stateful = false;
  std::optional<std::string> signature;  // the OpDef in full, instead of the above
  ParsedAttrs attrs;
  std::string fields;  // other fields of the FunctionDef
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
  std::string library_fields, fields;  // other fields of the library and of the GraphDef
  std::vector<Problem> problems;
  bool IsEmpty() const {
    return nodes.empty() && functions.empty() && feeds.empty() && fetches.empty() && !versions &&
           !has_library && fields.empty() && problems.empty();
  }
};

// `first_line` is the number of the text's first line in its file.
ParsedGraph ParseGraphText(llvm::StringRef text, int first_line);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_PARSER_H_
