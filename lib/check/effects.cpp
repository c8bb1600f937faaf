#include "lib/check/effects.h"

#include <algorithm>

#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr const char* kPrinted = "what is printed";
constexpr const char* kAsserted = "what is asserted";

bool Prints(llvm::StringRef op) { return op == "Print" || op == "PrintV2"; }
bool Asserts(llvm::StringRef op) {
  return op == "Assert" || op.starts_with("CheckNumerics") || op == "EnsureShape";
}

// True if an input of the node is a resource, or if the op takes a reference to a variable.
bool TakesState(const Node& node, const OpInfo& info) {
  auto types = TypesOf(node, info);
  if (!types) {
    llvm::consumeError(types.takeError());
    return false;
  }
  auto is_argument_ref = [&] {
    return llvm::any_of(info.inputs, [](const OpArg& arg) { return arg.is_ref; });
  };
  return llvm::is_contained(types->inputs, proto::DT_RESOURCE) || is_argument_ref();
}

// True for ops on resources or references whose order does not matter here: data edges order them,
// or they only forward the resource or reference.
bool IsFlow(llvm::StringRef op) {
  return op.starts_with("TensorArray") || op.starts_with("Stack") || op.starts_with("Ref") ||
         op.starts_with("_") || op == "Switch" || op == "Merge" || op == "Identity" ||
         op == "IdentityN" || op == "Enter" || op == "Exit" || op == "NextIteration";
}

std::string TextOfEffect(const Effect& effect) {
  std::string text = effect.op;
  for (size_t i = 0; i < effect.values.size() && i < 3; ++i)
    text += " " + effect.values[i].ToString(4);
  return text;
}

// True if two printed texts are the same, apart from numbers that differ only by rounding.
bool SameText(llvm::StringRef a, llvm::StringRef b) {
  constexpr llvm::StringLiteral kOfNumbers = "0123456789+-.eE";
  constexpr double kRounding = 1e-4;
  while (a != b) {
    if (a.empty() || b.empty()) return false;
    llvm::StringRef number_a = a.take_while([&](char c) { return kOfNumbers.contains(c); });
    llvm::StringRef number_b = b.take_while([&](char c) { return kOfNumbers.contains(c); });
    double x = 0, y = 0;
    if (!number_a.getAsDouble(x) && !number_b.getAsDouble(y)) {
      if (std::abs(x - y) > kRounding * std::max(std::abs(y), kRounding)) return false;
      a = a.drop_front(number_a.size());
      b = b.drop_front(number_b.size());
    } else {
      if (a.front() != b.front()) return false;
      a = a.drop_front();
      b = b.drop_front();
    }
  }
  return true;
}

std::optional<std::string> EffectDifference(const Effect& got, const Effect& expected,
                                            SameValues same) {
  bool is_same = got.op == expected.op && got.values.size() == expected.values.size();
  for (size_t i = 0; is_same && i < got.values.size(); ++i) {
    bool are_lines = got.op == kPrinted;
    is_same = are_lines ? SameText(*got.values[i].data<std::string>(),
                                   *expected.values[i].data<std::string>())
                        : !same(got.values[i], expected.values[i]);
  }
  if (is_same) return std::nullopt;
  auto text_of = [](const Effect& effect) {
    return effect.op == kPrinted ? "'" + *effect.values[0].data<std::string>() + "'"
                                 : TextOfEffect(effect);
  };
  return "was " + text_of(expected) + ", and is " + text_of(got) + " now";
}

// True if each effect of `expected` has a matching effect in `got`, in any order.
bool SameInAnyOrder(llvm::ArrayRef<Effect> got, llvm::ArrayRef<Effect> expected, SameValues same) {
  std::vector<bool> taken(got.size());
  return llvm::all_of(expected, [&](const Effect& effect) {
    for (size_t i = 0; i < got.size(); ++i) {
      if (taken[i] || EffectDifference(got[i], effect, same)) continue;
      taken[i] = true;
      return true;
    }
    return false;
  });
}

// Compares assertions as sets, without order or number: passes may reorder or merge assertions.
std::optional<std::string> DifferenceOfAsserted(llvm::ArrayRef<Effect> got,
                                                llvm::ArrayRef<Effect> expected, SameValues same) {
  auto first_without = [&](llvm::ArrayRef<Effect> ones, llvm::ArrayRef<Effect> others) {
    for (size_t i = 0; i < ones.size(); ++i) {
      auto is_it = [&](const Effect& other) { return !EffectDifference(other, ones[i], same); };
      if (llvm::none_of(others, is_it)) return i;
    }
    return ones.size();
  };
  std::string place = std::string(kAsserted) + ", effect ";
  if (size_t i = first_without(expected, got); i < expected.size())
    return place + std::to_string(i + 1) + ": was " + TextOfEffect(expected[i]) + ", and is gone";
  if (size_t i = first_without(got, expected); i < got.size())
    return place + std::to_string(i + 1) + ": is " + TextOfEffect(got[i]) +
           " now, and was not there";
  return std::nullopt;
}

}  // namespace

