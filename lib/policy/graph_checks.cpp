// Checks of nodes: ops, devices, dtypes, and findings of `doctor`.
#include <map>
#include <set>

#include "lib/io/saved_variables.h"
#include "lib/io/signature.h"
#include "lib/ir/node_types.h"
#include "lib/policy/policy_checks.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

std::string TextsOf(llvm::ArrayRef<Glob> globs) {
  return llvm::join(llvm::map_range(globs, [](const Glob& glob) { return glob.text(); }), ", ");
}

std::string NamesOf(llvm::ArrayRef<DataType> types) {
  auto name = [](DataType type) { return DataTypeName(type); };
  return llvm::join(llvm::map_range(types, name), ", ");
}

std::string NamesOf(llvm::ArrayRef<DeviceSpec> devices) {
  auto name = [](const DeviceSpec& device) { return device.ToString(); };
  return llvm::join(llvm::map_range(devices, name), ", ");
}

// True if there is a part of a device name (job, replica, task, type, id) that both specify.
bool SpeaksOf(const DeviceSpec& named, const DeviceSpec& device) {
  auto both = [](int32_t a, int32_t b) { return a != DeviceSpec::kOpen && b != DeviceSpec::kOpen; };
  return (named.job && device.job) || both(named.replica, device.replica) ||
         both(named.task, device.task) || (named.type && device.type) || both(named.id, device.id);
}

// True if the list allows the device. A device without a job is in the program's job, which
// "/job:worker" does not cover; a device without a type may have any type. If the list names jobs,
// all other jobs that are allowed must be listed. A device is also allowed if the list specifies
// none of the parts that the device specifies.
bool IsAllowed(llvm::ArrayRef<DeviceSpec> allowed, const DeviceSpec& device) {
  bool is_local = !device.job || device.job == DeviceWord::Of("localhost");
  bool are_jobs_named = llvm::any_of(allowed, [](const auto& named) { return bool(named.job); });
  bool is_spoken_of = are_jobs_named && !is_local;
  for (const DeviceSpec& named : allowed) {
    bool fits_job = named.job ? bool(device.job) : is_local || !are_jobs_named;
    if (fits_job && named.IsCompatibleWith(device)) return true;
    is_spoken_of |= SpeaksOf(named, device);
  }
  return !is_spoken_of;
}

// Returns "no float64", or "one of float, half".
std::string Expectation(bool is_forbidden, const std::string& allowed, const std::string& what) {
  return is_forbidden ? "no " + what : "one of " + allowed;
}

constexpr const char* kNewNeedsBase = "'new' needs BASE (--against)";

// Describes an op or a dtype that BASE does not have, of which this is the first node.
std::string NewText(llvm::StringRef what, size_t nodes) {
  std::string more = nodes > 1 ? ", and at " + Plural(nodes - 1, "more node") : "";
  return Sentence("{0} is new here{1}: BASE does not have it", what, more);
}

// True for handles. A handle refers to a container (variable, table, list) whose tensors have other
// dtypes.
bool IsHandle(DataType type) { return type == proto::DT_RESOURCE || type == proto::DT_VARIANT; }

// Finds where forbidden dtypes begin: at nodes that output a forbidden dtype without reading one,
// or that create a container (a variable, a table, a list) of a forbidden dtype.
class TypeOrigins {
 public:
  TypeOrigins(const OpenedGraph& opened, llvm::function_ref<bool(DataType)> is_bad)
      : module_(opened.module()), is_bad_(is_bad) {
    for (const Node& node : UpkeepNodes(opened.file()))
      passed_over_.insert({&node.graph(), node.id()});
    for (const SavedVariable& variable : VariablesOf(opened.file())) {
      if (variable.is_own) {
        passed_over_.erase({&module_.main, variable.node});
      } else {
        passed_over_.insert({&module_.main, variable.node});
      }
    }
    VisitNodes(opened, [&](const Node& node, const std::string&) {
      for (llvm::StringRef name : CalledFunctions(node)) called_.insert(name);
    });
  }

