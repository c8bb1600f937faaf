#include "lib/job/model_values.h"

#include "lib/io/layers/layer_names.h"

namespace grapnel {
namespace {

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
  ASSIGN_OR_RETURN(ValueReport report, DiffValues({&a.file(), a.model().variables_prefix},
                                                  {&b.file(), b.model().variables_prefix}, diff));
  NameAsProgram(a, b, &report);
  return report;
}

}  // namespace grapnel
