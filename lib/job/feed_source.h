// The source of a tensor's value in a job.
#ifndef GRAPNEL_LIB_JOB_FEED_SOURCE_H_
#define GRAPNEL_LIB_JOB_FEED_SOURCE_H_

#include <string>
#include <vector>

#include "lib/exec/feed.h"
#include "lib/job/opened_graph.h"
#include "lib/support/public.h"

namespace grapnel {

// A fed tensor. Its value is in a .npy file, as LoadFeed reads it, or in `value`; a job that
// computes nothing needs neither.
struct GRAPNEL_PUBLIC FeedSource {
  std::string tensor;
  std::string file;
  Tensor value;  // used if `file` is empty
};

// A feed that was found in the graph and loaded.
struct GRAPNEL_PUBLIC Feed {
  Port port;
  Tensor given;  // the user's value; for a variable's handle, the variable's initial value
  // The tensor to feed: `given` or, for an argument of a function's graph (lib/ir/function_ends.h)
  // that is a variable's handle, a handle of a new variable with the value `given`, which the
  // handle owns.
  Tensor value;
};

// Finds the tensors and loads their values, in the order of `feeds`. Errors: a name is not a
// tensor's; a tensor is fed twice ("x" and "x:0" are the same); those of LoadFeedOf, for a file; an
// argument that no value can replace, or a value that does not fit the argument's variable.
GRAPNEL_PUBLIC Expected<std::vector<Feed>> LoadFeeds(const OpenedGraph& opened,
                                                     llvm::ArrayRef<FeedSource> feeds);

// Adds the feeds that the opened case records for tensors that are not in `feeds`.
GRAPNEL_PUBLIC void AddFeedsOfCase(const OpenedGraph& opened, std::vector<FeedSource>* feeds);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FEED_SOURCE_H_
