#include "lib/exec/feed.h"

#include "lib/io/value.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"

namespace grapnel {

Expected<DataType> TypeOfFeed(const Graph& graph, llvm::StringRef tensor) {
  auto port = FindTensor(graph, tensor);
  if (!port) return Annotate("feed", port.takeError());
  return BaseType(TypeOfPort(graph, *port));
}

Expected<Tensor> LoadFeed(const Graph& graph, llvm::StringRef tensor, llvm::StringRef path) {
  RETURN_IF_ERROR(TypeOfFeed(graph, tensor).takeError());
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  return ReadFeed(graph, tensor, std::move(file));
}

Expected<Tensor> ReadFeed(const Graph& graph, llvm::StringRef tensor,
                          std::shared_ptr<const FileBytes> file) {
  ASSIGN_OR_RETURN(DataType type, TypeOfFeed(graph, tensor));
  ASSIGN_OR_RETURN(Literal literal,
                   ReadNpyLiteral(std::move(file),
                                  type == proto::DT_INVALID ? std::nullopt : std::optional(type)));
  return Tensor::FromLiteral(literal);
}

}  // namespace grapnel
