// Writes every rewrite as one line of JSON: pass, rule, nodes used, made, changed and removed.
#include "lib/pass/pass_manager.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

class LedgerInstrumentation : public Instrumentation {
 public:
  explicit LedgerInstrumentation(llvm::raw_ostream& os) : os_(os) {}

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
      if (!rewrite.functions.empty()) Names(json, "functions", rewrite.functions);
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
  llvm::raw_ostream& os_;
};

}  // namespace

std::unique_ptr<Instrumentation> MakeLedgerInstrumentation(llvm::raw_ostream& os) {
  return std::make_unique<LedgerInstrumentation>(os);
}

}  // namespace grapnel
