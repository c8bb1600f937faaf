#include "lib/watch/tap.h"

#include <chrono>

#include "lib/exec/run_order.h"
#include "lib/watch/health_counter.h"
#include "lib/watch/tensor_statistics.h"

namespace grapnel {
namespace {

constexpr std::pair<const char*, TapMode> kModes[] = {
    {"NO_TENSOR", TapMode::kNoTensor},
    {"CURT_HEALTH", TapMode::kCurtHealth},
    {"CONCISE_HEALTH", TapMode::kConciseHealth},
    {"FULL_HEALTH", TapMode::kFullHealth},
    {"SHAPE", TapMode::kShape},
    {"FULL_TENSOR", TapMode::kFullTensor},
    {"REDUCE_INF_NAN_THREE_SLOTS", TapMode::kThreeSlots},
};

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
  if (counts_each_) {
    std::lock_guard lock(mutex_);
    counts_[{&node.graph(), node.id()}];
  }
  return filter_.FitsNode(node);
}

std::string Tap::WhyNot(const Node& node, DataType dtype) const {
  std::string why_not = filter_.WhyNot(node);
  if (why_not.empty() && !filter_.FitsDtype(dtype))
    why_not = (DataTypeName(dtype) + " matches no --tap-dtype").str();
  return why_not;
}

Error Tap::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  return See(nullptr, node, outputs);
}

Error Tap::AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) {
  return See(&stream, node, outputs);
}

ElementCounter* Tap::Counter(const Node& node, const Tensor& output) {
  return CountsHealth() ? HealthCounter::Begin(node, output, Detail()) : nullptr;
}

Error Tap::OnConstant(const Node& node, const Tensor& value, bool is_first) {
  if (!filter_.FitsDtype(value.dtype())) return Error::success();
  CountOne(node, 0);
  if (!is_first && !Tells()) return Error::success();  // counted in the first run
  Health health;
  if (CountsHealth()) {
    std::pair key(&node.graph(), node.id());
    std::unique_lock lock(mutex_);
    auto known = constants_.find(key);
    if (!is_first && known != constants_.end()) {
      health = known->second;
    } else {
      lock.unlock();
      ASSIGN_OR_RETURN(health, HealthOn(value, nullptr, pool_, Detail()));
      lock.lock();
      constants_[key] = health;
    }
  }
  EmitOne(node, 0, value, health);
  return Error::success();
}

Error Tap::See(Stream* stream, const Node& node, llvm::ArrayRef<Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i] || !filter_.FitsDtype(outputs[i].dtype())) continue;
    CountOne(node, static_cast<int>(i));
    Health health;
    if (CountsHealth()) {
      std::optional<Health> counted =
          i == 0 ? HealthCounter::Take(node, outputs[0], Detail()) : std::nullopt;
      if (counted) {
        health = *counted;
      } else {
        ASSIGN_OR_RETURN(health, HealthOn(outputs[i], stream, pool_, Detail()));
      }
    }
    EmitOne(node, static_cast<int>(i), outputs[i], health);
  }
  return Error::success();
}

void Tap::CountOne(const Node& node, int output) {
  count_.fetch_add(1, std::memory_order_relaxed);
  if (!counts_each_) return;
  std::lock_guard lock(mutex_);
  std::vector<int64_t>& outputs = counts_[{&node.graph(), node.id()}];
  if (outputs.size() <= static_cast<size_t>(output)) outputs.resize(output + 1);
  ++outputs[output];
}

TapCounts Tap::counts() {
  std::lock_guard lock(mutex_);
  return counts_;
}

void Tap::EmitOne(const Node& node, int output, const Tensor& tensor, const Health& health) {
  if (!Tells()) return;
  TapEvent event;
  event.node = node;
  event.output = output;
  event.run = run_;
  if (TellsTime())
    event.time =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  event.dtype = tensor.dtype();
  if (mode_ != TapMode::kNoTensor) event.dims.assign(tensor.dims().begin(), tensor.dims().end());
  event.health = health;
  if (summarizes_) event.numbers = std::make_shared<NumberStatistics>(StatisticsOf(tensor));
  event.calls = CurrentTapCalls();
  if (mode_ == TapMode::kFullTensor) {
    if (tensor.HoldsObjects())
      event.text = tensor.ToString();
    else
      event.value = tensor;
  }
  if (CurrentOrderPoint().order)
    EmitInOrder([this, event = std::move(event)]() mutable { Emit(std::move(event)); });
  else
    Emit(std::move(event));
}

}  // namespace grapnel