bool EffectLog::HasEffect(const Node& node) {
  llvm::StringRef op = node.op();
  if (Prints(op) || Asserts(op)) return true;
  const OpInfo* info = DefinitionOf(node);
  if (!info || OnlyReadsState(op) || IsFlow(op) || MayCallFunctions(node)) return false;
  if (TakesState(node, *info)) return true;
  // Any other stateful op without outputs counts as an effect outside of the graph, such as a
  // written file.
  return info->is_stateful && NumOutputs(node) == 0;
}

bool EffectLog::ReadsState(const Node& node) {
  if (OnlyReadsState(node.op())) return true;
  const OpInfo* info = DefinitionOf(node);
  if (!info || HasEffect(node) || IsFlow(node.op())) return false;
  // In TensorFlow 1, an op reads a variable through an input that is a reference.
  for (int i = 0; i < node.num_inputs(); ++i) {
    Node source = node.input_node(i);
    if (source && IsVariable(source) && source.op() != "VarHandleOp") return true;
  }
  return false;
}

MessageSink EffectLog::print() {
  return [this](Severity, llvm::StringRef text) {
    if (!debugging_) return;
    Literal line = Literal::MakeStrings({}, {text.str()});
    auto tensor = Tensor::FromLiteral(line);
    if (!tensor) return llvm::consumeError(tensor.takeError());
    std::lock_guard<std::mutex> lock(mutex_);
    entries_.push_back({kPrinted, nullptr, {kPrinted, {std::move(*tensor)}}});
  };
}

bool EffectLog::Wants(const Node& node) {
  return HasEffect(node) && !Prints(node.op()) && (debugging_ || !Asserts(node.op()));
}

Error EffectLog::BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) {
  Entry entry;
  entry.effect.op = node.op().str();
  for (const Tensor& input : inputs) {
    bool is_resource = input && Tensor::IsObject(input.dtype());
    if (!is_resource) {
      entry.effect.values.push_back(input);
    } else if (!entry.resource && input.num_elements() == 1 && input.buffer()) {
      entry.resource = input.data<ObjectRef>()->get();
    }
  }
  if (Asserts(node.op())) {
    entry.target = kAsserted;
  } else if (!entry.resource && !inputs.empty() && inputs[0].dtype() == proto::DT_STRING &&
             inputs[0].num_elements() == 1) {
    entry.target = "file '" + *inputs[0].data<std::string>() + "'";
  } else if (!entry.resource) {
    entry.target = "'" + node.op().str() + "'";
  }
  bool fails = node.op() == "Assert" && !inputs.empty() && inputs[0].dtype() == proto::DT_BOOL &&
               inputs[0].num_elements() == 1 && !*inputs[0].data<bool>();
  std::lock_guard<std::mutex> lock(mutex_);
  assertion_failed_ |= fails;
  entries_.push_back(std::move(entry));
  return Error::success();
}

int64_t EffectLog::Rank(const Node& node) const {
  constexpr int64_t kLast = int64_t{1} << 40;
  auto id = static_cast<int64_t>(node.id());
  switch (order_) {
    case EffectOrder::kAsInFile:
      return id;
    case EffectOrder::kWritesLast:
      return HasEffect(node) ? kLast - id : id;
    case EffectOrder::kReadsLast:
      return ReadsState(node) ? kLast + id : id;
  }
  return id;
}

Effects EffectLog::Take(const Session& session) {
  llvm::DenseMap<const Object*, std::string> names;
  for (const auto& [name, object] : session.Resources()) names[object.get()] = name;
  std::lock_guard<std::mutex> lock(mutex_);
  Effects effects;
  for (Entry& entry : entries_) {
    if (entry.target.empty()) {
      auto named = names.find(entry.resource);
      entry.target = named == names.end() ? "a resource without a name" : "'" + named->second + "'";
    }
    effects[entry.target].push_back(std::move(entry.effect));
  }
  entries_.clear();
  return effects;
}

std::optional<std::string> DifferenceOf(const Effects& got, const Effects& expected,
                                        const std::vector<std::string>& unordered,
                                        SameValues same) {
  static const std::vector<Effect> kNone;
  auto of = [](const Effects& effects, const std::string& target) -> llvm::ArrayRef<Effect> {
    auto found = effects.find(target);
    return found == effects.end() ? kNone : found->second;
  };
  std::vector<std::string> targets;
  for (const auto& [target, list] : expected) targets.push_back(target);
  for (const auto& [target, list] : got) {
    if (!expected.count(target)) targets.push_back(target);
  }
  for (const std::string& target : targets) {
    llvm::ArrayRef<Effect> is = of(got, target), was = of(expected, target);
    if (target == kAsserted) {
      if (auto difference = DifferenceOfAsserted(is, was, same)) return difference;
      continue;
    }
    bool in_any_order = llvm::is_contained(unordered, target);
    if (in_any_order && is.size() == was.size() && SameInAnyOrder(is, was, same)) continue;
    if (in_any_order && is.size() == was.size()) return target + ": the effects have changed";
    for (size_t i = 0; i < std::max(is.size(), was.size()); ++i) {
      std::string place = target + ", effect " + std::to_string(i + 1) + ": ";
      if (i >= is.size()) return place + "was " + TextOfEffect(was[i]) + ", and is gone";
      if (i >= was.size()) return place + "is " + TextOfEffect(is[i]) + " now, and was not there";
      if (auto difference = EffectDifference(is[i], was[i], same)) return place + *difference;
    }
  }
  return std::nullopt;
}

}  // namespace grapnel
