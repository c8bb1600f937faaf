// Writes an initial policy from the current model, with some headroom.
#include <set>

#include "lib/ir/short_names.h"
#include "lib/policy/check_policy.h"
#include "lib/policy/policy_checks.h"
#include "lib/policy/signature_changes.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// Ops that most teams forbid in a served model.
constexpr const char* kUnwantedOps[] = {"PyFunc", "PyFuncStateless", "EagerPyFunc", "WriteFile",
                                        "DebugIdentity*"};

// Returns the text as a string of TOML.
std::string Quoted(llvm::StringRef text) {
  std::string quoted;
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      quoted += llvm::formatv("\\u{0:X-4}", static_cast<unsigned>(c)).str();
    else
      quoted += c;
  }
  return "\"" + quoted + "\"";
}

// Returns the text as a key of TOML.
std::string Key(llvm::StringRef text) {
  bool is_bare = !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '-';
  });
  return is_bare ? text.str() : Quoted(text);
}

template <typename Texts>
std::string List(const Texts& texts) {
  return "[" +
         llvm::join(llvm::map_range(texts, [](const auto& text) { return Quoted(text); }), ", ") +
         "]";
}

// Returns the size plus a tenth, rounded up to two significant digits: 1,053 -> 1200.
int64_t WithRoom(int64_t size) {
  int64_t wanted = size + (size + 9) / 10, step = 1;
  while (wanted / step >= 100) step *= 10;
  return (wanted + step - 1) / step * step;
}

class PolicyWriter {
 public:
  PolicyWriter(const OpenedGraph& opened, const ShapeOverrides& given, OneDnn onednn,
               ThreadPool* pool, const CancelFlag* cancel)
      : opened_(opened),
        given_(given),
        onednn_(onednn),
        model_(opened, nullptr, onednn, pool, cancel) {}

  Expected<std::string> Write() {
    text_ = "# The policy for " + Printable(llvm::sys::path::filename(opened_.model().path)) +
            ", for `grapnel check`. The model passed it when it was written.\n"
            "# Each table enables a check; docs/guide/checking.md lists their keys.\n"
            "\n"
            "# The TensorFlow whose fusions are expected: with oneDNN, or without.\n"
            "onednn = \"" +
            OneDnnWord(UsesOneDnn(onednn_)) + "\"\n";
    WriteNames();
    WriteSignatures();
    RETURN_IF_ERROR(WritePlain());
    RETURN_IF_ERROR(WriteBudgets());
    text_ +=
        "\n"
        "# With a BASE (--against): fusions there are required here too.\n"
        "# [lost_fusions]\n"
        "# `new = \"error\"` in [ops] and [dtypes] finds what BASE does not have, and `most = "
        "\"+5%\"` in a budget\n"
        "# allows five percent more than BASE has.\n"
        "\n"
        "# [[waiver]]\n"
        "# check = \"dtypes\"\n"
        "# node = \"head/*\"\n"
        "# reason = \"why, and the owner\"\n"
        "# until = 2027-01-31\n";
    return std::move(text_);
  }

 private:
  void WriteNames() {
    std::set<std::string> devices, ops;
    std::set<DataType> types;
    VisitNodes(opened_, [&](const Node& node, const std::string&) {
      ops.insert(node.op().str());
      if (auto device = DeviceSpec::Parse(node.device())) {
        if (!device->IsOpen()) devices.insert(device->ToString());
      } else {
        llvm::consumeError(device.takeError());
      }
    });
    std::vector<std::string> unwanted;
    for (const char* op : kUnwantedOps) {
      auto glob = llvm::cantFail(Glob::Parse(op));
      if (llvm::none_of(ops, [&](const std::string& name) { return glob.Fits(name); }))
        unwanted.push_back(op);
    }
    text_ += "\n[ops]\nforbidden = " + List(unwanted) + "\n";
    text_ += devices.empty() ? "\n[devices]\nallowed = [\"CPU\"]\n"
                             : "\n[devices]\nallowed = " + List(devices) + "\n";
  }

  // Writes what callers rely on: the inputs and outputs of each signature.
  void WriteSignatures() {
    std::vector<Signature> interface = InterfaceOf(opened_);
    if (interface.empty()) return;
    text_ +=
        "\n# What callers rely on. With a BASE (--against), what it has besides must stay too.\n";
    text_ += "[signatures]\n";
    for (const Signature& signature : interface) {
      text_ += "\n[signatures." + Key(signature.name) + "]\n";
      if (!IsUsualMethod(signature.method)) text_ += "method = " + Quoted(signature.method) + "\n";
      WriteTensors("inputs", signature.inputs);
      WriteTensors("outputs", signature.outputs);
    }
  }

  void WriteTensors(const char* part, llvm::ArrayRef<SignatureTensor> tensors) {
    for (const SignatureTensor& tensor : tensors) {
      text_ +=
          std::string(part) + "." + Key(tensor.key) + " = " + Quoted(TensorTypeText(tensor)) + "\n";
    }
  }