  // Returns the dtype that begins at the node, or DT_INVALID.
  DataType At(const Node& node) {
    if (passed_over_.count({&node.graph(), node.id()}) || IsOfCaller(node))
      return proto::DT_INVALID;
    // A call does not count: the dtype begins inside the called function.
    bool calls = llvm::any_of(CalledFunctions(node),
                              [&](llvm::StringRef name) { return module_.FindFunction(name); });
    if (calls) return proto::DT_INVALID;
    DataType type = BadOf(node);
    return type == proto::DT_INVALID || ReadsBad(node) ? proto::DT_INVALID : type;
  }

 private:
  // True for an argument whose dtype begins elsewhere: one that a caller passes, or a handle (a
  // function may capture it, even if nothing calls the function).
  bool IsOfCaller(const Node& node) const {
    if (node.op() != "_Arg") return false;
    const Function* function = FunctionOf(node.graph());
    return IsHandle(node.GetType("T")) || !function || called_.contains(function->name());
  }

  DataType BadOf(const Node& node) {
    auto [known, added] = bad_.try_emplace({&node.graph(), node.id()}, proto::DT_INVALID);
    return added ? known->second = FindBad(node) : known->second;
  }

  DataType FindBad(const Node& node) const {
    const OpInfo* info = DefinitionOf(node);
    auto types = info ? TypesOf(node, *info) : Expected<NodeTypes>(NodeTypes());
    if (!types) {
      llvm::consumeError(types.takeError());
      return proto::DT_INVALID;
    }
    DataType bad = proto::DT_INVALID;
    auto look = [&](DataType type) {
      if (bad == proto::DT_INVALID && is_bad_(BaseType(type))) bad = BaseType(type);
    };
    llvm::for_each(types->outputs, look);
    if (llvm::any_of(types->outputs, IsHandle)) {
      for (const auto& [key, attr] : node.Attrs()) {
        if (auto type = attr.AsType()) look(*type);
        if (auto list = attr.AsTypes()) llvm::for_each(*list, look);
      }
    }
    return bad;
  }

  // True if an input has a forbidden dtype. A container passed as an argument counts as an input:
  // its dtype begins where the container was created.
  bool ReadsBad(const Node& node) {
    return llvm::any_of(node.inputs(), [&](const Port& port) {
      if (port.node == kNoNode || port.IsControl()) return false;
      Node maker = node.graph().node(port.node);
      bool is_held = maker.op() == "_Arg" && IsHandle(maker.GetType("T"));
      return is_held || BadOf(maker) != proto::DT_INVALID;
    });
  }

  const Module& module_;
  llvm::function_ref<bool(DataType)> is_bad_;
  llvm::DenseSet<std::pair<const Graph*, NodeId>> passed_over_;
  llvm::StringSet<> called_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, DataType> bad_;
};

Judged ReportDiagnosis(CheckedModel& model, llvm::StringRef check, const char* expected,
                       PolicyFindings& findings) {
  ASSIGN_OR_RETURN(const Diagnosis* diagnosis, model.Doctor());
  for (const Finding& finding : diagnosis->findings) {
    if (finding.check != check) continue;
    std::string place = finding.function.empty() ? "" : finding.function + "/";
    findings.Add(place + finding.node, finding.what, expected, finding.advice);
  }
  for (const CheckOutcome& outcome : diagnosis->outcomes) {
    if (check == outcome.info->name && outcome.status == CheckOutcome::kNotRun)
      return outcome.reason;
  }
  return std::string();
}

}  // namespace

