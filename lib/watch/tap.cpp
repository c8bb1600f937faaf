#include "lib/watch/tap.h"

#include "lib/support/suggest.h"
#include "lib/watch/health.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
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

// `"text"`, as JSON has it.
std::string Quoted(llvm::StringRef text) {
  std::string quoted;
  llvm::raw_string_ostream os(quoted);
  os << llvm::json::Value(llvm::json::fixUTF8(text));
  return quoted;
}

// Lines are put together by hand: a tensor is often counted in less time than a JSON writer takes.
void WriteShape(const Tensor& tensor, llvm::raw_ostream& os) {
  os << ",\"dtype\":\"" << DataTypeName(tensor.dtype()) << "\",\"shape\":[";
  for (int i = 0; i < tensor.rank(); ++i) os << (i ? "," : "") << tensor.dims()[i];
  os << "]";
}

// Outermost first: the calls of functions, and the iterations of loops, that the node is in.
void WriteCalls(llvm::raw_ostream& os) {
  llvm::SmallVector<const CallFrame*, 4> calls;
  for (const CallFrame* call = CurrentCall(); call; call = call->outer) calls.push_back(call);
  if (calls.empty()) return;
  const char* before = ",\"calls\":[{";
  for (const CallFrame* call : llvm::reverse(calls)) {
    os << before;
    before = ",{";
    if (call->caller) os << "\"node\":" << Quoted(call->caller->name()) << ",";
    if (call->function)
      os << "\"function\":" << Quoted(call->function->name());
    else
      os << "\"loop\":" << Quoted(call->loop);
    if (call->iteration >= 0) os << ",\"iteration\":" << call->iteration;
    os << "}";
  }
  os << "]";
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

// What lines of one node begin with.
const std::string& Tap::HeadOf(const Node& node) {
  std::lock_guard lock(mutex_);
  std::string& head = heads_[{&node.graph(), node.id()}];
  if (head.empty()) head = "\"node\":" + Quoted(node.name()) + ",\"op\":" + Quoted(node.op());
  return head;
}

void Tap::SayOne(const Node& node, size_t output, const Tensor& tensor, const Health& health) {
  if (!os_) return;
  llvm::SmallString<512> line;
  llvm::raw_svector_ostream os(line);
  os << "{";
  if (run_) os << "\"run\":" << run_ << ",";
  os << HeadOf(node) << ",\"output\":" << output;
  WriteCalls(os);
  switch (mode_) {
    case TapMode::kNoTensor:
      break;
    case TapMode::kCurtHealth:
      os << ",\"bad\":" << (health.IsBad() ? "true" : "false");
      break;
    case TapMode::kConciseHealth:
      os << ",\"elements\":" << health.elements << ",\"neg_inf\":" << health.neg_inf
         << ",\"pos_inf\":" << health.pos_inf << ",\"nan\":" << health.nan;
      break;
    case TapMode::kFullHealth:
      WriteShape(tensor, os);
      os << ",\"neg_inf\":" << health.neg_inf << ",\"pos_inf\":" << health.pos_inf
         << ",\"nan\":" << health.nan << ",\"neg\":" << health.negative
         << ",\"zero\":" << health.zero << ",\"pos\":" << health.positive;
      break;
    case TapMode::kShape:
      WriteShape(tensor, os);
      break;
    case TapMode::kFullTensor:
      WriteShape(tensor, os);
      os << ",\"value\":"
         << Quoted(tensor.HoldsObjects() ? tensor.ToString()
                                         : tensor.ToLiteral().ToString(1 << 20));
      break;
  }
  os << "}\n";
  std::lock_guard lock(mutex_);
  *os_ << line;
}

}  // namespace grapnel
