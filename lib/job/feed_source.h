// The source of a tensor's value in a job.
#ifndef GRAPNEL_LIB_JOB_FEED_SOURCE_H_
#define GRAPNEL_LIB_JOB_FEED_SOURCE_H_

#include <string>
#include <vector>

#include "lib/exec/feed.h"
#include "lib/job/opened_graph.h"
#include "lib/support/public.h"

namespace grapnel {

// A fed tensor. Its value is in a .npy file or in `value`; a job that computes nothing needs
// neither.
struct GRAPNEL_PUBLIC FeedSource {
  std::string tensor;
  std::string file;
  Tensor value;  // used if `file` is empty
};

// Returns the tensor to feed. If the feed is a variable's handle, an argument of a function's graph
// (lib/ir/function_ends.h), the feed gives the variable's value, and the result is a handle of a
// new variable owned by the run. Errors: those of LoadFeed, for a file; an argument that no value
// can replace.
GRAPNEL_PUBLIC Expected<Tensor> ValueOf(const FeedSource& feed, const Graph& graph);
// GivenValue returns the value that the user gave: for a variable's handle, the variable's initial
// value. StandIn returns the tensor to feed for a given value.
GRAPNEL_PUBLIC Expected<Tensor> GivenValue(const FeedSource& feed, const Graph& graph);
GRAPNEL_PUBLIC Tensor StandIn(const Graph& graph, llvm::StringRef tensor, Tensor given);

// Returns an error if one tensor is fed twice ("x" and "x:0" are the same), or if a name is not a
// tensor's.
GRAPNEL_PUBLIC Error CheckDistinct(const OpenedGraph& opened, llvm::ArrayRef<FeedSource> feeds);

// Adds the feeds that the opened case records for tensors that are not in `feeds`. Errors: those of
// CheckDistinct.
GRAPNEL_PUBLIC Error AddFeedsOfCase(const OpenedGraph& opened, std::vector<FeedSource>* feeds);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FEED_SOURCE_H_
