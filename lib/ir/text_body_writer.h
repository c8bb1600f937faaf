// The nodes of one body as text. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_
#define GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_

#include <memory>
#include <string>

#include "lib/ir/text.h"

namespace grapnel {

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
