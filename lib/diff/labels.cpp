#include "lib/diff/labels.h"

#include "lib/diff/attribute_compare.h"
#include "lib/ir/device_name.h"
#include "lib/ir/literal.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {
namespace {

constexpr size_t kTellingBytes = 64;

struct Hashes {
  uint64_t exact = 0, kind = 0;
  bool telling = false, constant = false;
};

// Whether exact labels include the values of constants.
enum class Constants : uint8_t { kByValue, kByShape };

class Labeler {
 public:
  Labeler(const BodyView& view, const IgnoreRules& ignore,
          llvm::function_ref<uint64_t(llvm::StringRef)> function_hash,
          Constants constants = Constants::kByValue)
      : view_(view), ignore_(ignore), function_hash_(function_hash), constants_(constants) {}

  Labels Run() {
    Labels labels;
    for (int32_t i = 0; i < view_.size(); ++i) {
      Node node = view_.node(i);
      bool is_call = view_.graph().module().FindFunction(node.op()) != nullptr;
      uint64_t op = is_call ? HashText("call of a function") : view_.op(i);
      Hashes attrs = OfAttrs(node, view_.op(i));
      uint64_t exact = HashInto(op, attrs.exact);
      if (is_call) exact = HashInto(exact, function_hash_(node.op()));
      labels.exact.push_back(HashInto(exact, OfDevice(node)));
      labels.kind.push_back(HashInto(op, attrs.kind));
      labels.op.push_back(op);
      labels.telling.push_back(attrs.telling);
      labels.constant.push_back(attrs.constant);
    }
    return labels;
  }

 private:
  // Caches the hashes by attribute bytes: most nodes have the same bytes as another node.
  Hashes OfAttrs(const Node& node, uint64_t op) {
    auto bytes = view_.graph().AttrBytes(node.id());
    // Do not cache attributes with a shared_name: nodes with the same bytes differ in whether it is
    // the default, the name of the node.
    if (!bytes || bytes->size() > 4096 || bytes->contains(kSharedName)) return ReadAttrs(node);
    auto [it, added] = known_.try_emplace(HashInto(op, HashText(*bytes)));
    if (added) it->second = ReadAttrs(node);
    return it->second;
  }

  Hashes ReadAttrs(const Node& node) {
    Hashes sum;
    node.ForEachAttr([&](llvm::StringRef key, AttrView value) {
      if (SaysNothing(key) || ignore_.Attribute(key) || IsDefault(node, key, value)) return;
      Hashes hashes = OfAttr(key, value);
      // Adds up the hashes, because attributes have no order.
      sum.exact += HashInto(HashText(key), hashes.exact);
      sum.kind += HashInto(HashText(key), hashes.kind);
      sum.telling |= hashes.telling;
      sum.constant |= hashes.constant;
    });
    return sum;
  }

  Hashes OfAttr(llvm::StringRef key, AttrView value) {
    uint64_t functions = 0;
    std::string canonical = CanonicalAttr(key, value, [&](llvm::StringRef name) {
      functions = HashInto(functions, function_hash_(name));
      return std::string();
    });
    uint64_t kind = HashText(canonical), exact = HashInto(kind, functions);
    bool telling = false, constant = value.kind() == AttrKind::kTensor;
    if (auto tensor = value.AsTensor(); tensor && constant && constants_ == Constants::kByValue) {
      auto literal = Literal::FromTensorProto(*tensor);
      exact = HashInto(exact, literal ? literal->Hash() : HashText(*tensor));
      telling = literal && literal->byte_size() >= kTellingBytes;
      if (!literal) llvm::consumeError(literal.takeError());
    }
    return {exact, kind, telling, constant};
  }

  uint64_t OfDevice(const Node& node) {
    if (ignore_.device || node.device().empty()) return 0;
    auto [it, added] = devices_.try_emplace(node.device_id());
    if (added) it->second = HashText(CanonicalDevice(node.device()));
    return it->second;
  }

  const BodyView& view_;
  const IgnoreRules& ignore_;
  llvm::function_ref<uint64_t(llvm::StringRef)> function_hash_;
  Constants constants_;
  llvm::DenseMap<uint64_t, Hashes> known_;
  llvm::DenseMap<StringId, uint64_t> devices_;
};

}  // namespace

Labels MakeLabels(const BodyView& view, const IgnoreRules& ignore,
                  llvm::function_ref<uint64_t(llvm::StringRef)> function_hash) {
  return Labeler(view, ignore, function_hash).Run();
}

std::vector<uint64_t> StructureLabels(const BodyView& view,
                                      llvm::function_ref<uint64_t(llvm::StringRef)> function_hash) {
  static const IgnoreRules names_and_hints = llvm::cantFail(
      IgnoreRules::Parse({"device", "_*", "shared_name", "container", "debug_name"}));
  return Labeler(view, names_and_hints, function_hash, Constants::kByShape).Run().exact;
}

}  // namespace grapnel
