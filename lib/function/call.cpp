#include "lib/function/call.h"

#include "lib/proto/attr_value.pb.h"

namespace grapnel {
namespace {

std::optional<proto::AttrValue> Parse(AttrView value) {
  proto::AttrValue parsed;
  if (!parsed.ParseFromArray(value.bytes().data(), value.bytes().size())) return std::nullopt;
  return parsed;
}

// Replaces placeholders such as `$T` in `value` by the call's attributes; false if neither the call
// nor the function's defaults have a value for one of these attributes that can be parsed.
bool Fill(proto::AttrValue* value, const Function& function, const CallAttrs& attrs) {
  if (value->value_case() == proto::AttrValue::kPlaceholder) {
    auto it = attrs.find(value->placeholder());
    if (it != attrs.end()) return value->ParseFromString(std::string(it->second));
    const OpAttr* declared = function.info.FindAttr(value->placeholder());
    if (!declared || !declared->default_value) return false;
    return value->ParseFromString(*declared->default_value);
  }
  auto fill = [&](proto::NameAttrList* callee) {
    for (auto& [key, nested] : *callee->mutable_attr()) {
      if (!Fill(&nested, function, attrs)) return false;
    }
    return true;
  };
  if (value->value_case() == proto::AttrValue::kFunc) return fill(value->mutable_func());
  if (value->value_case() == proto::AttrValue::kList) {
    for (proto::NameAttrList& callee : *value->mutable_list()->mutable_func()) {
      if (!fill(&callee)) return false;
    }
  }
  return true;
}

}  // namespace

bool IsMultiDeviceCall(const Node& node) {
  return node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall";
}

Call CallOf(const Node& node) {
  Call call;
  const Module& module = node.graph().module();
  if (IsMultiDeviceCall(node)) {
    std::optional<AttrView> f = node.FindAttr("f");
    auto parsed = f ? Parse(*f) : std::nullopt;
    if (!parsed) return call;
    call.function = module.FindFunction(parsed->func().name());
    for (const auto& [key, value] : parsed->func().attr())
      call.attrs[key] = value.SerializeAsString();
    return call;
  }
  call.function = module.FindFunction(node.op());
  call.direct = true;
  if (!call.function) return call;
  node.ForEachAttr(
      [&](llvm::StringRef key, AttrView value) { call.attrs[key.str()] = value.bytes().str(); });
  return call;
}

std::optional<std::string> Instantiated(AttrView value, const Function& function,
                                        const CallAttrs& attrs) {
  auto parsed = Parse(value);
  if (!parsed || !Fill(&*parsed, function, attrs)) return std::nullopt;
  return parsed->SerializeAsString();
}

Expected<CallAttrs> DependentAttrs(const Node& from, const Call& call) {
  CallAttrs filled;
  for (const auto& [key, value] : from.Attrs()) {
    AttrKind kind = value.kind();
    bool may_depend = kind == AttrKind::kPlaceholder || kind == AttrKind::kFunc ||
                      (kind == AttrKind::kList && !value.FuncNames().empty());
    if (!may_depend) continue;
    auto result = Instantiated(value, *call.function, call.attrs);
    if (!result)
      return MakeError("the call has no value for attribute '{0}' of node '{1}' in the function",
                       key, from.name());
    if (value.bytes() != *result) filled[key.str()] = std::move(*result);
  }
  return filled;
}

}  // namespace grapnel
