#include "lib/job/batches.h"

#include <cstring>

#include "lib/ir/find.h"
#include "lib/shape/inference.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// Returns rows [begin, begin + count) copied to a new buffer, which ops may overwrite. `is_one`:
// drops dim 0, for a batch that is one element of a stack.
Expected<Tensor> RowsOf(const Tensor& tensor, int64_t begin, int64_t count, bool is_one) {
  Tensor part = tensor.Slice(begin, begin + count);
  Dims dims(part.dims().begin() + (is_one ? 1 : 0), part.dims().end());
  ASSIGN_OR_RETURN(Tensor copy, Tensor::Allocate(tensor.dtype(), dims));
  if (tensor.dtype() == proto::DT_STRING)
    std::copy_n(part.data<std::string>(), part.num_elements(), copy.data<std::string>());
  else if (part.byte_size() > 0)
    std::memcpy(copy.raw(), part.raw(), part.byte_size());
  return copy;
}

}  // namespace

Expected<Batches> Batches::Make(const Graph& graph, const std::vector<std::string>& feeds,
                                std::vector<Tensor> values, int64_t batch_size) {
  Batches batches;
  batches.batch_size_ = batch_size;
  ShapeMap shapes = InferShapes(graph);
  std::string first;
  for (size_t i = 0; i < values.size(); ++i) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, feeds[i]));
    const Shape& shape = shapes.OfPort(port);
    const Tensor& value = values[i];
    // A scalar, such as a learning rate, is the same in all batches.
    bool is_stacked =
        batch_size > 0 ? value.rank() > 0 : shape.known_rank() && value.rank() == shape.rank() + 1;
    batches.is_stacked_.push_back(is_stacked);
    if (!is_stacked) continue;
    if (first.empty()) {
      first = feeds[i];
      batches.rows_ = value.dim(0);
    } else if (value.dim(0) != batches.rows_) {
      return MakeError("feed '{0}' has {1}, but feed '{2}' has {3}", first,
                       Plural(batches.rows_, batch_size > 0 ? "row" : "batch"), feeds[i],
                       value.dim(0));
    }
  }
  if (!first.empty() && batches.rows_ < std::max<int64_t>(batch_size, 1)) {
    return MakeError("feed '{0}' has {1}, but training needs at least {2}", first,
                     Plural(batches.rows_, batch_size > 0 ? "row" : "batch"),
                     std::max<int64_t>(batch_size, 1));
  }
  batches.values_ = std::move(values);
  return batches;
}

int64_t Batches::size() const {
  int64_t own = rows_ == 0 ? 1 : batch_size_ > 0 ? rows_ / batch_size_ : rows_;
  return own + static_cast<int64_t>(more_.size());
}

Expected<std::vector<Tensor>> Batches::At(int64_t step) const {
  int64_t own = size() - static_cast<int64_t>(more_.size()), at = step % size();
  std::vector<Tensor> batch;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (at >= own) {
      batch.push_back(more_[at - own][i]);
    } else if (!is_stacked_[i]) {
      batch.push_back(values_[i]);
    } else {
      bool is_one = batch_size_ == 0;
      int64_t count = is_one ? 1 : batch_size_;
      ASSIGN_OR_RETURN(Tensor rows, RowsOf(values_[i], at * count, count, is_one));
      batch.push_back(std::move(rows));
    }
  }
  return batch;
}

}  // namespace grapnel
