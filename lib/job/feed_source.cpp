#include "lib/job/feed_source.h"

#include <map>

#include "lib/ir/find.h"

namespace grapnel {
namespace {

// Which of `feeds` feeds a tensor.
Expected<std::map<Port, size_t>> FedPorts(const OpenedGraph& opened,
                                          llvm::ArrayRef<FeedSource> feeds) {
  const Graph& graph = opened.module().main;
  std::map<Port, size_t> fed;
  for (size_t i = 0; i < feeds.size(); ++i) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, feeds[i].tensor));
    auto [before, is_new] = fed.try_emplace(port, i);
    if (is_new) continue;
    return MakeError("{0}: feed '{1}': is fed twice: '{2}' is the same tensor", opened.model().path,
                     feeds[i].tensor, feeds[before->second].tensor);
  }
  return fed;
}

}  // namespace

Error DemandDifferent(const OpenedGraph& opened, llvm::ArrayRef<FeedSource> feeds) {
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
