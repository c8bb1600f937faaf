// A job: trains: runs a graph's training step on batch after batch, with checkpoints.
#ifndef GRAPNEL_LIB_JOB_TRAIN_H_
#define GRAPNEL_LIB_JOB_TRAIN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/job/run.h"
#include "lib/job/session_values.h"

namespace grapnel {

// Adds a training step to a graph that has none: computes the gradients of a scalar with respect to
// variables and applies them.
struct MakeStep {
  std::string optimizer;  // lib/trace/optimizers.h: MakeOptimizer; empty: the graph has a step
  double learning_rate = 0.01;
  std::string loss;                 // a tensor of the main graph, or a key of the signature
  std::vector<std::string> only{};  // names of variables; empty: all floating-point ones
};

struct TrainRequest {
  // Feeds, fetches, signature, checkpoint to start from, pool, sinks. Scalar fetches are reported;
  // the loss is the first floating-point one.
  RunRequest run;
  MakeStep make;
  std::string loss_name;  // the loss's name in reports; empty: its fetch's name
  int64_t steps = 100;    // in total, including those before a resume
  // For feeds with rows along their first dimension: the number of rows per step, taken in order
  // and restarting at the first when fewer are left. 0: a feed with one dimension more than its
  // placeholder is a stack of batches; any other is fed whole.
  int64_t batch_size = 0;
  std::string checkpoint_dir;    // empty: not written
  int64_t checkpoint_every = 0;  // in steps; 0: only after the last
  int keep = 5;                  // number of checkpoints; older ones are deleted
  bool resume = false;           // from the last checkpoint in checkpoint_dir, if any
  bool optimize = false;         // run Grappler's passes first
  // If set: runs the step instead of the graph, on the same variables and batches: the program that
  // the graph was traced from, in eager mode. Returns the graph's fetches.
  std::function<Expected<std::vector<Tensor>>(Session&, std::vector<Tensor>)> program = {};
  // Called after the last step with the final variables, unless the loss is not finite.
  std::function<Error(Session&)> finish = {};
};

struct TrainedStep {
  int64_t step;  // from 1
  std::vector<std::pair<std::string, double>> scalars;
};

struct Trained {
  int64_t first = 0, last = 0;  // runs steps first + 1 .. last
  std::string checkpoint;       // the last one written or read
  // If set: the loss was NaN or infinite in step `last`, and training stopped there. `failing_case`
  // is a case folder of that step, if there was a checkpoint_dir to write it in.
  std::string bad;
  std::string failing_case;
};

// Calls `each` after every step; if it returns false, training stops with a checkpoint. The same
// request gives the same bits, however often it was resumed, unless an op draws random numbers from
// a state that is not in a variable. Errors: the run's; a checkpoint of another model;
// checkpoint_dir has checkpoints but `resume` is false; no fetch is a scalar; a batch that does not
// fit.
Expected<Trained> Train(OpenedGraph& opened, const TrainRequest& request,
                        llvm::function_ref<bool(const TrainedStep&)> each);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_TRAIN_H_
