// A job: trains a model by running a graph's training step on one batch after another, with
// checkpoints.
#ifndef GRAPNEL_LIB_JOB_TRAIN_H_
#define GRAPNEL_LIB_JOB_TRAIN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/job/run.h"
#include "lib/job/session_values.h"

namespace grapnel {

// How to add a training step to a graph that has none. The step computes the gradients of a scalar
// with respect to variables and applies them.
struct MakeStep {
  std::string optimizer;  // see MakeOptimizer; empty: the graph has a training step
  double learning_rate = 0.01;
  std::string loss;                 // a tensor of the main graph, or a key of the signature
  std::vector<std::string> only{};  // variables to train; empty: all floating-point ones
};

struct TrainRequest {
  // The feeds, fetches, signature, checkpoint to start from, pool and sinks. Scalar fetches are
  // reported; the loss is the first floating-point scalar fetch.
  RunRequest run;
  MakeStep make;
  std::string loss_name;  // the loss's name in reports; empty: make.loss or its fetch's name
  int64_t steps = 100;    // in total, including those before a resume
  // For feeds with rows along their first dimension: the number of rows per step. Steps take rows
  // in order, and restart at the first row when fewer rows than this are left. 0: a feed with one
  // dimension more than its placeholder is a stack of batches; any other feed is fed whole.
  int64_t batch_size = 0;
  std::string checkpoint_dir;          // empty: no checkpoints
  int64_t checkpoint_every = 0;        // in steps; 0: only after the last step
  int keep = 5;                        // number of checkpoints to keep; older ones are deleted
  bool resume = false;                 // starts from the last checkpoint in checkpoint_dir, if any
  bool optimize = false;               // run Grappler's passes first
  std::vector<std::string> without{};  // with `optimize`: see OptimizeOptions
  // If set, is called for each step instead of running the graph: runs in eager mode the program
  // from which the graph was traced, on the same variables and batches, and returns the graph's
  // fetches.
  std::function<Expected<std::vector<Tensor>>(Session&, std::vector<Tensor>)> program = {};
  // Called after the last step with the final variables, unless the loss is not finite.
  std::function<Error(Session&)> finish = {};
};

struct TrainedStep {
  int64_t step;  // counts from 1
  std::vector<std::pair<std::string, double>> scalars;
};

struct Trained {
  int64_t first = 0, last = 0;  // the steps that ran: first + 1 .. last
  std::string checkpoint;       // the last one written or read
  // If set: the loss was NaN or infinite in step `last`, and training stopped there. `failing_case`
  // is a case folder of that step, if there was a checkpoint_dir to write it in.
  std::string bad;
  std::string failing_case;
};

// Calls `each` after every step; if it returns false, training stops as after the last step. The
// same request gives the same values bit for bit, however often training was resumed, unless an op
// draws random numbers from a state that is not in a variable. Errors: those of RunJob; a training
// step that cannot be made; a checkpoint of another model; checkpoint_dir has checkpoints but
// `resume` is false; no fetch is a floating-point scalar; a batch that does not fit.
Expected<Trained> Train(OpenedGraph& opened, const TrainRequest& request,
                        llvm::function_ref<bool(const TrainedStep&)> each);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_TRAIN_H_
