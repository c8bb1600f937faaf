#include "lib/exec/feed.h"

#include "lib/exec/named_feed.h"
#include "lib/io/value.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"

namespace grapnel {

Expected<DataType> TypeOfFeed(const Graph& graph, llvm::StringRef tensor) {
  auto port = FindTensor(graph, tensor);
  if (!port) return Annotate("feed", port.takeError());
  return BaseType(TypeOfPort(graph, *port));
}

namespace {

Expected<Tensor> ReadFeedOf(DataType type, std::shared_ptr<const FileBytes> file) {
  ASSIGN_OR_RETURN(Literal literal,
                   ReadNpyLiteral(std::move(file),
                                  type == proto::DT_INVALID ? std::nullopt : std::optional(type)));
  return Tensor::FromLiteral(literal);
}

}  // namespace

Expected<Tensor> LoadFeedOf(DataType type, llvm::StringRef tensor, llvm::StringRef path) {
  if (Tensor at_hand = FindNamedFeed(path))
    return type == proto::DT_INVALID ? at_hand : FeedOf(tensor, type, at_hand);
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  return ReadFeedOf(type, std::move(file));
}

Expected<Tensor> LoadFeed(const Graph& graph, llvm::StringRef tensor, llvm::StringRef path) {
  ASSIGN_OR_RETURN(DataType type, TypeOfFeed(graph, tensor));
  return LoadFeedOf(type, tensor, path);
}

Expected<Tensor> ReadFeed(const Graph& graph, llvm::StringRef tensor,
                          std::shared_ptr<const FileBytes> file) {
  ASSIGN_OR_RETURN(DataType type, TypeOfFeed(graph, tensor));
  return ReadFeedOf(type, std::move(file));
}

Expected<Tensor> FeedOf(llvm::StringRef tensor, DataType type, const Tensor& at_hand) {
  if (type == at_hand.dtype()) return at_hand;
  // NumPy has no quantized dtypes: accept the plain integer dtype of the same size.
  if (UnquantizedType(type) == at_hand.dtype()) return at_hand.Bitcast(type);
  return MakeError("feed '{0}': holds {1}, {2} was expected", tensor, DataTypeName(at_hand.dtype()),
                   DataTypeName(type));
}

}  // namespace grapnel
