#include "lib/debug/tap.h"

#include "lib/debug/health.h"
#include "lib/support/text.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

constexpr std::pair<const char*, TapMode> kModes[] = {
    {"NO_TENSOR", TapMode::kNoTensor},
    {"CURT_HEALTH", TapMode::kCurtHealth},
    {"CONCISE_HEALTH", TapMode::kConciseHealth},
    {"FULL_HEALTH", TapMode::kFullHealth},
    {"SHAPE", TapMode::kShape},
    {"FULL_TENSOR", TapMode::kFullTensor},
};

void WriteShape(llvm::json::OStream& json, const Tensor& tensor) {
  json.attribute("dtype", DataTypeName(tensor.dtype()));
  json.attributeArray("shape", [&] {
    for (int64_t dim : tensor.dims()) json.value(dim);
  });
}

}  // namespace

std::optional<TapMode> ParseTapMode(llvm::StringRef name) {
  for (const auto& [text, mode] : kModes) {
    if (name == text) return mode;
  }
  return std::nullopt;
}

std::vector<std::string> TapModeNames() {
  std::vector<std::string> names;
  for (const auto& [text, mode] : kModes) names.push_back(text);
  return names;
}

bool Tap::Wants(const Node& node) {
  return llvm::any_of(globs_,
                      [&](const std::string& glob) { return GlobMatch(glob, node.name()); });
}

Error Tap::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  return Say(nullptr, node, outputs);
}

Error Tap::AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) {
  return Say(&stream, node, outputs);
}

Error Tap::Say(Stream* stream, const Node& node, llvm::ArrayRef<Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& tensor = outputs[i];
    if (!tensor) continue;
    ++count_;
    bool needs_health = mode_ == TapMode::kCurtHealth || mode_ == TapMode::kConciseHealth ||
                        mode_ == TapMode::kFullHealth;
    Health health;
    if (needs_health) {
      ASSIGN_OR_RETURN(health, HealthOn(tensor, stream));
    }
    if (!os_) continue;
    std::string line;
    llvm::raw_string_ostream text(line);
    llvm::json::OStream json(text);
    json.object([&] {
      json.attribute("node", llvm::json::fixUTF8(node.name()));
      json.attribute("op", llvm::json::fixUTF8(node.op()));
      json.attribute("output", static_cast<int64_t>(i));
      switch (mode_) {
        case TapMode::kNoTensor:
          break;
        case TapMode::kCurtHealth:
          json.attribute("bad", health.IsBad());
          break;
        case TapMode::kConciseHealth:
          json.attribute("elements", health.elements);
          json.attribute("neg_inf", health.neg_inf);
          json.attribute("pos_inf", health.pos_inf);
          json.attribute("nan", health.nan);
          break;
        case TapMode::kFullHealth:
          WriteShape(json, tensor);
          json.attribute("neg_inf", health.neg_inf);
          json.attribute("pos_inf", health.pos_inf);
          json.attribute("nan", health.nan);
          json.attribute("neg", health.negative);
          json.attribute("zero", health.zero);
          json.attribute("pos", health.positive);
          break;
        case TapMode::kShape:
          WriteShape(json, tensor);
          break;
        case TapMode::kFullTensor:
          WriteShape(json, tensor);
          json.attribute("value", llvm::json::fixUTF8(tensor.HoldsObjects()
                                                          ? tensor.ToString()
                                                          : tensor.ToLiteral().ToString(1 << 20)));
          break;
      }
    });
    text << "\n";
    std::lock_guard lock(mutex_);
    *os_ << text.str();
  }
  return Error::success();
}

}  // namespace grapnel
