// The check of the devices on which TensorFlow would place nodes.
#include <set>

#include "lib/job/logged_placement.h"
#include "lib/policy/node_origin.h"
#include "lib/policy/policy_checks.h"
#include "lib/support/name_list.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostExplained = 100;  // findings with a reason of their own

// Returns the settings of a placer for the listed devices. A device without a number is the first
// of its type.
PlacerSettings SettingsFor(llvm::ArrayRef<DeviceSpec> devices) {
  PlacerSettings settings;
  settings.may_read = false;
  for (DeviceSpec device : devices) {
    if (device.id == DeviceSpec::kOpen) device.id = 0;
    settings.devices += (settings.devices.empty() ? "" : ",") + device.ToString();
  }
  settings.words = {"'devices'", "hard placement", "grapnel place --explain"};
  return settings;
}

// True if the pattern fits the name, or the end of the name from one of its scopes on: the names of
// the model and of calls come before those that layers have.
bool FitsEnd(const Glob& pattern, llvm::StringRef name) {
  while (true) {
    if (pattern.Fits(name)) return true;
    auto [scope, rest] = name.split('/');
    if (rest.empty()) return false;
    name = rest;
  }
}

// Compares a placed graph with the demands of a policy.
class Demands {
 public:
  Demands(const CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings)
      : module_(model.module()),
        rule_(rule),
        findings_(findings),
        is_met_(rule.placed.size(), false) {}

  Error CheckDevices(const DeviceSet& devices) const {
    for (const PlacedNodes& demand : rule_.placed) {
      if (devices.Find(demand.device)) continue;
      return MakeError("\"{0}\" = \"{1}\" in line {2}: there is no such device in 'devices': {3}",
                       llvm::StringRef(demand.nodes.text()), demand.device.ToString(), demand.line,
                       devices.List());
    }
    return Error::success();
  }

  void Check(const PlacedGraph& placed, llvm::StringRef function) {
    const PlacementContext context = placed.context();
    if (context.placement.failure) return ReportFailure(context, function);
    for (const Node& node : context.graph.nodes()) {
      if (node.op() == "_Arg" || node.op() == "_Retval") continue;
      std::string name = NameOfOrigin(module_, function, node.name());
      const PlacedNodes* demand = FindDemand(name);
      int device = context.placement.Of(node.id()).device;
      if (!demand || device < 0 || demand->device.Matches(context.devices.device(device).name))
        continue;
      if (!reported_.insert(name).second) continue;  // placed for another signature too
      // A reason costs a pass over the graph.
      std::string why = reported_.size() > kMostExplained
                            ? RuleText(context.placement.Of(node.id()).rule)
                            : WhyNotOn(context, node, demand->device);
      findings_.Add(
          name,
          Sentence("this {0} is placed on {1}: {2}", node.op(),
                   ShortDevice(context.devices.device(device).text), why),
          Sentence("{0}, as \"{1}\" demands", ShortDevice(demand->device.ToString()),
                   llvm::StringRef(demand->nodes.text())),
          "use an op with a kernel there, or change the request of the node (tf.device); `grapnel "
          "place --explain` tells more");
    }
  }

  // Returns the patterns that fit no node of any graph, for the check could not judge them.
  std::string Unmet() const {
    std::vector<std::string> texts;
    for (size_t i = 0; i < is_met_.size(); ++i)
      if (!is_met_[i]) texts.push_back(rule_.placed[i].nodes.text());
    return texts.empty() ? "" : "no node fits " + NameList(texts);
  }

 private:
  // Returns the first demand that fits.
  const PlacedNodes* FindDemand(llvm::StringRef name) {
    const PlacedNodes* first = nullptr;
    for (size_t i = 0; i < rule_.placed.size(); ++i) {
      if (!FitsEnd(rule_.placed[i].nodes, name)) continue;
      is_met_[i] = true;
      if (!first) first = &rule_.placed[i];
    }
    return first;
  }

  void ReportFailure(const PlacementContext& context, llvm::StringRef function) {
    const PlacementFailure& failure = *context.placement.failure;
    std::string name =
        failure.nodes.empty()
            ? ""
            : NameOfOrigin(module_, function, context.graph.node(failure.nodes.front()).name());
    if (!reported_.insert(name).second) return;
    std::fill(is_met_.begin(), is_met_.end(), true);
    findings_.Add(name, "the graph cannot be placed: " + failure.message, "a device for each node",
                  failure.advice.empty() ? "`grapnel place` tells more" : failure.advice.front());
  }

  const Module& module_;
  const PolicyRule& rule_;
  PolicyFindings& findings_;
  std::vector<bool> is_met_;  // by demand: whether it fits a node
  std::set<std::string> reported_;
};

}  // namespace

Judged CheckPlacement(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  const std::vector<DeviceSpec>* devices = rule.FindDevices("devices");
  if (!devices) return MakeError("'devices' is empty: list the devices that there are");
  const PlacerSettings settings = SettingsFor(*devices);
  Demands demands(model, rule, findings);
  ASSIGN_OR_RETURN(PlacerSetup setup, PlacerSetup::Make(settings));
  RETURN_IF_ERROR(demands.CheckDevices(setup.devices));
  for (const std::string& signature : model.Signatures()) {
    PlaceRequest request;
    request.settings = settings;
    request.signature = signature;
    ASSIGN_OR_RETURN(PlacedGraphs placed, PlaceWithCalls(model.opened(), request));
    demands.Check(placed.main, placed.view.function);
    for (const PlacedCall& call : placed.calls) demands.Check(call.placed, call.function);
  }
  return demands.Unmet();
}

}  // namespace grapnel
