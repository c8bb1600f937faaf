// What a model's variables and tables hold before its first run, for many runs that each begin
// there.
#ifndef GRAPNEL_LIB_JOB_STARTING_STATE_H_
#define GRAPNEL_LIB_JOB_STARTING_STATE_H_

#include <memory>

#include "lib/exec/session.h"
#include "lib/job/opened_graph.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

class StartingState {
 public:
  // Opens the file anew, since passes may take from a graph what restores it, and restores it as
  // `run` does. The values are read once. Null: the model has no state. Errors: RestoreSession's,
  // RestoreCase's.
  static Expected<std::shared_ptr<const StartingState>> Of(const OpenedGraph& opened,
                                                           ThreadPool& pool);
  // Variables share their values with this until somebody writes them; tables are filled anew.
  Error Fill(Session& session) const;

 private:
  StartingState(OpenedGraph opened, ThreadPool& pool) : opened_(std::move(opened)), pool_(pool) {}

  const OpenedGraph opened_;
  ThreadPool& pool_;
  Session session_;  // variables alone count
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_STARTING_STATE_H_
