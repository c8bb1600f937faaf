// The nodes of one body, from their text to NodeDefs. For lib/ir/text*.cpp.
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

// What a graph is made of beside its bytes.
struct TextBuild {
  std::vector<Problem> problems;
  std::vector<ShapeClaim> claims;
  llvm::StringMap<std::string> places;
  std::set<std::string> inputs_missing;  // nodes of which a problem says so already
};

// As entries of a map, sorted by key.
void AppendAttrs(std::string* out, uint32_t field, ParsedAttrs attrs);

// All that it is given must outlive it.
class BodyReader {
 public:
  // `functions` has the signature of each function of the library; `function` is null for the main
  // graph.
  BodyReader(std::vector<ParsedNode>& nodes, const ParsedFunction* function,
             const llvm::StringMap<OpInfo>& functions, TextBuild* build);
  ~BodyReader();

  // Calls `add` with each NodeDef, in order; constants within inputs come before their readers.
  void Run(const OpInfo* signature, llvm::function_ref<void(const std::string&)> add);

  // After Run. "node", "node:1"; in a function "node:output:1", "argument". A problem when the op
  // has no such output.
  std::string InputText(const ParsedInput& input);
  // Whether something of that name is there; a problem if not.
  bool CheckInput(const ParsedInput& input, llvm::StringRef reader);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_BODY_READER_H_
