// DynamicPartition: distributes the rows of a tensor to several outputs, in order.
#include <cstring>

#include "kernels/common/indices.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

Error Run(KernelContext& ctx) {
  const Tensor &data = ctx.input(0), &partitions = ctx.input(1);
  int count = ctx.num_outputs(), rank = partitions.rank();
  if (data.rank() < rank || data.dims().take_front(rank) != partitions.dims()) {
    return MakeError("data of shape {0} does not begin with the shape of partitions, {1}",
                     DimsText(data.dims()), DimsText(partitions.dims()));
  }
  std::vector<int64_t> sizes(count);
  for (int64_t i = 0; i < partitions.num_elements(); ++i) {
    int64_t to = partitions.IntAt(i);
    if (to < 0 || to >= count) {
      return MakeError("partitions{0} = {1} is not in [0, {2})", PositionText(partitions.dims(), i),
                       to, count);
    }
    ++sizes[to];
  }
  std::vector<char*> at;
  for (int i = 0; i < count; ++i) {
    Dims dims = {sizes[i]};
    dims.append(data.dims().begin() + rank, data.dims().end());
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(i, dims));
    at.push_back(static_cast<char*>(out->raw()));
  }
  if (partitions.num_elements() == 0) return Error::success();
  size_t row = data.byte_size() / partitions.num_elements();
  const char* from = static_cast<const char*>(data.raw());
  for (int64_t i = 0; i < partitions.num_elements() && row > 0; ++i, from += row) {
    char*& to = at[partitions.IntAt(i)];
    std::memcpy(to, from, row);
    to += row;
  }
  return Error::success();
}

Expected<KernelFn> Make(const KernelSetup& setup) {
  if (setup.input_type(0) == proto::DT_STRING || DataTypeSize(setup.input_type(0)) == 0)
    return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  return KernelFn(Run);
}

GRAPNEL_CPU_KERNEL("DynamicPartition", Make);

}  // namespace
}  // namespace grapnel
