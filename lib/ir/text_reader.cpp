#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/ir/text.h"
#include "lib/ir/text_body_reader.h"
#include "lib/ir/wire.h"
#include "lib/ir/wire_map.h"
#include "lib/proto/op_def.pb.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

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
    out->set_type_attr(arg.type_attr);
    out->set_number_attr(arg.number_attr);
    out->set_type_list_attr(arg.type_list_attr);
  };
  for (const ParsedArg& arg : function.args) add(arg, op_def.add_input_arg());
  for (const ParsedArg& arg : function.results) add(arg, op_def.add_output_arg());
  for (const ParsedAttrDef& def : function.attr_defs) {
    proto::OpDef::AttrDef* out = op_def.add_attr();
    out->MergeFromString(def.fields);
    out->set_name(def.name);
    out->set_type(def.type);
    if (def.default_value) out->mutable_default_value()->ParseFromString(*def.default_value);
  }
  op_def.set_is_stateful(function.stateful);
  for (const ParsedReturn& result : function.returns) {
    if (result.input.control) op_def.add_control_output(result.name);
  }
  return op_def;
}

// Builds a FunctionDef. Field numbers: 1 signature, 3 node_def, 4 ret, 5 attr, 6 control_ret, 7
// arg_attr.
std::string FunctionDefOf(ParsedFunction& function, const llvm::StringMap<OpInfo>& functions,
                          TextBuild* build) {
  const OpInfo& info = functions.find(function.name)->second;
  std::string out;
  AppendBytesField(
      &out, 1,
      function.signature ? *function.signature : SignatureOf(function).SerializeAsString());
  BodyReader body(function.nodes, &function, functions, build);
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

// Adds the problems that import found in the built GraphDef to those of the text, and gives them a
// position. Omits those about missing inputs that the text reader has already reported.
void TakeImportProblems(const TextBuild& build, Module* module) {
  std::vector<Problem> problems = build.problems;
  for (Problem& problem : module->problems) {
    bool said = build.inputs_missing.count(problem.where) &&
                llvm::StringRef(problem.text).contains("not found");
    if (said) continue;
    problem.place = module->places.lookup(problem.where);
    problems.push_back(std::move(problem));
  }
  // Sorts the problems by their position in the text; import and the text reader found them in
  // different order.
  auto line_and_column = [](const Problem& problem) {
    auto [line, column] = llvm::StringRef(problem.place).split(':');
    std::pair<int, int> place = {0, 0};
    line.getAsInteger(10, place.first);
    column.getAsInteger(10, place.second);
    return place;
  };
  llvm::stable_sort(problems, [&](const Problem& a, const Problem& b) {
    return line_and_column(a) < line_and_column(b);
  });
  module->problems = std::move(problems);
}

TextGraph BuildGraph(ParsedGraph& parsed, const std::string& file_name) {
  TextBuild build;
  build.problems = std::move(parsed.problems);
  llvm::StringMap<OpInfo> functions;
  for (const ParsedFunction& function : parsed.functions) {
    build.places.try_emplace(function.name, function.place.ToString());
    functions.try_emplace(function.name, OpInfoFromProto(SignatureOf(function)));
  }
  std::string bytes, library;
  BodyReader(parsed.nodes, nullptr, functions, &build).Run(nullptr, [&](const std::string& node) {
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

// A part of the file between lines of dashes: its text, and the title in the line of dashes before.
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
  // A binary GraphDef may also begin with a line end and '%': 10 is the tag of its first node and
  // 37, '%', that node's size. In that case the next byte is a line end, the tag of the node's
  // name.
  if (head[0] == '%') return head.size() > 1 && !llvm::isSpace(head[1]);
  if (IsDashes(head)) return true;
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
    // Text before the first line of dashes counts as a graph only if it contains more than
    // comments.
    bool head_alone = &section == &sections.front() && sections.size() > 1;
    if (head_alone && parsed.IsEmpty()) continue;
    parsed.title = section.title.str();
    graphs.push_back(BuildGraph(parsed, file.name()));
  }
  for (size_t i = 0; i < graphs.size() && graphs.size() > 1; ++i) {
    if (graphs[i].title.empty()) graphs[i].title = std::to_string(i + 1);
  }
  return graphs;
}

}  // namespace grapnel
