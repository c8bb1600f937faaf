// InitializeTableFromDataset: initializes a lookup table from a dataset of key-value pairs.
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/data/dataset.h"
#include "kernels/cpu/state/lookup_table.h"

namespace grapnel {
namespace {

Error FillFromDataset(KernelContext& ctx) {
  ASSIGN_OR_RETURN(LookupTable * table, TableIn(ctx, 0));
  ASSIGN_OR_RETURN(DatasetRef dataset, DatasetIn(ctx, 1));
  std::lock_guard lock(table->mutex);
  if (table->initialized) return Error::success();
  DatasetWalk walk(dataset);
  for (bool is_first = true;; is_first = false) {
    ASSIGN_OR_RETURN(auto element, walk.Next(ctx.services()));
    if (!element && is_first)
      return MakeError("the dataset is empty, a key and a value were expected");
    if (!element) break;
    if (element->size() != 2)
      return MakeError("elements of {0} components, a key and a value were expected",
                       element->size());
    RETURN_IF_ERROR(InsertRows(ctx, *table, (*element)[0], (*element)[1], true));
  }
  table->initialized = true;
  return Error::success();
}

GRAPNEL_CPU_KERNEL("InitializeTableFromDataset", KernelOf<FillFromDataset>);

}  // namespace
}  // namespace grapnel
