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

// What stands for it in a run. A handle of a variable that a function's graph takes as an argument
// (lib/ir/function_ends.h) is fed what the variable holds, and stands for a variable of the run's
// own. Errors: LoadFeed's, for one from a file; an argument that no value stands for.
GRAPNEL_PUBLIC Expected<Tensor> ValueOf(const FeedSource& feed, const Graph& graph);
// What it is given: of a handle what the variable holds at first; and what stands for that.
GRAPNEL_PUBLIC Expected<Tensor> GivenValue(const FeedSource& feed, const Graph& graph);
GRAPNEL_PUBLIC Tensor StandIn(const Graph& graph, llvm::StringRef tensor, Tensor given);

// An error where one tensor is fed twice ("x" and "x:0" are one), or a name is no tensor's.
GRAPNEL_PUBLIC Error CheckDistinct(const OpenedGraph& opened, llvm::ArrayRef<FeedSource> feeds);

// Adds the case's own feeds of tensors that `feeds` leave out. Errors: CheckDistinct's.
GRAPNEL_PUBLIC Error AddFeedsOfCase(const OpenedGraph& opened, std::vector<FeedSource>* feeds);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FEED_SOURCE_H_
