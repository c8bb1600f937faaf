#include "lib/exec/dataset.h"

namespace grapnel {

Expected<DatasetNext> Dataset::MakeIterator(DatasetContext& context) const {
  ASSIGN_OR_RETURN(DatasetNext next, begin_(context));
  return DatasetNext([next = std::move(next)](DatasetContext& of_step) mutable
                     -> Expected<std::optional<DatasetElement>> {
    RETURN_IF_ERROR(StopIfCancelled(of_step.services.cancel));
    return next(of_step);
  });
}

Expected<std::optional<DatasetElement>> DatasetWalk::Next(const RunServices& services) {
  DatasetContext context{services, states_};
  if (!next_) {
    ASSIGN_OR_RETURN(next_, dataset_->MakeIterator(context));
  }
  return next_(context);
}

void DatasetIterator::Start(DatasetRef dataset) {
  std::lock_guard lock(mutex_);
  walk_.emplace(std::move(dataset));
}

Expected<std::optional<DatasetElement>> DatasetIterator::Next(const RunServices& services) {
  std::lock_guard lock(mutex_);
  if (!walk_) {
    return MakeError("iterator '{0}' has no dataset yet: nothing has initialised it (MakeIterator)",
                     name_);
  }
  return walk_->Next(services);
}

}  // namespace grapnel
