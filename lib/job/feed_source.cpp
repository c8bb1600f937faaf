#include "lib/job/feed_source.h"

#include <map>

#include "lib/exec/session.h"
#include "lib/ir/find.h"
#include "lib/ir/fits_shape.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns the _Arg node if the tensor is an argument that holds a runtime object, such as a
// resource handle; null for any other tensor.
Node ObjectArgument(const Graph& graph, Port port) {
  Node node = graph.node(port.node);
  return IsArgument(node) && Tensor::IsObject(node.GetType("T")) ? node : Node();
}

Expected<Tensor> GivenFor(const Graph& graph, Port port, const FeedSource& feed) {
  if (feed.file.empty()) return feed.value;
  return LoadFeedOf(BaseType(TypeOfPort(graph, port)), feed.tensor, feed.file);
}

// Returns the initial value of the variable whose handle is an argument.
Expected<Tensor> GivenForArgument(const Node& argument, const FeedSource& feed) {
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

bool AreSame(llvm::StringRef a, llvm::StringRef b) {
  TensorName x = ReadTensorName(a), y = ReadTensorName(b);
  return x.node == y.node && x.output == y.output && x.index == y.index;
}

Expected<Feed> Load(const Graph& graph, Port port, const FeedSource& source) {
  Feed feed{port, {}, {}};
  Node argument = ObjectArgument(graph, port);
  bool is_object = source.file.empty() && source.value.HoldsObjects();
  if (!argument || is_object) {
    ASSIGN_OR_RETURN(feed.given, GivenFor(graph, port, source));
    feed.value = feed.given;
    return feed;
  }
  ASSIGN_OR_RETURN(feed.given, GivenForArgument(argument, source));
  feed.value = feed.given;
  if (!feed.given) return feed;
  auto* variable = new StoredVariable(argument.name().str(), feed.given.dtype(),
                                      TypeOfArgument(argument).held_shape);
  ObjectRef owner(variable);
  variable->Set(feed.given);
  feed.value = Tensor::OfObject(proto::DT_RESOURCE, std::move(owner));
  return feed;
}

}  // namespace

Expected<std::vector<Feed>> LoadFeeds(const OpenedGraph& opened,
                                      llvm::ArrayRef<FeedSource> sources) {
  const Graph& graph = opened.module().main;
  std::map<Port, const FeedSource*> found;
  std::vector<Port> ports;
  for (const FeedSource& source : sources) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, source.tensor));
    auto [before, is_new] = found.try_emplace(port, &source);
    if (!is_new)
      return MakeError("{0}: feed '{1}' is given twice: '{2}' is the same tensor",
                       opened.model().path, source.tensor, before->second->tensor);
    ports.push_back(port);
  }
  std::vector<Feed> feeds;
  for (size_t i = 0; i < ports.size(); ++i) {
    ASSIGN_OR_RETURN(Feed feed, Load(graph, ports[i], sources[i]));
    feeds.push_back(std::move(feed));
  }
  return feeds;
}

void AddFeedsOfCase(const OpenedGraph& opened, std::vector<FeedSource>* feeds) {
  const auto& values = opened.model().case_info;
  if (!values) return;
  size_t given = feeds->size();
  for (const Case::Feed& feed : values->feeds) {
    bool is_given = llvm::any_of(llvm::ArrayRef(*feeds).take_front(given), [&](const auto& other) {
      return AreSame(other.tensor, feed.tensor);
    });
    if (!is_given) feeds->push_back({feed.tensor, feed.file, Tensor()});
  }
}

}  // namespace grapnel
