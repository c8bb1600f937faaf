// Builds the NodeDefs of a main graph or function from parsed text. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_BODY_READER_H_
#define GRAPNEL_LIB_IR_TEXT_BODY_READER_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lib/ir/op_table.h"
#include "lib/ir/text.h"
#include "lib/ir/text_parser.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// The results of reading a graph, besides the GraphDef itself.
struct TextBuild {
  std::vector<Problem> problems;
  std::vector<ShapeClaim> claims;
  llvm::StringMap<std::string> places;
  std::set<std::string> inputs_missing;  // nodes that already have a problem about a missing input
};

// Appends the attributes as entries of the map `field`, sorted by key.
void AppendAttrs(std::string* out, uint32_t field, ParsedAttrs attrs);

// The arguments of the constructor must outlive the BodyReader.
class BodyReader {
 public:
  // `nodes`: the parsed statements. `function`: the function whose body they are; null for the main
  // graph. `functions`: the signature of each function of the library.
  BodyReader(std::vector<ParsedNode>& nodes, const ParsedFunction* function,
             const llvm::StringMap<OpInfo>& functions, TextBuild* build);
  ~BodyReader();

  // Calls `add` with each NodeDef, in the text's order. A constant written within a node's inputs
  // comes before that node. `signature`: that of `function`; null for the main graph.
  void Run(const OpInfo* signature, llvm::function_ref<void(const std::string&)> add);

  // Returns an input as a NodeDef states it: "node", "node:1" or "^node"; in a function
  // "node:output:1" or, for an argument, "argument". Call it after Run. Reports a problem if the op
  // has no such output, or if a function's text does not name an output of an unknown op.
  std::string InputText(const ParsedInput& input);
  // Returns whether the text has the node or argument that the input names. If not, reports a
  // problem at node `reader`.
  bool CheckInput(const ParsedInput& input, llvm::StringRef reader);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_BODY_READER_H_
