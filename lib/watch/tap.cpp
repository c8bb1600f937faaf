#include "lib/watch/tap.h"

#include "lib/support/suggest.h"
#include "lib/watch/health.h"
#include "llvm/ADT/STLExtras.h"
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

// Outermost first: the calls of functions, and the iterations of loops, that the node is in.
void WriteCalls(llvm::json::OStream& json) {
  llvm::SmallVector<const CallFrame*, 4> calls;
  for (const CallFrame* call = CurrentCall(); call; call = call->outer) calls.push_back(call);
  if (calls.empty()) return;
  json.attributeArray("calls", [&] {
    for (const CallFrame* call : llvm::reverse(calls)) {
      json.object([&] {
        if (call->caller) json.attribute("node", llvm::json::fixUTF8(call->caller->name()));
        if (call->function)
          json.attribute("function", llvm::json::fixUTF8(call->function->name()));
        else
          json.attribute("loop", llvm::json::fixUTF8(call->loop));
        if (call->iteration >= 0) json.attribute("iteration", call->iteration);
      });
    }
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

Error DemandTapped(const Module& module, llvm::ArrayRef<Glob> globs) {
  auto names = [&](NameSink take) {
    for (Node node : module.main.nodes()) take(node.name());
    for (const auto& function : module.functions) {
      for (Node node : function->body.nodes()) take(node.name());
    }
  };
  for (const Glob& glob : globs) {
    bool is_there = false;
    names([&](llvm::StringRef name) { is_there = is_there || glob.Fits(name); });
    if (!is_there) return NotFound("node", glob.text(), names);
  }
  return Error::success();
}

bool Tap::Wants(const Node& node) { return FitsAny(globs_, node.name()); }

Error Tap::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  return Say(nullptr, node, outputs);
}

Error Tap::AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) {
  return Say(&stream, node, outputs);
}

Error Tap::OnConstant(const Node& node, const Tensor& value, bool is_first) {
  ++count_;
  Health health;
  if (NeedsHealth()) {
    std::pair key(&node.graph(), node.id());
    std::unique_lock lock(mutex_);
    auto known = constants_.find(key);
    if (!is_first && known != constants_.end()) {
      health = known->second;
    } else {
      lock.unlock();
      ASSIGN_OR_RETURN(health, HealthOn(value, nullptr, pool_));
      lock.lock();
      constants_[key] = health;
    }
  }
  SayOne(node, 0, value, health);
  return Error::success();
}

Error Tap::Say(Stream* stream, const Node& node, llvm::ArrayRef<Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    ++count_;
    Health health;
    if (NeedsHealth()) {
      ASSIGN_OR_RETURN(health, HealthOn(outputs[i], stream, pool_));
    }
    SayOne(node, i, outputs[i], health);
  }
  return Error::success();
}

void Tap::SayOne(const Node& node, size_t output, const Tensor& tensor, const Health& health) {
  if (!os_) return;
  std::string line;
  llvm::raw_string_ostream text(line);
  llvm::json::OStream json(text);
  json.object([&] {
    if (run_) json.attribute("run", run_);
    json.attribute("node", llvm::json::fixUTF8(node.name()));
    json.attribute("op", llvm::json::fixUTF8(node.op()));
    json.attribute("output", static_cast<int64_t>(output));
    WriteCalls(json);
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

}  // namespace grapnel
