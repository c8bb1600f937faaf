#include "tools/values.h"

namespace grapnel {

Expected<Tensor> Vary(const Tensor& feed, int repeat) {
  if (feed.dtype() != proto::DT_FLOAT && feed.dtype() != proto::DT_DOUBLE) return feed;
  ASSIGN_OR_RETURN(Tensor varied, Tensor::Allocate(feed.dtype(), feed.dims()));
  double scale = 1 + repeat % 64 / 4096.0;
  for (int64_t i = 0; i < feed.num_elements(); ++i) {
    if (feed.dtype() == proto::DT_FLOAT) {
      varied.data<float>()[i] = feed.data<float>()[i] * static_cast<float>(scale);
    } else {
      varied.data<double>()[i] = feed.data<double>()[i] * scale;
    }
  }
  return varied;
}

}  // namespace grapnel
