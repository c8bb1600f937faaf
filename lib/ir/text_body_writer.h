// Prints the nodes of a main graph or function as text. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_
#define GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_

#include <memory>
#include <string>

#include "lib/ir/text.h"

namespace grapnel {

// The graph and the options must outlive the BodyWriter.
class BodyWriter {
 public:
  // `whole`: the caller prints all nodes. Otherwise the caller may only call Line(), whose result
  // then also states what a reader of the whole text would infer from other nodes.
  BodyWriter(const Graph& graph, const Function* function, const TextOptions& options,
             bool whole = true);
  ~BodyWriter();

  void Write(llvm::StringRef indent, llvm::raw_ostream& os);
  std::string Line(const Node& node);
  // Returns an input for the text: "%a", "%a:1", "^a". In exact mode, reading gives `text`, the
  // input as the file has it.
  std::string InputText(Port port, llvm::StringRef text) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_
