#include "lib/doctor/doctor.h"

#include <cmath>

#include "lib/doctor/numbers.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

std::map<std::string, CheckInfo>& Registry() {
  static auto& registry = *new std::map<std::string, CheckInfo>;
  return registry;
}

}  // namespace

const char* ConfidenceName(Confidence confidence) {
  switch (confidence) {
    case Confidence::kCertain:
      return "certain";
    case Confidence::kLikely:
      return "likely";
    case Confidence::kPossible:
      return "possible";
  }
  return "";
}

bool RegisterCheck(CheckInfo info) {
  std::string name = info.name;
  return Registry().emplace(name, std::move(info)).second;
}

std::vector<const CheckInfo*> Checks() {
  std::vector<const CheckInfo*> checks;
  for (const auto& [name, info] : Registry()) checks.push_back(&info);
  return checks;
}

bool VariableHistory::Changed() const {
  return llvm::any_of(moments, [&](const Moment& moment) {
    return moment.change > 0 || moment.bad != moments.front().bad;
  });
}

void AddMoment(const Tensor& value, VariableHistory* history) {
  VariableHistory::Moment moment;
  NumberStatistics numbers = StatisticsOf(value);
  moment.norm = numbers.norm();
  moment.spread = numbers.deviation();
  moment.bad = numbers.bad();
  if (!history->moments.empty()) moment.change = DistanceOf(history->last, value);
  if (history->moments.empty()) {
    history->first = value;
    history->dtype = value.dtype();
    history->dims.assign(value.dims().begin(), value.dims().end());
  }
  history->last = value;
  history->moments.push_back(moment);
}

const VariableHistory* DoctorContext::HistoryOf(int variable) const {
  auto found = llvm::find_if(
      variables, [&](const VariableHistory& history) { return history.variable == variable; });
  return variable < 0 || found == variables.end() ? nullptr : &*found;
}

void TensorWatches::Add(const BodyPort& port, See see) {
  if (port) entries_.push_back({port, std::move(see)});
}

void Check::Find(Confidence confidence, const Node& node, std::string what, std::string advice) {
  Finding finding;
  finding.confidence = confidence;
  finding.node = node.name().str();
  if (const Function* function = FunctionOf(node.graph()))
    finding.function = function->name().str();
  finding.what = std::move(what);
  finding.advice = std::move(advice);
  findings.push_back(std::move(finding));
}

void Check::Find(Confidence confidence, const std::string& name, std::string what,
                 std::string advice) {
  Finding finding;
  finding.confidence = confidence;
  finding.node = name;
  finding.what = std::move(what);
  finding.advice = std::move(advice);
  findings.push_back(std::move(finding));
}

}  // namespace grapnel
