// What a job is given for a tensor.
#ifndef GRAPNEL_LIB_JOB_FEED_SOURCE_H_
#define GRAPNEL_LIB_JOB_FEED_SOURCE_H_

#include <string>
#include <vector>

#include "lib/exec/feed.h"
#include "lib/job/opened_graph.h"
#include "lib/support/public.h"

namespace grapnel {

// A tensor that is fed. Its value is in a .npy file or at hand; a job that computes nothing needs
// neither.
struct GRAPNEL_PUBLIC FeedSource {
  std::string tensor;
  std::string file;
  Tensor value;  // when `file` is empty
};

// Errors: LoadFeed's, for one from a file.
inline Expected<Tensor> ValueOf(const FeedSource& feed, const Graph& graph) {
  if (feed.file.empty()) return feed.value;
  return LoadFeed(graph, feed.tensor, feed.file);
}

// An error where one tensor is fed twice ("x" and "x:0" are one), or a name is no tensor's.
GRAPNEL_PUBLIC Error DemandDifferent(const OpenedGraph& opened, llvm::ArrayRef<FeedSource> feeds);

// Adds the case's own feeds of tensors that `feeds` leave out. Errors: DemandDifferent's.
GRAPNEL_PUBLIC Error AddFeedsOfCase(const OpenedGraph& opened, std::vector<FeedSource>* feeds);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FEED_SOURCE_H_
