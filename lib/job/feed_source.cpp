#include "lib/job/feed_source.h"

#include <map>

#include "lib/exec/session.h"
#include "lib/ir/find.h"
#include "lib/ir/fits_shape.h"
#include "lib/ir/function_ends.h"

namespace grapnel {
namespace {

// Maps each fed tensor to its index in `feeds`.
Expected<std::map<Port, size_t>> FedPorts(const OpenedGraph& opened,
                                          llvm::ArrayRef<FeedSource> feeds) {
  const Graph& graph = opened.module().main;
  std::map<Port, size_t> fed;
  for (size_t i = 0; i < feeds.size(); ++i) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, feeds[i].tensor));
    auto [before, is_new] = fed.try_emplace(port, i);
    if (is_new) continue;
    return MakeError("{0}: feed '{1}' is given twice: '{2}' is the same tensor",
                     opened.model().path, feeds[i].tensor, feeds[before->second].tensor);
  }
  return fed;
}

// Returns the _Arg node if the tensor is an argument that holds a runtime object, such as a
// resource handle; null for any other tensor.
Node ObjectArgument(const Graph& graph, llvm::StringRef tensor) {
  Node argument = FindArgument(graph, tensor);
  return argument && Tensor::IsObject(argument.GetType("T")) ? argument : Node();
}

}  // namespace

Expected<Tensor> GivenValue(const FeedSource& feed, const Graph& graph) {
  Node argument = ObjectArgument(graph, feed.tensor);
  if (!argument)
    return feed.file.empty() ? Expected<Tensor>(feed.value)
                             : LoadFeed(graph, feed.tensor, feed.file);
  if (feed.file.empty() && feed.value.HoldsObjects()) return feed.value;
  ArgumentType type = TypeOfArgument(argument);
  if (type.dtype != proto::DT_RESOURCE) {
    return MakeError("feed '{0}': argument {1} ({2}) cannot be fed: no file can hold its value",
                     feed.tensor, argument.GetInt("index"), type.ToString());
  }
  // Early dumps lack the dtype of a handle's variable; then the fed value's dtype is used.
  DataType dtype = type.held;
  if (dtype == proto::DT_INVALID) dtype = feed.value.dtype();
  ASSIGN_OR_RETURN(Tensor held, feed.file.empty() ? FeedOf(feed.tensor, dtype, feed.value)
                                                  : LoadFeedOf(type.held, feed.tensor, feed.file));
  if (!FitsShape(Shape(held.dims()), type.held_shape)) {
    return MakeError("feed '{0}' has shape {1}, but the variable has {2}", feed.tensor,
                     Shape(held.dims()).ToString(), type.held_shape.ToString());
  }
  return held;
}

Expected<Tensor> ValueOf(const FeedSource& feed, const Graph& graph) {
  ASSIGN_OR_RETURN(Tensor given, GivenValue(feed, graph));
  return StandIn(graph, feed.tensor, std::move(given));
}

Tensor StandIn(const Graph& graph, llvm::StringRef tensor, Tensor given) {
  Node argument = ObjectArgument(graph, tensor);
  if (!argument || !given || given.HoldsObjects()) return given;
  auto* variable =
      new StoredVariable(argument.name().str(), given.dtype(), TypeOfArgument(argument).held_shape);
  ObjectRef owner(variable);
  variable->Set(std::move(given));
  return Tensor::OfObject(proto::DT_RESOURCE, std::move(owner));
}

Error CheckDistinct(const OpenedGraph& opened, llvm::ArrayRef<FeedSource> feeds) {
  return FedPorts(opened, feeds).takeError();
}

Error AddFeedsOfCase(const OpenedGraph& opened, std::vector<FeedSource>* feeds) {
  ASSIGN_OR_RETURN(auto fed, FedPorts(opened, *feeds));
  const auto& values = opened.model().case_info;
  if (!values) return Error::success();
  for (const Case::Feed& given : values->feeds) {
    ASSIGN_OR_RETURN(Port port, FindTensor(opened.module().main, given.tensor));
    if (!fed.count(port)) feeds->push_back({given.tensor, given.file, Tensor()});
  }
  return Error::success();
}

}  // namespace grapnel
