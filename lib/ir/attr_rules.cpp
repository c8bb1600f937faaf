#include "lib/ir/attr_rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

std::string Refused(const OpAttr& attr, llvm::StringRef is, llvm::StringRef expected) {
  return llvm::formatv("attribute '{0}' is {1}, {2} was expected", attr.name, is, expected).str();
}

std::string WhyNotAmongTypes(const OpAttr& attr, AttrView value) {
  std::vector<DataType> types;
  if (std::optional<DataType> type = value.AsType())
    types.push_back(*type);
  else if (auto list = value.AsTypes())
    types = *list;
  for (DataType type : types) {
    if (llvm::is_contained(attr.allowed_types, type)) continue;
    std::string allowed;
    for (DataType one : attr.allowed_types)
      allowed += (allowed.empty() ? "" : ", ") + DataTypeName(one).str();
    return Refused(attr, DataTypeName(type), "one of " + allowed);
  }
  return "";
}

std::string WhyNotAmongStrings(const OpAttr& attr, AttrView value) {
  std::vector<llvm::StringRef> strings;
  if (std::optional<llvm::StringRef> string = value.AsString())
    strings.push_back(*string);
  else if (auto list = value.AsStrings())
    strings = *list;
  for (llvm::StringRef string : strings) {
    if (llvm::is_contained(attr.allowed_strings, string)) continue;
    return Refused(attr, ("'" + string + "'").str(),
                   "one of '" + llvm::join(attr.allowed_strings, "', '") + "'");
  }
  return "";
}

// How many elements a list has, of whatever type. An empty value is what protobuf leaves of an
// empty list.
int64_t LengthOf(AttrView value) {
  if (value.kind() != AttrKind::kList) return 0;
  size_t most = 0;
  auto see = [&](const auto& list) {
    if (list) most = std::max(most, list->size());
  };
  see(value.AsInts());
  see(value.AsFloats());
  see(value.AsTypes());
  see(value.AsStrings());
  see(value.AsShapes());
  return std::max(most, value.FuncNames().size());
}

std::string WhyTooSmall(const OpAttr& attr, AttrView value) {
  if (attr.type == "int") {
    int64_t is = value.AsInt().value_or(0);
    return is >= *attr.minimum
               ? ""
               : Refused(attr, std::to_string(is), "at least " + std::to_string(*attr.minimum));
  }
  int64_t length = LengthOf(value);
  return length >= *attr.minimum
             ? ""
             : llvm::formatv("attribute '{0}' lists {1}, at least {2} were expected", attr.name,
                             length, *attr.minimum)
                   .str();
}

bool HasRule(const OpAttr& attr) {
  return attr.minimum || !attr.allowed_types.empty() || !attr.allowed_strings.empty();
}

}  // namespace

bool HasAttrRules(const OpInfo& info) { return !llvm::StringRef(info.name).starts_with("_"); }

std::string WhyNotAllowed(const OpAttr& attr, AttrView value) {
  std::string why;
  if (!attr.allowed_types.empty()) why = WhyNotAmongTypes(attr, value);
  if (why.empty() && !attr.allowed_strings.empty()) why = WhyNotAmongStrings(attr, value);
  if (why.empty() && attr.minimum) why = WhyTooSmall(attr, value);
  return why;
}

Error DemandAllowedAttrs(const Node& node, const OpInfo& info) {
  if (!HasAttrRules(info)) return Error::success();
  for (const OpAttr& attr : info.attrs) {
    if (!HasRule(attr)) continue;
    std::optional<AttrView> value = node.FindAttr(attr.name);
    if (!value || value->kind() == AttrKind::kPlaceholder) continue;
    if (std::string why = WhyNotAllowed(attr, *value); !why.empty()) return MakeError("{0}", why);
  }
  return Error::success();
}

}  // namespace grapnel
