// What nodes are: ops, devices, dtypes, and what `doctor` says of them.
#include "lib/ir/node_types.h"
#include "lib/job/policy/policy_checks.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

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

// "no float64", or "one of float, half".
std::string Expectation(bool is_forbidden, const std::string& allowed, const std::string& what) {
  return is_forbidden ? "no " + what : "one of " + allowed;
}

// Where dtypes of a body begin that may not be there: what reads none of them and gives one.
class TypeOrigins {
 public:
  TypeOrigins(const Graph& graph, llvm::function_ref<bool(DataType)> is_bad)
      : graph_(graph), is_bad_(is_bad) {
    for (const Node& node : graph.nodes()) {
      if (const OpInfo* info = DefinitionOf(node)) {
        auto types = TypesOf(node, *info);
        if (types) types_[node.id()] = std::move(types->outputs);
        llvm::consumeError(types.takeError());
      }
    }
  }

  DataType BadOutput(const Node& node) const {
    for (DataType type : types_.lookup(node.id())) {
      if (is_bad_(BaseType(type))) return BaseType(type);
    }
    return proto::DT_INVALID;
  }
  bool ReadsBad(const Node& node) const {
    return llvm::any_of(node.inputs(), [&](const Port& port) {
      return port.node != kNoNode && !port.IsControl() &&
             BadOutput(graph_.node(port.node)) != proto::DT_INVALID;
    });
  }

 private:
  const Graph& graph_;
  llvm::function_ref<bool(DataType)> is_bad_;
  llvm::DenseMap<NodeId, llvm::SmallVector<DataType, 4>> types_;
};

Looked TellDiagnosis(CheckedModel& model, llvm::StringRef check, const char* expected,
                     PolicyFindings& findings) {
  ASSIGN_OR_RETURN(const Diagnosis* diagnosis, model.Doctor());
  for (const Finding& finding : diagnosis->findings) {
    if (finding.check != check) continue;
    std::string place = finding.function.empty() ? "" : finding.function + "/";
    findings.Add(place + finding.node, finding.what, expected, finding.advice);
  }
  for (const CheckOutcome& outcome : diagnosis->outcomes) {
    if (check == outcome.info->name && outcome.status == CheckOutcome::kNotLooked)
      return outcome.reason;
  }
  return std::string();
}

}  // namespace

void VisitNodes(const Module& module,
                llvm::function_ref<void(const Node& node, const std::string& name)> visit) {
  auto visit_body = [&](const Graph& graph, const std::string& prefix) {
    for (const Node& node : graph.nodes()) {
      if (node.op() != "_Arg" && node.op() != "_Retval") visit(node, prefix + node.name().str());
    }
  };
  visit_body(module.main, "");
  for (const auto& function : module.functions)
    visit_body(function->body, function->name().str() + "/");
}

Looked LookAtOps(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  const auto *allowed = rule.FindGlobs("allowed"), *forbidden = rule.FindGlobs("forbidden");
  VisitNodes(model.module(), [&](const Node& node, const std::string& name) {
    llvm::StringRef op = node.op();
    bool is_forbidden = forbidden && FitsAny(*forbidden, op);
    bool is_call = model.module().FindFunction(op) != nullptr;
    if (!is_forbidden && (!allowed || is_call || FitsAny(*allowed, op))) return;
    findings.Add(name, Sentence("this node is a {0}", op),
                 Expectation(is_forbidden, allowed ? TextsOf(*allowed) : "", op.str()),
                 "build it of other ops, or let the policy take this one");
  });
  return std::string();
}

Looked LookAtDevices(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  const auto *allowed = rule.FindDevices("allowed"), *forbidden = rule.FindDevices("forbidden");
  VisitNodes(model.module(), [&](const Node& node, const std::string& name) {
    if (node.device().empty()) return;
    auto device = DeviceSpec::Parse(node.device());
    if (!device) {
      llvm::consumeError(device.takeError());
      findings.Add(name, Sentence("'{0}' is no device", node.device()), "a device, or none",
                   "name a device as TensorFlow does, or none");
      return;
    }
    // What a device leaves open it does not name.
    auto is_of = [&](const DeviceSpec& named) {
      DeviceSpec both = *device;
      return named.IsCompatibleWith(*device) && !both.Merge(named, false) && both == *device;
    };
    bool is_forbidden = forbidden && llvm::any_of(*forbidden, is_of);
    bool is_allowed = !allowed || llvm::any_of(*allowed, [&](const DeviceSpec& named) {
      return named.IsCompatibleWith(*device);
    });
    if (!is_forbidden && is_allowed) return;
    findings.Add(
        name, Sentence("this {0} is on {1}", node.op(), QuotedDevice(node.device())),
        Expectation(is_forbidden, allowed ? NamesOf(*allowed) : "", ShortDevice(node.device())),
        "save the model without devices, or `grapnel convert --devices`");
  });
  return std::string();
}

Looked LookAtTypes(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  const auto *allowed = rule.FindTypes("allowed"), *forbidden = rule.FindTypes("forbidden");
  auto is_bad = [&](DataType type) {
    return (forbidden && llvm::is_contained(*forbidden, type)) ||
           (allowed && !llvm::is_contained(*allowed, type));
  };
  auto look = [&](const Graph& graph) {
    TypeOrigins origins(graph, is_bad);
    for (const Node& node : graph.nodes()) {
      DataType type = origins.BadOutput(node);
      if (type == proto::DT_INVALID || node.op() == "_Arg" || origins.ReadsBad(node)) continue;
      bool is_forbidden = forbidden && llvm::is_contained(*forbidden, type);
      llvm::StringRef text = DataTypeName(type);
      findings.Add(FullNameOf(node), Sentence("{0} begins at this {1}", text, node.op()),
                   Expectation(is_forbidden, allowed ? NamesOf(*allowed) : "", text.str()),
                   "make it another dtype here, and what reads it follows");
    }
  };
  look(model.module().main);
  for (const auto& function : model.module().functions) look(function->body);
  return std::string();
}

std::vector<std::string> DebugOps() {
  return {"Print",           "PrintV2",        "Assert",        "CheckNumerics",
          "CheckNumericsV2", "DebugIdentity*", "DebugNanCount", "DebugNumericSummary*"};
}

Looked LookAtDebugOps(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  const std::vector<Glob>* ops = rule.FindGlobs("ops");
  ASSIGN_OR_RETURN(const std::vector<Glob> usual, Glob::ParseAll(DebugOps()));
  VisitNodes(model.module(), [&](const Node& node, const std::string& name) {
    if (!FitsAny(ops ? *ops : usual, node.op())) return;
    findings.Add(name, Sentence("this {0} is left over", node.op()),
                 "no op that only helps who debugs",
                 "take it out before the model is saved, or `grapnel opt --passes debug_stripper`");
  });
  return std::string();
}

Looked LookAtUnusedInputs(CheckedModel& model, const PolicyRule&, PolicyFindings& findings) {
  return TellDiagnosis(model, "unused_input", "that every input is used", findings);
}

Looked LookAtUnguardedOps(CheckedModel& model, const PolicyRule&, PolicyFindings& findings) {
  return TellDiagnosis(model, "unguarded_op", "a guard", findings);
}

}  // namespace grapnel
