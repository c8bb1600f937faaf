// A job: a graph that makes a step is run again and again, on batch after batch, with checkpoints.
#ifndef GRAPNEL_LIB_JOB_TRAIN_H_
#define GRAPNEL_LIB_JOB_TRAIN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/job/run.h"
#include "lib/job/session_values.h"

namespace grapnel {

// Makes the step of a graph that has none: gradients of a scalar by its variables, applied.
struct MakeStep {
  std::string optimizer;  // lib/trace/optimizers.h: MakeOptimizer; empty: the graph has a step
  double learning_rate = 0.01;
  std::string loss;                 // a tensor of the main graph, or a key of the signature
  std::vector<std::string> only{};  // names of variables; empty: all that are floating point
};

struct TrainRequest {
  // Feeds, fetches, signature, checkpoint to begin from, pool, sinks. Of the fetches the scalars
  // are reported; the loss is the first that is floating point.
  RunRequest run;
  MakeStep make;
  std::string loss_name;  // what the loss is reported as; empty: as its fetch
  int64_t steps = 100;    // in all, those before a resume included
  // Of feeds with rows along their first dimension: how many a step takes, in order, from the first
  // again when less are left. 0: a feed with one dimension more than its placeholder is a stack of
  // batches, any other is fed as it is.
  int64_t batch_size = 0;
  std::string checkpoint_dir;    // empty: none are written
  int64_t checkpoint_every = 0;  // steps; 0: after the last
  int keep = 5;                  // checkpoints; older ones are deleted
  bool resume = false;           // from the last checkpoint of the folder, if it has one
  bool optimize = false;         // Grappler's passes first
  // Set: makes a step in the graph's place, on the same variables and batches: the program that the
  // graph was traced of, in eager mode. Gives what the graph's fetches are.
  std::function<Expected<std::vector<Tensor>>(Session&, std::vector<Tensor>)> program = {};
  // Called after the last step, unless the loss is not finite: with the variables as they are then.
  std::function<Error(Session&)> finish = {};
};

struct TrainedStep {
  int64_t step;  // from 1
  std::vector<std::pair<std::string, double>> scalars;
};

struct Trained {
  int64_t first = 0, last = 0;  // steps that were made: first + 1 .. last
  std::string checkpoint;       // the last one written or read
  // Set: the loss was NaN or infinite in step `last`, and training stopped there. `failing_case` is
  // a case folder of that step, if there was a checkpoint_dir to write it in.
  std::string bad;
  std::string failing_case;
};

// `each` is told of every step; false ends the training after it, with a checkpoint. The same
// request gives the same bits, however often it was resumed, as long as no op draws random numbers
// of a state that no variable holds. Errors: the run's; a checkpoint of another model; the folder
// has checkpoints and nobody asked to resume; nothing scalar is fetched; a batch that does not fit.
Expected<Trained> Train(OpenedGraph& opened, const TrainRequest& request,
                        llvm::function_ref<bool(const TrainedStep&)> each);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_TRAIN_H_
