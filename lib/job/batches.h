// The values that each training step is fed: a whole value, one of a stack of batches, or a range
// of rows.
#ifndef GRAPNEL_LIB_JOB_BATCHES_H_
#define GRAPNEL_LIB_JOB_BATCHES_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/ir/graph.h"
#include "lib/support/error.h"

namespace grapnel {

class Batches {
 public:
  // `feeds` names tensors of `graph`, and `values` has one value for each. See
  // TrainRequest::batch_size. Errors: a name that is not a tensor's; values with different numbers
  // of batches or rows; fewer batches or rows than one step needs.
  static Expected<Batches> Make(const Graph& graph, const std::vector<std::string>& feeds,
                                std::vector<Tensor> values, int64_t batch_size);
  // Appends a batch, which has one value per feed.
  void Append(std::vector<Tensor> batch) { more_.push_back(std::move(batch)); }

  int64_t size() const;  // number of batches before the first one repeats
  // Returns the values that step `step` (from 0) is fed.
  Expected<std::vector<Tensor>> At(int64_t step) const;

 private:
  std::vector<Tensor> values_;
  std::vector<bool> is_stacked_;  // by feed: true if a step gets a slice along dim 0
  int64_t rows_ = 0;              // size of dim 0 of the stacked feeds
  int64_t batch_size_ = 0;        // 0: each batch is one element of the stack
  std::vector<std::vector<Tensor>> more_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_BATCHES_H_