  // Writes the checks whose keys do not depend on the model: enabled if they find nothing in the
  // model, else as a comment.
  Error WritePlain() {
    for (const char* name :
         {"dtypes", "unused_inputs", "debug_ops", "unguarded_ops", "retraced_functions"}) {
      for (const PolicyCheck& check : PolicyChecks()) {
        if (llvm::StringRef(check.table.name) == name) RETURN_IF_ERROR(WriteOne(check));
      }
    }
    return Error::success();
  }

  std::string ShortName(const std::string& node) const {
    return ShortNames(AllNodeNames(opened_.module()), {node}).Of(node);
  }

  Error WriteOne(const PolicyCheck& check) {
    llvm::StringRef name = check.table.name;
    PolicyRule rule;
    rule.check = name.str();
    if (name == "dtypes") rule.types["forbidden"] = {proto::DT_DOUBLE};
    std::vector<PolicyFinding> findings;
    PolicyFindings found(rule, &findings);
    auto looked = check.look(model_, rule, found);
    if (!looked) return looked.takeError();
    const char* off = findings.empty() ? "" : "# ";
    text_ += "\n";
    if (!findings.empty())
      text_ += "# Today it finds " +
               Plural(findings.size(), name == "retraced_functions" ? "function" : "node") +
               ", such as '" + Printable(ShortName(findings.front().node)) + "'.\n";
    text_ += (llvm::Twine(off) + "[" + name + "]\n").str();
    if (name == "dtypes") text_ += std::string(off) + "forbidden = [\"float64\"]\n";
    return Error::success();
  }

  Error WriteBudgets() {
    ModelSizes sizes = SizesOf(model_);
    text_ += "\n# A tenth more than the current sizes.\n";
    WriteMost("nodes", sizes.nodes, "nodes");
    WriteMost("parameters", sizes.parameters, "elements of variables and constants");
    WriteMost("file_size", sizes.file_bytes, "bytes");
    return WriteRun();
  }

  // Writes the budgets of the costs of the most expensive run; if a cost depends on an unknown
  // size, a comment that says why there are no such budgets.
  Error WriteRun() {
    auto found = model_.Runs();
    if (!found) {  // such as a model that only has functions
      text_ +=
          "\n# [flops] and [peak_memory] are left out: " + Printable(TextOf(found.takeError())) +
          ".\n";
      return Error::success();
    }
    llvm::MutableArrayRef<ModelRun> runs = *found;
    RunCost most;
    for (ModelRun& run : runs) {
      RunCost cost = run.Cost();
      most.flops = std::max(most.flops, cost.flops);
      most.peak_bytes = std::max(most.peak_bytes, cost.peak_bytes);
      most.open = std::max(most.open, cost.open);
    }
    std::string of;
    if (runs.size() > 1)
      of = " of the most expensive signature";
    else if (!runs[0].signature().empty())
      of = " of '" + Printable(runs[0].signature()) + "'";
    if (most.open > 0) {
      std::string why = HasOpenBatch(opened_)
                            ? "the batch size is unknown: `check --init --batch N` adds them"
                            : Plural(most.open, "node") +
                                  " with an unknown shape or a loop cannot be counted (--shape)";
      text_ += "\n# [flops] and [peak_memory] of one run" + of + " are left out: " + why + ".\n";
      return Error::success();
    }
    std::string sizes = SizesText();
    text_ += "\n# One run" + of + (sizes.empty() ? "" : ", with" + sizes) + ".\n";
    if (!sizes.empty()) text_ += "# `check` measures it only with the same flags:" + sizes + ".\n";
    WriteMost("flops", most.flops, "floating-point operations: a product and a sum are two");
    WriteMost("peak_memory", most.peak_bytes, "peak bytes of tensors");
    return Error::success();
  }

  // Returns flags with the given sizes, such as " --batch 8 --shape x=8,3".
  std::string SizesText() const {
    std::string text;
    if (given_.batch > 0) text += " --batch " + std::to_string(given_.batch);
    for (const std::string& shape : given_.shapes) text += " --shape " + Printable(shape);
    return text;
  }

  void WriteMost(const char* name, int64_t size, const char* unit) {
    if (size > 0)
      text_ += "[" + std::string(name) + "]\nmost = " + std::to_string(WithRoom(size)) + "  # " +
               unit + "\n";
  }

  const OpenedGraph& opened_;
  const ShapeOverrides& given_;
  const OneDnn onednn_;
  CheckedModel model_;
  std::string text_;
};

}  // namespace

Expected<std::string> InitialPolicy(const OpenedGraph& model, const ShapeOverrides& given,
                                    OneDnn onednn, ThreadPool* pool, const CancelFlag* cancel) {
  RETURN_IF_ERROR(CheckValid(model, [](Severity, llvm::StringRef) {}));
  return PolicyWriter(model, given, onednn, pool, cancel).Write();
}

}  // namespace grapnel
