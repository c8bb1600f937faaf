#include "lib/job/model_values.h"

namespace grapnel {
namespace {

Expected<std::optional<Bundle>> OpenVariables(const OpenedGraph& side) {
  const std::string& prefix = side.model().variables_prefix;
  if (prefix.empty()) return std::optional<Bundle>();
  ASSIGN_OR_RETURN(Bundle bundle, Bundle::Open(prefix));
  return std::optional<Bundle>(std::move(bundle));
}

}  // namespace

Expected<ValueReport> CompareModelValues(const OpenedGraph& a, const OpenedGraph& b,
                                         const Diff& diff) {
  ASSIGN_OR_RETURN(std::optional<Bundle> bundle_a, OpenVariables(a));
  ASSIGN_OR_RETURN(std::optional<Bundle> bundle_b, OpenVariables(b));
  return DiffValues({&a.file(), bundle_a ? &*bundle_a : nullptr},
                    {&b.file(), bundle_b ? &*bundle_b : nullptr}, diff);
}

}  // namespace grapnel
