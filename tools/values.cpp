#include "tools/values.h"

#include "lib/io/value.h"
#include "lib/ir/node_types.h"
#include "lib/support/text.h"

namespace grapnel {
Expected<Tensor> LoadFeed(const Graph& graph, llvm::StringRef tensor, llvm::StringRef file) {
  auto port = FindTensor(graph, tensor);
  if (!port) return Annotate("feed", port.takeError());
  DataType type = BaseType(TypeOfPort(graph, *port));
  ASSIGN_OR_RETURN(Literal literal,
                   LoadNpyLiteral(file, type == proto::DT_INVALID ? std::nullopt
                                                                  : std::optional<DataType>(type)));
  return Tensor::FromLiteral(literal);
}

Expected<Tensor> Vary(const Tensor& feed, int repeat) {
  if (feed.dtype() != proto::DT_FLOAT && feed.dtype() != proto::DT_DOUBLE) return feed;
  ASSIGN_OR_RETURN(Tensor varied, Tensor::Allocate(feed.dtype(), feed.dims()));
  double scale = 1 + repeat % 64 / 4096.0;
  for (int64_t i = 0; i < feed.num_elements(); ++i) {
    if (feed.dtype() == proto::DT_FLOAT) {
      varied.data<float>()[i] = feed.data<float>()[i] * static_cast<float>(scale);
    } else {
      varied.data<double>()[i] = feed.data<double>()[i] * scale;
    }
  }
  return varied;
}

}  // namespace grapnel
