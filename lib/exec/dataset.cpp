#include "lib/exec/dataset.h"

#include <algorithm>

namespace grapnel {
namespace {

bool CanBe(const Shape& is, const Shape& wanted) {
  if (!is.known_rank() || !wanted.known_rank()) return true;
  if (is.rank() != wanted.rank()) return false;
  for (int i = 0; i < is.rank(); ++i) {
    if (is.IsKnown(i) && wanted.IsKnown(i) && is.dim(i) != wanted.dim(i)) return false;
  }
  return true;
}

}  // namespace

Error ElementSpec::Check(llvm::ArrayRef<Tensor> element) const {
  ElementSpec is;
  for (const Tensor& tensor : element) {
    is.dtypes.push_back(tensor.dtype());
    is.shapes.emplace_back(tensor.dims());
  }
  return Check(is);
}

Error ElementSpec::Check(const ElementSpec& is) const {
  if (dtypes.empty() || is.dtypes.empty()) return Error::success();
  if (dtypes.size() != is.dtypes.size()) {
    return MakeError("elements have {0} components, {1} were expected", is.dtypes.size(),
                     dtypes.size());
  }
  for (size_t i = 0; i < dtypes.size(); ++i) {
    if (dtypes[i] == is.dtypes[i]) continue;
    return MakeError("component {0} is {1}, {2} was expected", i, DataTypeName(is.dtypes[i]),
                     DataTypeName(dtypes[i]));
  }
  for (size_t i = 0; i < std::min(shapes.size(), is.shapes.size()); ++i) {
    if (CanBe(is.shapes[i], shapes[i])) continue;
    return MakeError("component {0} is of shape {1}, {2} was expected", i, is.shapes[i].ToString(),
                     shapes[i].ToString());
  }
  return Error::success();
}

Expected<DatasetNext> Dataset::MakeIterator(DatasetContext& context) const {
  ASSIGN_OR_RETURN(DatasetNext next, begin_(context));
  return DatasetNext(
      [next = std::move(next), wanted = spec_.dtypes.size()](
          DatasetContext& of_step) mutable -> Expected<std::optional<DatasetElement>> {
        RETURN_IF_ERROR(StopIfCancelled(of_step.services.cancel));
        ASSIGN_OR_RETURN(std::optional<DatasetElement> element, next(of_step));
        if (element && wanted != 0 && element->size() != wanted)
          return MakeError("an element has {0} components, {1} were expected", element->size(),
                           wanted);
        return element;
      });
}

Expected<std::optional<DatasetElement>> DatasetWalk::Next(const RunServices& services) {
  DatasetContext context{services, states_};
  if (!next_) {
    ASSIGN_OR_RETURN(next_, dataset_->MakeIterator(context));
  }
  return next_(context);
}

Error DatasetIterator::Start(DatasetRef dataset) {
  RETURN_IF_ERROR(spec_.Check(dataset->spec()));
  std::lock_guard lock(mutex_);
  walk_.emplace(std::move(dataset));
  return Error::success();
}

Expected<std::optional<DatasetElement>> DatasetIterator::Next(const RunServices& services) {
  std::lock_guard lock(mutex_);
  if (!walk_) {
    return MakeError("iterator '{0}' has no dataset yet: nothing has initialized it (MakeIterator)",
                     name_);
  }
  return walk_->Next(services);
}

}  // namespace grapnel
