// A kernel as a plugin, for an op without a kernel in grapnel: KthOrderStatistic, which returns for
// each row (along the last dimension) the element that k others are larger than.
//
// `grapnel run MODEL --plugin ./plugin_kernel.so` runs graphs with it.
#include <algorithm>
#include <functional>

#include "grapnel/exec/kernel.h"
#include "grapnel/support/plugin.h"

GRAPNEL_PLUGIN("kth_order_statistic");

namespace {

using namespace grapnel;

Expected<KernelFn> MakeKthOrderStatistic(const KernelSetup& setup) {
  int64_t k = setup.node().GetInt("k", 0);
  return KernelFn([k](KernelContext& context) -> Error {
    const Tensor& input = context.input(0);
    llvm::ArrayRef<int64_t> dims = input.dims();
    int64_t row = dims.back();
    if (k < 0 || k >= row) return MakeError("k is {0}, and rows have {1} elements", k, row);
    ASSIGN_OR_RETURN(Tensor * output, context.Allocate(0, dims.drop_back()));
    const float* from = input.data<float>();
    std::vector<float> sorted(row);
    for (int64_t i = 0; i < output->num_elements(); ++i, from += row) {
      std::copy(from, from + row, sorted.begin());
      std::nth_element(sorted.begin(), sorted.begin() + k, sorted.end(), std::greater<>());
      output->data<float>()[i] = sorted[k];
    }
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("KthOrderStatistic", MakeKthOrderStatistic, AtLeastRank(1, 0));

}  // namespace
