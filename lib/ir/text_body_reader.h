// Builds the NodeDefs of one body from parsed text. For lib/ir/text*.cpp.
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

// The results of reading a graph other than the GraphDef.
struct TextBuild {
  std::vector<Problem> problems;
  std::vector<ShapeClaim> claims;
  llvm::StringMap<std::string> places;
  std::set<std::string> inputs_missing;  // nodes that already have a problem about a missing input
};

// Appends map entries, sorted by key.
void AppendAttrs(std::string* out, uint32_t field, ParsedAttrs attrs);

// The arguments of the constructor must outlive the BodyReader.
class BodyReader {
 public:
  // `functions` has the signature of each library function; `function` is null for the main graph.
  BodyReader(std::vector<ParsedNode>& nodes, const ParsedFunction* function,
             const llvm::StringMap<OpInfo>& functions, TextBuild* build);
  ~BodyReader();

  // Calls `add` with each NodeDef, in order; a constant written within inputs comes before its
  // reader.
  void Run(const OpInfo* signature, llvm::function_ref<void(const std::string&)> add);

  // Returns the NodeDef's text of an input: "node", "node:1"; in a function "node:output:1",
  // "argument". Call after Run. Reports a problem if the op has no such output.
  std::string InputText(const ParsedInput& input);
  // Returns whether the node or argument that an input names exists; if not, reports a problem at
  // the node `reader`.
  bool CheckInput(const ParsedInput& input, llvm::StringRef reader);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_BODY_READER_H_
