// Prints the nodes of one body as text. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_
#define GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_

#include <memory>
#include <string>

#include "lib/ir/text.h"

namespace grapnel {

// The graph and the options must outlive the BodyWriter.
class BodyWriter {
 public:
  // `whole`: the caller prints the whole body. Otherwise the caller may only call Line(), which
  // prints everything that reading would have to infer from other nodes.
  BodyWriter(const Graph& graph, const Function* function, const TextOptions& options,
             bool whole = true);
  ~BodyWriter();

  void Write(llvm::StringRef indent, llvm::raw_ostream& os);
  std::string Line(const Node& node);
  // Returns "%a", "%a:1", "^a"; in exact mode, an input that reads back as `text`, its spelling in
  // the file.
  std::string InputText(Port port, llvm::StringRef text) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_BODY_WRITER_H_
