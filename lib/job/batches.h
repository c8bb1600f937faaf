// What is fed in each step of a training: a value as it is, stacked batches, or rows.
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
  // `feeds` are tensors of `graph`. See TrainRequest::batch_size. Errors: values of different
  // numbers of batches or rows; fewer rows than a batch.
  static Expected<Batches> Make(const Graph& graph, const std::vector<std::string>& feeds,
                                std::vector<Tensor> values, int64_t batch_size);
  // Further batches, one value a feed each.
  void Append(std::vector<Tensor> batch) { more_.push_back(std::move(batch)); }

  int64_t size() const;  // until they begin again
  // Of step `step`, from 0.
  Expected<std::vector<Tensor>> At(int64_t step) const;

 private:
  std::vector<Tensor> values_;
  std::vector<bool> is_stacked_;  // by feed: the first dimension is cut
  int64_t rows_ = 0;              // of those
  int64_t batch_size_ = 0;        // 0: a batch is one of the stack
  std::vector<std::vector<Tensor>> more_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_BATCHES_H_