void VisitNodes(const OpenedGraph& opened,
                llvm::function_ref<void(const Node& node, const std::string& name)> visit) {
  llvm::DenseSet<std::pair<const Graph*, NodeId>> upkeep;
  for (const Node& node : UpkeepNodes(opened.file())) upkeep.insert({&node.graph(), node.id()});
  auto visit_body = [&](const Graph& graph, const std::string& prefix) {
    for (const Node& node : graph.nodes()) {
      if (node.op() == "_Arg" || node.op() == "_Retval" || upkeep.count({&graph, node.id()}))
        continue;
      visit(node, prefix + node.name().str());
    }
  };
  const Module& module = opened.module();
  visit_body(module.main, "");
  for (const auto& function : module.functions)
    visit_body(function->body, function->name().str() + "/");
}

Judged CheckOps(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  const auto *allowed = rule.FindGlobs("allowed"), *forbidden = rule.FindGlobs("forbidden");
  auto is_forbidden = [&](llvm::StringRef op) { return forbidden && FitsAny(*forbidden, op); };
  auto is_call = [&](llvm::StringRef op) { return model.module().FindFunction(op) != nullptr; };
  VisitNodes(model.opened(), [&](const Node& node, const std::string& name) {
    llvm::StringRef op = node.op();
    if (!is_forbidden(op) && (!allowed || is_call(op) || FitsAny(*allowed, op))) return;
    findings.Add(name, Sentence("this node is a {0}", op),
                 Expectation(is_forbidden(op), allowed ? TextsOf(*allowed) : "", op.str()),
                 "use other ops, or allow this one in the policy");
  });
  const FindingSeverity* severity = rule.FindSeverity("new");
  if (!severity) return std::string();
  if (!model.base()) return std::string(kNewNeedsBase);
  llvm::StringSet<> known;
  VisitNodes(*model.base(), [&](const Node& node, const std::string&) { known.insert(node.op()); });
  std::map<std::string, std::vector<std::string>> nodes_of;  // by new op
  VisitNodes(model.opened(), [&](const Node& node, const std::string& name) {
    llvm::StringRef op = node.op();
    if (!known.contains(op) && !is_call(op) && !is_forbidden(op))
      nodes_of[op.str()].push_back(name);
  });
  for (const auto& [op, nodes] : nodes_of)
    findings.AddAs(*severity, {nodes.front()}, NewText(op, nodes.size()), "ops that BASE has",
                   "use ops that BASE has, if those that serve the model may lack this one");
  return std::string();
}

Judged CheckDevices(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  const auto *allowed = rule.FindDevices("allowed"), *forbidden = rule.FindDevices("forbidden");
  VisitNodes(model.opened(), [&](const Node& node, const std::string& name) {
    if (node.device().empty()) return;
    auto device = DeviceSpec::Parse(node.device());
    if (!device) {
      llvm::consumeError(device.takeError());
      findings.Add(name, Sentence("'{0}' is not a device", node.device()), "a device, or none",
                   "name a device as TensorFlow does, or none");
      return;
    }
    // True if the device specifies every part that `named` specifies, and the parts are equal.
    auto is_of = [&](const DeviceSpec& named) {
      DeviceSpec both = *device;
      return named.IsCompatibleWith(*device) && !both.Merge(named, false) && both == *device;
    };
    bool is_forbidden = forbidden && llvm::any_of(*forbidden, is_of);
    bool is_allowed = !allowed || IsAllowed(*allowed, *device);
    if (!is_forbidden && is_allowed) return;
    findings.Add(
        name, Sentence("this {0} is on {1}", node.op(), QuotedDevice(node.device())),
        Expectation(is_forbidden, allowed ? NamesOf(*allowed) : "", ShortDevice(node.device())),
        "save the model without devices, or `grapnel convert --devices`");
  });
  return std::string();
}

// Visits each node at which a dtype begins for which `is_bad` is true.
void VisitOrigins(const OpenedGraph& opened, llvm::function_ref<bool(DataType)> is_bad,
                  llvm::function_ref<void(const Node& node, DataType type)> visit) {
  TypeOrigins origins(opened, is_bad);
  auto look = [&](const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      DataType type = origins.At(node);
      if (type != proto::DT_INVALID) visit(node, type);
    }
  };
  look(opened.module().main);
  for (const auto& function : opened.module().functions) look(function->body);
}

