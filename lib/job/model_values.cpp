#include "lib/job/model_values.h"

#include "lib/io/layers/layer_names.h"

namespace grapnel {
namespace {

Expected<std::optional<Bundle>> OpenVariables(const OpenedGraph& side) {
  const std::string& prefix = side.model().variables_prefix;
  if (prefix.empty()) return std::optional<Bundle>();
  ASSIGN_OR_RETURN(Bundle bundle, Bundle::Open(prefix));
  return std::optional<Bundle>(std::move(bundle));
}

void NameAsProgram(const OpenedGraph& a, const OpenedGraph& b, ValueReport* report) {
  if (report->different.empty()) return;
  const LayerNames in_a(a.file()), in_b(b.file());
  for (ValueDiff& one : report->different) {
    const LayerNames& names = one.b.empty() ? in_a : in_b;
    const std::string& known = one.b.empty() ? one.a : one.b;
    int variable = names.FindVariable(known);
    if (variable < 0) continue;
    const std::string& name = names.table().variables()[variable].name;
    if (name != known) one.name = name;
  }
}

}  // namespace

Expected<ValueReport> CompareModelValues(const OpenedGraph& a, const OpenedGraph& b,
                                         const Diff& diff) {
  ASSIGN_OR_RETURN(std::optional<Bundle> bundle_a, OpenVariables(a));
  ASSIGN_OR_RETURN(std::optional<Bundle> bundle_b, OpenVariables(b));
  ASSIGN_OR_RETURN(ValueReport report,
                   DiffValues({&a.file(), bundle_a ? &*bundle_a : nullptr},
                              {&b.file(), bundle_b ? &*bundle_b : nullptr}, diff));
  NameAsProgram(a, b, &report);
  return report;
}

}  // namespace grapnel
