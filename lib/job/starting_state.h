// The state of a model's variables and tables before its first run, for many runs that each start
// from it.
#ifndef GRAPNEL_LIB_JOB_STARTING_STATE_H_
#define GRAPNEL_LIB_JOB_STARTING_STATE_H_

#include <memory>

#include "lib/exec/session.h"
#include "lib/job/opened_graph.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

class StartingState {
 public:
  // Opens the file again, since passes may remove the nodes that restore the state, and restores
  // the state as `run` does. Reads the values once. Returns null if the model has no state. Errors:
  // those of OpenedGraph::Reopen and RestoreSession.
  static Expected<std::shared_ptr<const StartingState>> Of(const OpenedGraph& opened,
                                                           ThreadPool& pool);
  // Gives `session` the state. Variables share their values with this object until they are
  // written; tables are filled again.
  Error Fill(Session& session) const;

 private:
  StartingState(OpenedGraph opened, ThreadPool& pool) : opened_(std::move(opened)), pool_(pool) {}

  const OpenedGraph opened_;
  ThreadPool& pool_;
  Session session_;  // only its variables are used
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_STARTING_STATE_H_