// Returns the dtypes of a model: of outputs, and those that attributes name.
std::set<DataType> DtypesOf(const OpenedGraph& opened) {
  std::set<DataType> types;
  VisitNodes(opened, [&](const Node& node, const std::string&) {
    node.ForEachAttr([&](llvm::StringRef, AttrView attr) {
      if (auto type = attr.AsType()) types.insert(BaseType(*type));
      if (auto list = attr.AsTypes())
        for (DataType type : *list) types.insert(BaseType(type));
    });
    const OpInfo* info = DefinitionOf(node);
    auto own = info ? TypesOf(node, *info) : Expected<NodeTypes>(NodeTypes());
    if (!own) return llvm::consumeError(own.takeError());
    for (DataType type : own->outputs) types.insert(BaseType(type));
  });
  return types;
}

Judged CheckTypes(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  const auto *allowed = rule.FindTypes("allowed"), *forbidden = rule.FindTypes("forbidden");
  auto is_forbidden = [&](DataType type) {
    return forbidden && llvm::is_contained(*forbidden, type);
  };
  auto is_bad = [&](DataType type) {
    return is_forbidden(type) ||
           (allowed && !IsHandle(type) && !llvm::is_contained(*allowed, type));
  };
  VisitOrigins(model.opened(), is_bad, [&](const Node& node, DataType type) {
    std::string text = DataTypeName(type).str();
    bool is_argument = node.op() == "_Arg";
    findings.Add(FullNameOf(node),
                 Sentence("{0} begins at this {1}", text, is_argument ? "argument" : node.op()),
                 Expectation(is_forbidden(type), allowed ? NamesOf(*allowed) : "", text),
                 "change the dtype here; the readers follow");
  });
  const FindingSeverity* severity = rule.FindSeverity("new");
  if (!severity) return std::string();
  if (!model.base()) return std::string(kNewNeedsBase);
  const std::set<DataType> known = DtypesOf(*model.base());
  auto is_new = [&](DataType type) {
    return !known.count(type) && !IsHandle(type) && !is_bad(type) && type != proto::DT_INVALID;
  };
  std::map<DataType, std::vector<std::string>> nodes_of;  // by new dtype
  VisitOrigins(model.opened(), is_new, [&](const Node& node, DataType type) {
    nodes_of[type].push_back(FullNameOf(node));
  });
  for (const auto& [type, nodes] : nodes_of)
    findings.AddAs(*severity, {nodes.front()}, NewText(DataTypeName(type), nodes.size()),
                   "dtypes that BASE has", "change the dtype here; the readers follow");
  return std::string();
}

std::vector<std::string> DebugOps() {
  return {"Print", "PrintV2", "Assert", "CheckNumerics", "CheckNumericsV2", "Debug*"};
}

Judged CheckDebugOps(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  const std::vector<Glob>*more = rule.FindGlobs("ops"), *except = rule.FindGlobs("except");
  ASSIGN_OR_RETURN(const std::vector<Glob> usual, Glob::ParseAll(DebugOps()));
  VisitNodes(model.opened(), [&](const Node& node, const std::string& name) {
    if (!FitsAny(usual, node.op()) && !(more && FitsAny(*more, node.op()))) return;
    if (except && FitsAny(*except, node.op())) return;
    findings.Add(
        name, Sentence("this {0} is a debugging op", node.op()), "no op that is only for debugging",
        "remove it before saving the model, or with `grapnel opt --passes debug_stripper`");
  });
  return std::string();
}

Judged CheckUnusedInputs(CheckedModel& model, const PolicyRule&, PolicyFindings& findings) {
  return ReportDiagnosis(model, "unused_input", "that every input is used", findings);
}

Judged CheckUnguardedOps(CheckedModel& model, const PolicyRule&, PolicyFindings& findings) {
  return ReportDiagnosis(model, "unguarded_op", "a guard", findings);
}

}  // namespace grapnel
