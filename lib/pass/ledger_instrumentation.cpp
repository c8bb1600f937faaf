// Writes every rewrite as one line of JSON: pass, rule, nodes used, made, changed and removed, and
// the definitions of the made and changed ones, so that the run can be repeated from its ledger.
#include "lib/ir/import.h"
#include "lib/pass/pass_manager.h"
#include "lib/support/onednn.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

class LedgerInstrumentation : public Instrumentation {
 public:
  LedgerInstrumentation(llvm::raw_ostream& os, bool onednn) : os_(os), onednn_(onednn) {}

  Error BeforePipeline(const Module& module) override {
    module_ = &module;
    return Error::success();
  }

  void OnRewrite(const Rewrite& rewrite) override {
    llvm::json::OStream json(os_);
    json.object([&] {
      json.attribute("rewrite", rewrite.number);
      json.attribute("iteration", rewrite.iteration);
      json.attribute("pass", rewrite.pass);
      json.attribute("rule", rewrite.rule);
      if (!rewrite.function.empty())
        json.attribute("function", llvm::json::fixUTF8(rewrite.function));
      json.attribute("node", llvm::json::fixUTF8(rewrite.node));
      Names(json, "used", rewrite.used);
      Names(json, "made", rewrite.made);
      Names(json, "changed", rewrite.changed);
      Names(json, "removed", rewrite.removed);
      if (!rewrite.note.empty()) json.attribute("note", llvm::json::fixUTF8(rewrite.note));
      NodeDefs(json, rewrite);
      if (!rewrite.functions.empty()) {
        Names(json, "functions", rewrite.functions);
        FunctionDefs(json, rewrite);
      }
      json.attribute("onednn", OneDnnWord(onednn_));
    });
    os_ << "\n";
  }

 private:
  static void Names(llvm::json::OStream& json, const char* key,
                    const std::vector<std::string>& names) {
    json.attributeArray(key, [&] {
      for (const std::string& name : names) json.value(llvm::json::fixUTF8(name));
    });
  }

  // Writes serialized NodeDefs, in base64, of the nodes that the rewrite made, then of those that
  // it changed; inputs are spelled as in a main graph ("x:1"), also for nodes of functions.
  void NodeDefs(llvm::json::OStream& json, const Rewrite& rewrite) const {
    const Function* function = module_->FindFunction(rewrite.function);
    const Graph& graph = function ? function->body : module_->main;
    json.attributeArray("node_defs", [&] {
      for (const auto* names : {&rewrite.made, &rewrite.changed}) {
        for (const std::string& name : *names) {
          Node node = graph.Find(name);
          json.value(node ? llvm::encodeBase64(ExportNodeDef(node)) : std::string());
        }
      }
    });
  }

  // Writes serialized FunctionDefs, in base64, of the functions that the rewrite made or inlined,
  // and an empty string for a function that it removed.
  void FunctionDefs(llvm::json::OStream& json, const Rewrite& rewrite) const {
    json.attributeArray("function_defs", [&] {
      for (const std::string& name : rewrite.functions) {
        const Function* function = module_->FindFunction(name);
        json.value(function ? llvm::encodeBase64(ExportFunctionDef(*function)) : std::string());
      }
    });
  }

  llvm::raw_ostream& os_;
  const bool onednn_;
  const Module* module_ = nullptr;
};

}  // namespace

std::unique_ptr<Instrumentation> MakeLedgerInstrumentation(llvm::raw_ostream& os, bool onednn) {
  return std::make_unique<LedgerInstrumentation>(os, onednn);
}

}  // namespace grapnel
