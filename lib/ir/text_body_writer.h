// The nodes of one body as text. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_
#define GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "lib/ir/text.h"

namespace grapnel {

// Serialized AttrValues by key.
using TextAttrs = std::map<llvm::StringRef, llvm::StringRef>;

// Key and value of a serialized map entry.
std::pair<llvm::StringRef, llvm::StringRef> MapEntryOf(llvm::StringRef entry);
// ` fields "..."`.
std::string FieldsText(llvm::StringRef bytes);

// The graph and the options must outlive it.
class BodyWriter {
 public:
  // `whole`: else nothing is left out that reading would have to infer from other nodes, and only
  // Line() may be asked.
  BodyWriter(const Graph& graph, const Function* function, const TextOptions& options,
             bool whole = true);
  ~BodyWriter();

  void Write(llvm::StringRef indent, llvm::raw_ostream& os);
  std::string Line(const Node& node);
  // "%a", "%a:1", "^a"; exactly, what reading turns into `text` again, which is what the file says.
  std::string InputText(Port port, llvm::StringRef text) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_
